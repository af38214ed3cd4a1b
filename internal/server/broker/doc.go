// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package broker hands evaluations to workers: one at a time per job, the most
// urgent first, each until somebody acknowledges it.
//
// It exists on the leader only and holds nothing that is not in the state: a
// new leader builds it again from a snapshot and keeps it current from the
// change feed. Nothing in it polls; evaluations that could not be placed wait
// until a change happens that could help them.
//
// The queues (queue.go, blocked.go) are plain data structures that are told
// the time. The Broker around them owns the lock, the timer and the feed. The
// package may not decide anything about allocations, and it may not write
// anything but the end of evaluations that nobody manages to work out.
package broker
