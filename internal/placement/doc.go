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
// Every node counts, and the best one wins; but few are looked at.
//
// The naive way scores all nodes for each instance: 0.5 ms at 10,000 nodes. What
// is done instead rests on four things.
//
//   - The fleet is a struct of arrays in pages of 32 nodes, the pages in
//     chapters. A [View] shares what does not change after it: taking one costs a
//     pointer per 2,048 nodes, a placement on a node the copy of a page.
//   - Whether a node suits a group, and its affinity, is decided once per class of
//     node (its computed class) and remembered over evaluations for all groups
//     that ask the same (suit). How many nodes of a class there are is counted as
//     nodes come and go (roster), so the metrics of a placement are true without
//     a look at the nodes.
//   - The ready nodes stand in a tree in the order of what they have free
//     (index). A branch knows the least and the most that is free below it and
//     the classes: so it is known what a node there can be worth at most, and the
//     search opens the most promising branch until no other can hold a better
//     node than the best it has (frontier). That is exact: the test
//     TestEveryInstanceGoesToTheBestNode compares it with scoring every node.
//   - Requests that ask for the same share one search: candidates that were found
//     stay in a heap, and placing on one changes that one's score only. With
//     spreads and distinct properties there is a heap for each combination of
//     values (bucket): what those say, they say of a whole bucket.
//
// Requests that name their node (NodeID) look at that one only. All nodes are
// looked at, one by one, in two cases: for groups with constraints on something
// unique to a node, or with reserved cores, of which classes tell too little; and
// when an instance finds no node, to count why.
//
// Orders use each other's memory again (memory), and what stays of one, its
// allocations and their ids, is made in blocks of a few dozen.
package placement
