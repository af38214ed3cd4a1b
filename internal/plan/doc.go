// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan computes the difference between the desired and the actual state of
// a job, and what to do about it now. It is pure: no goroutine, no clock, no I/O, no
// memory. The same state and time give the same result.
//
//	result := plan.Reconcile(snapshot, job, eval, now) // job is nil if it was purged
//	outcome := placement.Place(view, &placement.Order{ ... Requests: result.Start, Kept: result.Kept ... })
//	submit state.Placement{
//		Place:             outcome.Place + result.Update,
//		Stop:              result.Stop + outcome.Stop,
//		Deployment:        result.Deployment,        // nil: no deployment is new or changed
//		DeploymentUpdates: result.DeploymentUpdates,
//		Evaluations:       result.FollowUps + the evaluation's end + a blocked one if !outcome.IsWhole(),
//	}
//
// A dry run displays result.Updates instead of submitting. [NeedsEvaluation] reports
// whether a change of an allocation requires another evaluation.
//
// # Packages
//
// Reconcile executes the candidates of the plans: the steps that may run now. The
// packages below derive and display the plans. Each imports only packages above it in
// this list:
//
//   - update, reschedule, launch: rules about versions, attempts and tasks
//   - decision: the decisions of operators
//   - facts: the instances of a job, computed once
//   - tree: phases, steps and their strategies
//   - derive: a builder per plan
//   - deployment: the end of a deployment
//   - view: plans, instances and troubles for display
//   - operator: requests of operators
//
// docs/design/plans.md explains the rules.
package plan
