// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package top computes the screen of "reeve top" from readings of a cluster and keys of the user.
// It does no I/O and reads no clock.
package top
