// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"iter"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/state"
)

// Position is how far a sweep is; the zero value is its beginning.
type Position struct {
	table int    // of sweepOrder
	slot  uint32 // the first that was not looked at
}

// sweepOrder is in which order tables are swept: what refers to others goes
// first, so that one sweep takes a whole chain.
var sweepOrder = [...]state.Table{
	state.TableJobs, state.TableAllocations, state.TableEvaluations, state.TableDeployments, state.TableNodes,
	state.TableRestarts,
}

// Collect examines the next objects of a sweep, and returns the command that deletes the
// collectable ones, nil if none is. next is the position from which the sweep continues, and
// swept reports whether it is complete.
//
// Collect never deletes: an object that has not ended; an allocation that a live one
// replaced, or that its job's next evaluation needs: the last one of an instance records that
// a batch job's work is done, the number of attempts, or the version of a service to restore
// when capacity is available; an evaluation that allocations refer to, or that is its job's
// newest; a job's latest deployment; a job with live allocations or children; a node with
// allocations.
//
// A dead job is deleted first, in one small step. Its other objects then have no owner, and
// follow as fast as passes allow: a job of 50,000 allocations never causes a large log entry,
// and is never visible in part.
func Collect(snap *state.Snapshot, now time.Time, t Thresholds, at Position) (cmd *state.Collect, next Position, swept bool) {
	c := &collection{snap: snap, now: now, t: t}
	for ; at.table < len(sweepOrder); at = (Position{table: at.table + 1}) {
		at.slot = c.sweep(sweepOrder[at.table], at.slot)
		if at.slot < snap.Slots(sweepOrder[at.table]) {
			break
		}
		if c.size > 0 { // the next table is looked at when this is done
			at = Position{table: at.table + 1}
			break
		}
	}
	if c.size > 0 {
		cmd = &c.cmd
	}
	return cmd, at, at.table == len(sweepOrder)
}

// collection is one pass.
type collection struct {
	snap  *state.Snapshot
	now   time.Time
	t     Thresholds
	cmd   state.Collect
	size  int // objects in cmd
	looks int // objects that were looked at
}

func (c *collection) full() bool { return c.size >= passCollects || c.looks >= passLooks }

// sweep looks at a table from a slot on, and returns where it stopped.
func (c *collection) sweep(table state.Table, slot uint32) uint32 {
	stopped := false
	switch table {
	case state.TableJobs:
		slot, stopped = sweepRows(c, c.snap.SweepJobs(slot), c.isDeadJob, func(j *api.Job) {
			c.cmd.Jobs = append(c.cmd.Jobs, j.Key())
		})
	case state.TableAllocations:
		slot, stopped = sweepRows(c, c.snap.SweepAllocations(slot), c.isSpareAllocation, func(a *api.Allocation) {
			c.cmd.Allocations = append(c.cmd.Allocations, a.ID)
		})
	case state.TableEvaluations:
		slot, stopped = sweepRows(c, c.snap.SweepEvaluations(slot), c.isSpareEvaluation, func(e *api.Evaluation) {
			c.cmd.Evaluations = append(c.cmd.Evaluations, e.ID)
		})
	case state.TableDeployments:
		slot, stopped = sweepRows(c, c.snap.SweepDeployments(slot), c.isSpareDeployment, func(d *api.Deployment) {
			c.cmd.Deployments = append(c.cmd.Deployments, d.ID)
		})
	case state.TableRestarts:
		slot, stopped = sweepRows(c, c.snap.SweepRestarts(slot), c.isSpareRestart, func(r *api.JobRestart) {
			c.cmd.Restarts = append(c.cmd.Restarts, r.ID)
		})
	case state.TableNodes:
		slot, stopped = sweepRows(c, c.snap.SweepNodes(slot), c.isGoneNode, func(n *api.Node) {
			c.cmd.Nodes = append(c.cmd.Nodes, n.ID)
		})
	}
	if stopped {
		return slot
	}
	return c.snap.Slots(table)
}

// sweepRows collects what is spare. It is stopped when the pass is full, and
// returns the slot to go on from.
func sweepRows[T any](c *collection, rows iter.Seq2[uint32, *T], isSpare func(*T) bool, collect func(*T)) (next uint32, stopped bool) {
	for slot, object := range rows {
		if object != nil && isSpare(object) {
			collect(object)
			c.size++
		}
		if c.looks++; c.full() {
			return slot + 1, true
		}
	}
	return 0, false
}

// old reports whether a Unix time in nanoseconds is past a threshold.
func (c *collection) old(at int64, threshold time.Duration) bool {
	return c.now.Sub(time.Unix(0, at)) >= threshold
}

func (c *collection) isDeadJob(j *api.Job) bool {
	if j.Status != api.JobStatusDead || !j.Stop && !j.RunsToCompletion() || !c.old(j.SubmitTime, c.t.Job) {
		return false
	}
	if n := c.snap.ChildrenCount(j.Namespace, j.ID); n.Pending+n.Running > 0 {
		return false // people look for them by their parent
	}
	if e := c.snap.NewestEvaluation(j.Namespace, j.ID); e != nil && (!e.IsTerminal() || !c.old(e.ModifyTime, c.t.Job)) {
		return false
	}
	if d := c.snap.LatestDeployment(j.Namespace, j.ID); d != nil && d.IsActive() {
		return false
	}
	for a := range c.snap.AllocationsByJob(j.Namespace, j.ID) {
		c.looks++
		if !a.IsTerminal() || a.HoldsResources() || !c.old(a.ModifyTime, c.t.Job) {
			return false
		}
	}
	return true
}

func (c *collection) isSpareAllocation(a *api.Allocation) bool {
	if !a.IsTerminal() || a.HoldsResources() {
		return false
	}
	job := c.snap.Job(a.Namespace, a.JobID)
	if old := c.old(a.ModifyTime, c.threshold(a.Job, job == nil)); job == nil || !old {
		return old
	}
	if next := a.NextAllocation; next != "" {
		if n := c.snap.Allocation(next); n != nil && !n.IsTerminal() {
			return false
		}
	}
	if f := a.FollowupEvalID; f != "" {
		if e := c.snap.Evaluation(f); e != nil && !e.IsTerminal() {
			return false
		}
	}
	switch {
	case job.Stop:
		return true
	case a.IsServerTerminal():
		return !facts.IsMissed(c.snap, job, a)
	}
	// One that ended beside the next one, and was never stopped, claims its instance.
	return a.NextAllocation != "" && !facts.HasInstance(job, a)
}

// threshold is how long what a job made is kept: no longer than the job itself
// would be, when that is gone.
func (c *collection) threshold(job *api.Job, left bool) time.Duration {
	t := c.t.Evaluation
	if job != nil && job.RunsToCompletion() {
		t = c.t.BatchEval
	}
	if left {
		t = min(t, c.t.Job)
	}
	return t
}

func (c *collection) isSpareEvaluation(e *api.Evaluation) bool {
	if !e.IsTerminal() {
		return false
	}
	job := c.snap.Job(e.Namespace, e.JobID)
	if !c.old(e.ModifyTime, c.threshold(&api.Job{Type: e.Type}, job == nil)) {
		return false
	}
	for range c.snap.AllocationsByEval(e.ID) {
		return false
	}
	// The newest says what became of a job, and that it was looked at.
	return job == nil || job.Stop || c.snap.NewestEvaluation(e.Namespace, e.JobID) != e
}

func (c *collection) isSpareDeployment(d *api.Deployment) bool {
	if d.IsActive() || !c.old(d.ModifyTime, c.t.Deployment) {
		return false
	}
	if job := c.snap.Job(d.Namespace, d.JobID); job != nil && c.snap.LatestDeployment(d.Namespace, d.JobID) == d {
		return false // says how far the job's version is rolled out
	}
	for a := range c.snap.AllocationsByDeployment(d.ID) {
		c.looks++
		if !a.IsTerminal() {
			return false
		}
	}
	return true
}

func (c *collection) isSpareRestart(r *api.JobRestart) bool {
	return !r.IsActive() && c.old(r.UpdatedAt.UnixNano(), c.t.Restart) && !c.snap.IsDeclining(r)
}

func (c *collection) isGoneNode(n *api.Node) bool {
	if n.Status != api.NodeStatusDown || c.now.Sub(time.Unix(n.StatusUpdatedAt, 0)) < c.t.Node {
		return false
	}
	for range c.snap.AllocationsByNode(n.ID) {
		return false
	}
	return true
}
