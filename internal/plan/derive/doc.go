// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package derive builds the plans of a job: a builder per plan takes the facts, and
// what the plans before it decided, and returns a tree. [All] calls the builders in
// the order of their priority:
//
//   - deploy moves instances to the newest version, and is the only plan that does.
//     The result is a [Rollout], which later plans respect.
//   - recovery restores instances that failed, were lost or were stopped, at the
//     version that they had.
//   - decommission stops unwanted allocations: of a group that shrank or left the
//     job, and of a stopped job.
//   - uninstall removes a job that is being purged.
//   - restart executes a rolling restart.
//   - drain shows the instances that leave a drained node.
//   - custom plans launch tasks in existing instances. The job declares them, and
//     operators start them.
//
// A plan leaves dirty instances alone: those that an earlier plan works on.
// strategy.go decides how many steps of a generated deploy plan run at a time.
package derive
