// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// The action of a drain on an allocation depends on its job:
//
//   - Instances of services move as the group's migrate block says: at most
//     max_parallel instances of the group are out of service at the same time. An
//     instance is in service when it runs and was found healthy, so the next one
//     moves when the previous replacement is healthy. Instances that are out of
//     service move immediately. Nodes that are drained together share the limit.
//   - Instances of batch jobs continue until they end, or until the deadline.
//   - Instances of system jobs are stopped last, unless the drain ignores them.
//   - At the deadline all remaining instances are stopped.
//
// A drain is complete when all allocations that must leave have ended, as reported by their
// node.
//
// Nothing of this is remembered: the marks on allocations, and how their
// replacements are, say how far each drain is.

// drainSurvey is what there is to do on all nodes that are drained.
type drainSurvey struct {
	snap     *state.Snapshot
	now      time.Time
	leaving  []*leaver
	moves    []*move
	complete []string  // nodes
	wake     time.Time // when to look again although nothing changed
}

// leaver is an allocation that a drain waits for.
type leaver struct {
	node  *api.Node
	alloc *api.Allocation
	state string // one of the api.Drain constants
	why   string
}

// move is a job's allocations that have to move now.
type move struct {
	job    *api.Job
	nodeID string
	allocs []string
}

// decideDrains says what to do about the nodes, all of which are drained.
func decideDrains(snap *state.Snapshot, nodes []*api.Node, now time.Time) *drainSurvey {
	s := &drainSurvey{snap: snap, now: now}
	slices.SortFunc(nodes, func(a, b *api.Node) int {
		return cmp.Or(a.DrainStrategy.StartedAt.Compare(b.DrainStrategy.StartedAt), strings.Compare(a.ID, b.ID))
	})
	paced := map[api.NamespacedID][]*leaver{}
	var order []api.NamespacedID
	for _, n := range nodes {
		for _, l := range s.surveyNode(n) {
			key := l.alloc.JobKey()
			if paced[key] == nil {
				order = append(order, key)
			}
			paced[key] = append(paced[key], l)
		}
	}
	for _, key := range order {
		s.pace(key, paced[key])
	}
	return s
}

// surveyNode decides all that one node decides alone, and returns the
// allocations that move at their group's pace.
func (s *drainSurvey) surveyNode(n *api.Node) (paced []*leaver) {
	var on []*leaver
	others := 0 // not of system jobs
	for a := range s.snap.AllocationsByNode(n.ID) {
		if !n.HasToLeave(a) {
			continue
		}
		on = append(on, &leaver{node: n, alloc: a})
		if !a.IsSystem() {
			others++
		}
	}
	if len(on) == 0 {
		s.complete = append(s.complete, n.ID)
		return nil
	}
	slices.SortFunc(on, func(a, b *leaver) int {
		return cmp.Or(strings.Compare(a.alloc.JobID, b.alloc.JobID), strings.Compare(a.alloc.Group, b.alloc.Group),
			cmp.Compare(a.alloc.Index(), b.alloc.Index()), strings.Compare(a.alloc.ID, b.alloc.ID))
	})
	s.leaving = append(s.leaving, on...)
	past := n.DrainStrategy.IsPast(s.now)
	if !past {
		s.wakeAt(n.DrainStrategy.ForceDeadline)
	}
	for _, l := range on {
		a := l.alloc
		switch marked := a.DesiredTransition.ShouldMigrate(); {
		case a.IsServerTerminal():
			l.state, l.why = api.DrainStopping, "its node has not reported its end yet"
			if !isUp(n) {
				l.why = "its node is " + n.Status + ", so its state is unknown"
			}
		case n.IsGone():
			l.state, l.why = api.DrainStopping, "its node is down: it counts as lost at its job's next evaluation"
		case past && (!marked || !s.evaluatedAfter(a, n.DrainStrategy.ForceDeadline)):
			l.state, l.why = api.DrainStopping, "the deadline is over"
			s.moveNow(l)
		case marked:
			l.state, l.why = api.DrainMoving, s.placing(a)
		case a.IsSystem() && others == 0:
			l.state, l.why = api.DrainStopping, "everything else has left the node"
			s.moveNow(l)
		case a.IsSystem():
			l.state, l.why = api.DrainWaiting, fmt.Sprintf("system jobs leave last: %s still here", plural(others, "other allocation"))
		case a.Job != nil && a.Job.RunsToCompletion():
			l.state, l.why = api.DrainWaiting, "runs on until it ends"
			if at := n.DrainStrategy.ForceDeadline; !at.IsZero() {
				l.why += ", at most until the deadline"
			}
		default:
			paced = append(paced, l)
		}
	}
	return paced
}

const (
	placedElsewhere  = "is being placed elsewhere"
	startedElsewhere = "continues until its replacement serves"
)

// placing tells what an allocation that has to move waits for.
func (s *drainSurvey) placing(a *api.Allocation) string {
	for e := range s.snap.EvaluationsByJob(a.Namespace, a.JobID) {
		if e.Status == api.EvalStatusBlocked && e.FailedGroups[a.Group] != nil {
			return fmt.Sprintf("no other node can take it: evaluation %s is blocked and says why", api.ShortID(e.ID))
		}
	}
	if next := s.snap.Allocation(a.NextAllocation); next != nil && !next.IsTerminal() {
		return startedElsewhere
	}
	return placedElsewhere
}

// moveNow has an allocation moved together with others of its job.
func (s *drainSurvey) moveNow(l *leaver) {
	a := l.alloc
	for _, m := range s.moves {
		if m.job.Namespace == a.Namespace && m.job.ID == a.JobID {
			m.allocs = append(m.allocs, a.ID)
			return
		}
	}
	job := s.snap.Job(a.Namespace, a.JobID)
	if job == nil {
		job = a.Job // purged: its allocations end
	}
	if job != nil {
		s.moves = append(s.moves, &move{job: job, nodeID: l.node.ID, allocs: []string{a.ID}})
	}
}

// evaluatedAfter reports whether an evaluation of the allocation's job was made
// after a time. One that is worked out after the deadline stops what is marked,
// wherever the replacement is.
func (s *drainSurvey) evaluatedAfter(a *api.Allocation, at time.Time) bool {
	for e := range s.snap.EvaluationsByJob(a.Namespace, a.JobID) {
		if e.CreateTime >= at.UnixNano() {
			return true
		}
	}
	return false
}

// pace decides which of a job's allocations move now.
func (s *drainSurvey) pace(key api.NamespacedID, on []*leaver) {
	job := s.snap.Job(key.Namespace, key.ID)
	groups := map[string]*drainedGroup{}
	for _, l := range on {
		g := groups[l.alloc.Group]
		if g == nil {
			g = s.surveyGroup(job, l.alloc.Group)
			groups[l.alloc.Group] = g
		}
		switch {
		case g.def == nil:
			l.state, l.why = api.DrainWaiting, "is no longer wanted: its job's next evaluation stops it"
		case g.missing[l.alloc.ID] != "": // it does not serve: nothing is lost by moving it
			l.state, l.why = api.DrainMoving, placedElsewhere
			s.moveNow(l)
		case g.room > 0:
			g.room--
			l.state, l.why = api.DrainMoving, placedElsewhere
			g.began = l.alloc
			s.moveNow(l)
		default:
			l.state, l.why = api.DrainWaiting, g.why()
		}
	}
}

// drainedGroup is how a group with instances on drained nodes is.
type drainedGroup struct {
	def     *api.Group
	room    int               // instances that may be taken away now
	serving int               // instances that serve
	missing map[string]string // why not, by allocation that does not
	first   *api.Allocation   // of those
	began   *api.Allocation   // took the last of the room
}

// surveyGroup counts a group's instances that serve.
func (s *drainSurvey) surveyGroup(job *api.Job, name string) *drainedGroup {
	g := &drainedGroup{missing: map[string]string{}}
	if job == nil || job.Stop || job.Group(name) == nil {
		return g
	}
	g.def = job.Group(name)
	for a := range s.snap.AllocationsByJob(job.Namespace, job.ID) {
		if a.Group != name || a.IsTerminal() {
			continue
		}
		if why := s.notServing(g.def, a); why == "" {
			g.serving++
		} else {
			g.missing[a.ID] = why
			if g.first == nil || a.Index() < g.first.Index() {
				g.first = a
			}
		}
	}
	g.room = max(0, g.serving-(g.def.Size()-maxParallel(g.def)))
	return g
}

func maxParallel(g *api.Group) int {
	if g.Migrate == nil || g.Migrate.MaxParallel == nil {
		return 1
	}
	return max(1, *g.Migrate.MaxParallel)
}

// why tells what the next instance waits for.
func (g *drainedGroup) why() string {
	limit := fmt.Sprintf("max_parallel is %d", maxParallel(g.def))
	switch {
	case g.began != nil:
		return fmt.Sprintf("%s: waits for %s (%s), which %s", limit, api.ShortID(g.began.ID), g.began.Name, placedElsewhere)
	case g.first != nil:
		return fmt.Sprintf("%s: waits for %s (%s), which %s", limit, api.ShortID(g.first.ID), g.first.Name, g.missing[g.first.ID])
	}
	return fmt.Sprintf("%s, and %d of %d instances serve: waits until the missing ones have a place", limit, g.serving, g.def.Size())
}

// notServing says why an allocation that is wanted does not serve; "" when it
// does.
func (s *drainSurvey) notServing(g *api.Group, a *api.Allocation) string {
	n := s.snap.Node(a.NodeID)
	switch {
	case n.IsGone():
		return "was lost with its node"
	case a.DesiredTransition.ShouldMigrate():
		return placedElsewhere
	case a.ClientStatus != api.AllocClientRunning:
		return "is " + a.ClientStatus
	case a.IsUnhealthy():
		return "is unhealthy"
	case a.IsHealthy():
		return ""
	}
	// Nobody has judged it. Its agent does so for a deployment, and for what
	// replaces another; agents that do not are given the time they would have.
	wait := healthyTime(g)
	if a.DeploymentID != "" {
		if d := s.snap.Deployment(a.DeploymentID); d != nil && d.IsActive() {
			return "is not healthy yet"
		}
	} else if a.PreviousAllocation != "" {
		wait = max(wait, healthyDeadline(g)+wait)
	}
	if at := runningSince(a).Add(wait); s.now.Before(at) {
		s.wakeAt(at)
		return "is not healthy yet"
	}
	return ""
}

func healthyTime(g *api.Group) time.Duration {
	if g.Migrate == nil || g.Migrate.MinHealthyTime == nil {
		return 10 * time.Second
	}
	return *g.Migrate.MinHealthyTime
}

func healthyDeadline(g *api.Group) time.Duration {
	if g.Migrate == nil || g.Migrate.HealthyDeadline == nil {
		return 5 * time.Minute
	}
	return *g.Migrate.HealthyDeadline
}

// runningSince is when the last task of the allocation started.
func runningSince(a *api.Allocation) time.Time {
	var at time.Time
	for _, t := range a.TaskStates {
		if t.StartedAt.After(at) {
			at = t.StartedAt
		}
	}
	if at.IsZero() {
		at = time.Unix(0, a.ModifyTime)
	}
	return at
}

func (s *drainSurvey) wakeAt(at time.Time) {
	if !at.IsZero() && (s.wake.IsZero() || at.Before(s.wake)) {
		s.wake = at
	}
}

// describe is an allocation that has to leave, as people are told.
func (s *drainSurvey) describe(l *leaver) *api.DrainingAllocation {
	a := l.alloc
	d := &api.DrainingAllocation{
		ID: a.ID, Namespace: a.Namespace, JobID: a.JobID, TaskGroup: a.Group, Name: a.Name,
		ClientStatus: a.ClientStatus, DesiredStatus: a.DesiredStatus, State: l.state, Description: l.why,
	}
	if a.Job != nil {
		d.JobType = a.Job.Type
	}
	if next := s.snap.Allocation(a.NextAllocation); next != nil {
		d.Replacement = &api.DrainReplacement{ID: next.ID, NodeID: next.NodeID, NodeName: next.NodeName, ClientStatus: next.ClientStatus}
		if h := next.DeploymentStatus; h != nil {
			d.Replacement.Healthy = h.Healthy
		}
	}
	return d
}

// plural counts things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return fmt.Sprintf("%d %ss are", n, what)
}
