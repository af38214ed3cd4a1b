// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package autopilot keeps the set of voting servers healthy: on the leader, it promotes
// servers that are stable, removes dead ones while a quorum remains, and hands leadership
// over if the leader cannot do its work.
//
// Assess and Decide are pure. Run performs one action at a time, so that each decision sees
// the result of the one before.
package autopilot
