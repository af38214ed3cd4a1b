// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan works out the difference between what a job says should run and
// what runs, as plans: trees of phases and steps that people can look at. It is
// pure: no goroutine, no clock, no I/O, and nothing remembered. The same state
// and time give the same trees and the same decisions.
//
// # How it is called
//
//	result := plan.Reconcile(snapshot, job, eval, now) // job is nil if it was purged
//	outcome := placement.Place(view, &placement.Order{ ... Requests: result.Start, Kept: result.Kept ... })
//	submit state.Placement{
//		Place:             outcome.Place + result.Update,
//		Stop:              result.Stop + outcome.Stop,
//		Deployment:        result.Deployment,        // nil: none is new or changed
//		DeploymentUpdates: result.DeploymentUpdates,
//		Evaluations:       result.FollowUps + the evaluation's end + a blocked one if !outcome.IsWhole(),
//	}
//
// A dry run shows result.Updates instead of submitting. [Derive] gives the
// trees to show; [CheckDeployment] tells the controller of deployments whether
// one has succeeded or failed, and when to ask again; [NeedsEvaluation] tells
// whether a change of an allocation calls for another evaluation.
//
// # The rules
//
// Three plans are derived for a job, and asked for work in this order: deploy,
// recovery, decommission. A step whose instance is already being worked on by
// an earlier plan is not a candidate.
//
//   - deploy moves instances to the job's newest version, and only it does. It
//     has a phase per group, in declared order, and a step per instance.
//   - recovery brings back instances that failed, were lost, or were stopped by
//     somebody, at the version they had.
//   - decommission stops what is wanted no longer: the highest indexes when a
//     group shrinks, groups that left the job, everything of a stopped job.
//
// What update.max_parallel and the order of groups protect is instances that
// serve. So a step that only adds (there is no older instance that runs) is not
// limited by max_parallel, and where nothing at all of an older version serves,
// as in a first deployment, a group's phase opens as soon as the instances of
// the groups before it have been started. Where something does serve, a
// phase opens when the ones before it are complete, which includes health, and
// its steps take away at most max_parallel instances at a time. See
// strategy.go, the one place where this is decided, and docs/design/plans.md.
//
// A job that runs on every node has an instance per node (everywhere.go). What a
// node that is out of reach holds, and who goes on when it is back, is in
// disconnect.go and claims.go.
//
// Batch jobs, and groups whose update.max_parallel is 0, have no deployment:
// all their steps are candidates at once.
package plan
