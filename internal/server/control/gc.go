// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Thresholds say how long things are kept after they ended. A zero threshold
// keeps nothing that is not needed.
type Thresholds struct {
	Interval   time.Duration // between collections
	Evaluation time.Duration // with its allocations
	BatchEval  time.Duration // the same for batch jobs
	Deployment time.Duration
	Job        time.Duration // dead jobs
	Node       time.Duration // nodes that are down
}

// DefaultThresholds are what a server uses.
var DefaultThresholds = Thresholds{
	Interval: 5 * time.Minute, Evaluation: time.Hour, BatchEval: 24 * time.Hour,
	Deployment: time.Hour, Job: 4 * time.Hour, Node: 24 * time.Hour,
}

// collectMax bounds the objects of one log entry, so that collecting never
// holds up other writes for long.
const collectMax = 4096

// gc collects what nobody needs any more.
type gc struct{ t Thresholds }

// NewGC returns the controller that collects. It has one key.
func NewGC(t Thresholds) Controller { return gc{t} }

func (gc) Name() string                        { return "gc" }
func (gc) All(*state.Snapshot) []string        { return []string{"all"} }
func (gc) Touched(*state.Change, func(string)) {}

func (g gc) Act(snap *state.Snapshot, _ string, now time.Time) ([]state.Command, time.Time) {
	cmd, more := Collect(snap, now, g.t)
	next := now.Add(g.t.Interval)
	if more {
		next = now
	}
	if cmd == nil {
		return nil, next
	}
	return []state.Command{cmd}, next
}

// Collect names what may be forgotten, or nil, and whether there is more than
// fits into one command. Never collected is: what has not ended; an allocation
// that its job's next evaluation has to know of, or that a live one replaced;
// an evaluation with such an allocation; the latest evaluation of a job that
// is not dead; the latest deployment of a job.
func Collect(snap *state.Snapshot, now time.Time, t Thresholds) (cmd *state.Collect, more bool) {
	c := &collection{snap: snap, now: now, t: t, latest: map[api.NamespacedID]*api.Evaluation{}}
	for job := range snap.Jobs() {
		if c.full() {
			break
		}
		c.job(job)
	}
	for e := range snap.Evaluations() {
		if known := c.latest[e.JobKey()]; known == nil || e.CreateIndex > known.CreateIndex {
			c.latest[e.JobKey()] = e
		}
	}
	for e := range snap.Evaluations() {
		if c.full() {
			break
		}
		c.evaluation(e)
	}
	for a := range snap.Allocations() {
		if c.full() {
			break
		}
		if snap.Evaluation(a.EvalID) == nil && c.spare(a) {
			c.cmd.Allocations = append(c.cmd.Allocations, a.ID)
			c.size++
		}
	}
	for d := range snap.Deployments() {
		if c.full() {
			break
		}
		c.deployment(d)
	}
	for n := range snap.Nodes() {
		if c.full() {
			break
		}
		c.node(n)
	}
	if c.size == 0 {
		return nil, false
	}
	return &c.cmd, c.full()
}

type collection struct {
	snap   *state.Snapshot
	now    time.Time
	t      Thresholds
	latest map[api.NamespacedID]*api.Evaluation
	cmd    state.Collect
	size   int
	gone   map[api.NamespacedID]bool // jobs collected here
}

func (c *collection) full() bool { return c.size >= collectMax }

// old reports whether a Unix time in nanoseconds is past a threshold.
func (c *collection) old(at int64, threshold time.Duration) bool {
	return c.now.Sub(time.Unix(0, at)) >= threshold
}

// job collects a dead job together with all that is left of it.
func (c *collection) job(j *api.Job) {
	if j.Status != api.JobStatusDead || !j.Stop && !j.RunsToCompletion() || !c.old(j.SubmitTime, c.t.Job) {
		return
	}
	var evals, allocs, deployments []string
	for e := range c.snap.EvaluationsByJob(j.Namespace, j.ID) {
		if !e.IsTerminal() || !c.old(e.ModifyTime, c.t.Job) {
			return
		}
		evals = append(evals, e.ID)
	}
	for a := range c.snap.AllocationsByJob(j.Namespace, j.ID) {
		if !a.IsTerminal() || a.HoldsResources() || !c.old(a.ModifyTime, c.t.Job) {
			return
		}
		allocs = append(allocs, a.ID)
	}
	for d := range c.snap.DeploymentsByJob(j.Namespace, j.ID) {
		if d.IsActive() {
			return
		}
		deployments = append(deployments, d.ID)
	}
	if c.gone == nil {
		c.gone = map[api.NamespacedID]bool{}
	}
	c.gone[j.Key()] = true
	c.cmd.Jobs = append(c.cmd.Jobs, j.Key())
	c.cmd.Evaluations = append(c.cmd.Evaluations, evals...)
	c.cmd.Allocations = append(c.cmd.Allocations, allocs...)
	c.cmd.Deployments = append(c.cmd.Deployments, deployments...)
	c.size += 1 + len(evals) + len(allocs) + len(deployments)
}

// evaluation collects an evaluation with its allocations, or leaves all.
func (c *collection) evaluation(e *api.Evaluation) {
	key := e.JobKey()
	if c.gone[key] || !e.IsTerminal() || !c.old(e.ModifyTime, c.threshold(e.Type)) {
		return
	}
	if c.latest[key] == e {
		if job := c.snap.Job(key.Namespace, key.ID); job != nil && job.Status != api.JobStatusDead {
			return
		}
	}
	var allocs []string
	for a := range c.snap.AllocationsByEval(e.ID) {
		if !c.spare(a) {
			return
		}
		allocs = append(allocs, a.ID)
	}
	c.cmd.Evaluations = append(c.cmd.Evaluations, e.ID)
	c.cmd.Allocations = append(c.cmd.Allocations, allocs...)
	c.size += 1 + len(allocs)
}

// spare reports whether nobody needs to know of the allocation any more.
func (c *collection) spare(a *api.Allocation) bool {
	jobType := ""
	if a.Job != nil {
		jobType = a.Job.Type
	}
	if c.gone[a.JobKey()] || !a.IsTerminal() || a.HoldsResources() || !c.old(a.ModifyTime, c.threshold(jobType)) {
		return false
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
	job := c.snap.Job(a.Namespace, a.JobID)
	if job == nil || job.Stop || a.IsServerTerminal() {
		return true
	}
	// A batch job's last allocation says that the instance is done; a failed
	// one carries the history of its attempts.
	return a.NextAllocation != ""
}

func (c *collection) threshold(jobType string) time.Duration {
	if jobType == api.JobTypeBatch || jobType == api.JobTypeSysBatch {
		return c.t.BatchEval
	}
	return c.t.Evaluation
}

func (c *collection) deployment(d *api.Deployment) {
	if c.gone[d.JobKey()] || d.IsActive() || !c.old(d.ModifyTime, c.t.Deployment) {
		return
	}
	if job := c.snap.Job(d.Namespace, d.JobID); job != nil && c.snap.LatestDeployment(d.Namespace, d.JobID) == d {
		return // says how far the job's version is rolled out
	}
	for a := range c.snap.AllocationsByDeployment(d.ID) {
		if !a.IsTerminal() {
			return
		}
	}
	c.cmd.Deployments = append(c.cmd.Deployments, d.ID)
	c.size++
}

func (c *collection) node(n *api.Node) {
	if n.Status != api.NodeStatusDown || c.now.Sub(time.Unix(n.StatusUpdatedAt, 0)) < c.t.Node {
		return
	}
	for range c.snap.AllocationsByNode(n.ID) {
		return
	}
	c.cmd.Nodes = append(c.cmd.Nodes, n.ID)
	c.size++
}
