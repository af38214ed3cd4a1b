// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package lifecycle decides about stacks: which stack receives a caller's traffic, when a
// stack becomes ready, how traffic shifts between two stacks, and when a stack that
// nothing uses is removed.
//
// All of it is pure: functions from stored objects and a time to a result. Nothing here
// reads a clock, starts a goroutine or changes its input; the controllers of
// internal/server/control store the results.
package lifecycle
