// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package broker delivers evaluations to workers: one delivery at a time per job, the most
// urgent job first. A worker acknowledges each delivery; otherwise the broker repeats it.
//
// The broker exists only on the leader and holds nothing that is not in the state. A new
// leader rebuilds it from a snapshot and keeps it current from the change feed. The broker
// does not poll. Evaluations with unplaced instances wait until a change could help them.
//
// The queues (queue.go, blocked.go) are plain data structures that receive the time as an
// argument. The Broker around them owns the lock, the timer and the feed. The package must
// not decide anything about allocations. It writes nothing but the end of evaluations, and
// the follow-ups of those that failed in every delivery.
package broker
