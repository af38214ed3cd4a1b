// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package placement decides on which node an instance runs, and says why the
// others were not taken. It is pure: no goroutine, no clock, no I/O; the same
// view, requests and seed give the same result.
//
// # How it is called
//
// One [Fleet] lives beside the store. Whoever follows the change feed hands it
// every change, in order, and tells it the index it has reached:
//
//	fleet := placement.NewFleet(snapshot)
//	for _, c := range batch.Changes {
//		fleet.Change(c.Old, c.New) // nodes and allocations count; the rest is ignored
//	}
//	fleet.SetIndex(batch.Index)
//
// A Fleet belongs to one goroutine at a time (guard it with a mutex); a [View]
// of it is immutable, cheap to take (pages of nodes are shared until they
// change) and may be used by any goroutine:
//
//	view := fleet.View() // wait until view.Index() reaches the snapshot's
//	result := plan.Reconcile(snapshot, job, eval, now)
//	outcome := placement.Place(view, &placement.Order{
//		EvalID: eval.ID, Namespace: eval.Namespace, JobID: eval.JobID, AllAtOnce: job.AllAtOnce,
//		Requests: result.Start, Kept: result.Kept, Now: now.UnixNano(), Seed: seed,
//	})
//
// The worker submits outcome.Place together with result.Stop and outcome.Stop;
// what is in outcome.Failed goes into the evaluation, and, if there is any,
// into a blocked one with outcome.ClassEligibility and outcome.Escaped.
//
// The applier keeps its own Fleet (or shares the worker's) and asks [Check]
// before it proposes; placements that are proposed but not yet applied are
// handed to the fleet with [Fleet.Reserve] and are part of every later view
// until the change feed brings them.
//
// # Room
//
// An allocation holds its resources and ports until its node says that nothing
// of it runs any more (api.Allocation.HoldsResources): being told to stop
// frees nothing. So an instance that is replaced starts beside its predecessor
// if there is room for both; if there is room only once the predecessor is
// gone, the predecessor is stopped and the instance waits in the blocked
// evaluation for the room ([Outcome.Waiting]); if there would be no room even
// then, the predecessor is left alone.
//
// # How it is fast
//
// The fleet is a struct of arrays in pages of 64 nodes. Whether a node suits a
// group is decided once per kind of node (its computed class), unless a
// constraint looks at something unique to it. What is left per node is
// arithmetic. All nodes are scored; identical instances are placed in one
// pass, from a heap of candidate nodes.
package placement
