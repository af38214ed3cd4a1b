// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package jepsen tests the promises of a cluster while servers and networks fail. It runs three or
// five real servers in network namespaces, sends seeded operations to all of them, injects faults,
// and checks the recorded histories.
//
// A run consists of rounds with one fault each. A round writes to registers that no other
// round uses, so that its histories are short enough to check. The seed of a run determines
// its faults, their targets and the operations of each client, but not their timing.
//
// An operation ends in one of three ways: it succeeds, it fails and certainly had no effect, or
// its effect is unknown. Every error counts as unknown except for a refused connection, the
// conflict of a check-and-set, and an error that states that the change was not made.
package jepsen
