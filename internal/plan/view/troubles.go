// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A TroubleFilter selects troubles. Empty fields match all.
type TroubleFilter struct {
	Instance string  // group-index
	Version  *uint64 // that the instance has, or is to have
}

// Troubles returns the current problems of the job's instances, causes before
// symptoms. Instances of a group with the same problem share one Trouble. Job may
// be nil.
func Troubles(r facts.Reader, key api.NamespacedID, job *api.Job, of TroubleFilter, now time.Time) []*api.Trouble {
	v := Derive(r, key, job, now)
	defer v.Release()
	f := finder{view: v, of: of, same: make(map[troubleKey]*api.Trouble)}
	works := v.working()
	for i, g := range v.Groups {
		f.group = i
		for in := range g.Every {
			f.look(in, works[in.Place()])
		}
	}
	slices.SortStableFunc(f.all, func(a, b *api.Trouble) int {
		return cmp.Or(cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)), cmp.Compare(b.Instances, a.Instances))
	})
	return f.all
}

// telling lists the kinds of troubles, causes before symptoms.
var telling = []api.TroubleKind{
	api.TroubleSetup, api.TroubleStart, api.TroubleSecret, api.TroubleTemplate, api.TroubleOutOfMemory, api.TroubleExited, api.TroubleKilled, api.TroubleTimeout,
	api.TroublePortTaken, api.TroubleWrongAddress, api.TroubleCheckFailed, api.TroubleCheckRefused, api.TroubleCheckTimeout,
	api.TroubleNoRoom, api.TroubleNodeSilent, api.TroubleUnhealthy,
}

func rankOf(kind api.TroubleKind) int {
	if i := slices.Index(telling, kind); i >= 0 {
		return i
	}
	return len(telling)
}

// A finder collects troubles.
type finder struct {
	view  *View
	of    TroubleFilter
	group int // index of the current group
	all   []*api.Trouble
	same  map[troubleKey]*api.Trouble
}

// A troubleKey identifies troubles that are reported once.
type troubleKey struct {
	group                int
	version              uint64
	kind                 api.TroubleKind
	task, service, check string
	code, signal, status int
}

// add records a trouble of the instance.
func (f *finder) add(in *facts.Instance, t *api.Trouble) {
	t.Group, t.Instance, t.Instances = in.Group.Name, facts.InstanceName(in.Group.Name, in.Index, in.Node), 1
	if f.of.Instance != "" && t.Instance != f.of.Instance || f.of.Version != nil && t.JobVersion != *f.of.Version {
		return
	}
	key := troubleKey{f.group, t.JobVersion, t.Kind, t.Task, t.Service, t.Check, t.ExitCode, t.Signal, t.StatusCode}
	if told := f.same[key]; told != nil {
		told.Instances++
		return
	}
	f.same[key] = t
	f.all = append(f.all, t)
}

// look finds what is wrong with one instance. W is the step that works on it.
func (f *finder) look(in *facts.Instance, w activeStep) {
	s, a := f.view, in.Alloc
	if w.step != nil && w.step.Next && (w.step.Action == tree.Start || w.step.Action == tree.Replace) {
		f.lookForRoom(in)
	}
	switch {
	case a == nil:
		return
	case in.State == facts.Lost, in.State == facts.Unknown, s.IsSuspect(a):
		f.add(in, f.silent(a))
		return
	case a.IsServerTerminal():
		return
	}
	found := false
	if s.HasCrashed(in) {
		f.add(in, f.crash(in, w))
		found = true
	}
	if f.addWaiting(in) {
		found = true
	}
	if !a.IsClientTerminal() {
		f.addDeclined(in)
	}
	if a.Serving != nil && !a.IsClientTerminal() {
		for _, c := range a.Serving.Failing {
			f.add(in, f.failing(in, c))
			found = true
		}
	}
	if a.IsUnhealthy() && !found && !a.IsClientTerminal() {
		f.add(in, f.unhealthy(in))
	}
}

// lookForRoom adds a trouble if no node can run the instance.
func (f *finder) lookForRoom(in *facts.Instance) {
	e := f.view.R.BlockedEvaluation(f.view.Key.Namespace, f.view.Key.ID)
	if e == nil || f.view.Job == nil {
		return
	}
	m, blocked := e.FailedGroups[in.Group.Name]
	if !blocked {
		return
	}
	t := &api.Trouble{
		Kind: api.TroubleNoRoom, JobVersion: f.view.Job.Version, At: time.Unix(0, e.CreateTime),
		Message: notPlaced(m),
	}
	if m != nil {
		t.Obstacles = slices.Concat(obstacles(api.FilterConstraint, m.ConstraintFiltered), obstacles(api.FilterResource, m.DimensionExhausted))
		slices.SortStableFunc(t.Obstacles, func(a, b api.ObstacleCount) int { return cmp.Compare(b.Nodes, a.Nodes) })
	}
	f.add(in, t)
}

func obstacles(filter string, counts map[string]int) (all []api.ObstacleCount) {
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, api.ObstacleCount{Filter: filter, Reason: reason, Nodes: counts[reason]})
	}
	return all
}

// on returns a trouble of that kind on the allocation.
func on(a *api.Allocation, kind api.TroubleKind) *api.Trouble {
	return &api.Trouble{Kind: kind, JobVersion: a.JobVersion(), Allocation: a.ID, NodeID: a.NodeID, NodeName: a.NodeName}
}

// silent returns the trouble of an allocation whose node is unreachable.
func (f *finder) silent(a *api.Allocation) *api.Trouble {
	t := on(a, api.TroubleNodeSilent)
	t.Message = fmt.Sprintf("its node %s is out of reach", cmp.Or(a.NodeName, api.ShortID(a.NodeID)))
	if n := f.view.Node(a); n == nil {
		t.Message = fmt.Sprintf("its node %s was removed", cmp.Or(a.NodeName, api.ShortID(a.NodeID)))
	} else if n.StatusUpdatedAt > 0 {
		t.At = time.Unix(n.StatusUpdatedAt, 0)
	}
	return t
}

// crash returns the trouble of a crashed instance, with its next attempt.
func (f *finder) crash(in *facts.Instance, w activeStep) *api.Trouble {
	a := in.Alloc
	t := on(a, api.TroubleExited)
	t.At, t.Message, t.Log = reschedule.FailedAt(a), cmp.Or(a.ClientDescription, "it failed"), api.LogStderr
	if why := a.Rejection(); why != "" {
		t.Kind, t.Message = api.TroubleSetup, why
	}
	if c := a.Crashes; c != nil && c.Count > 0 {
		t.At, t.Count, t.Message = time.Unix(0, c.At), c.Count, c.Reason
		t.Kind, t.Task, t.ExitCode, t.Signal = cmp.Or(c.Kind, t.Kind), c.Task, c.ExitCode, c.Signal
		if next := time.Unix(0, c.Next); next.After(f.view.Now) && !a.IsClientTerminal() {
			t.NextAttempt = next
		}
		if c.At < a.CreateTime && a.PreviousAllocation != "" { // its predecessor did
			t.Allocation = a.PreviousAllocation
			if in.Last != nil && in.Last.ID == a.PreviousAllocation {
				t.NodeID, t.NodeName, t.JobVersion = in.Last.NodeID, in.Last.NodeName, in.Last.JobVersion()
			}
		}
	}
	t.Message = api.Printable(t.Message, facts.LongestMessage)
	switch t.Kind {
	case api.TroubleSetup, api.TroubleStart:
		t.Log = "" // nothing of it ran
	}
	if a.IsClientTerminal() {
		if again := f.view.AttemptAt(in); again.Never {
			t.Final = true
		} else {
			t.NextAttempt = again.Due
		}
		if w.step != nil && w.step.Status == tree.Delayed {
			t.NextAttempt = w.step.Until
		}
	}
	return t
}

// failing returns the trouble of a failing check.
func (f *finder) failing(in *facts.Instance, c *api.CheckFailure) *api.Trouble {
	t := on(in.Alloc, cmp.Or(c.Kind, api.TroubleCheckFailed))
	t.Service, t.Check, t.At, t.Log = c.Service, c.Check, time.Unix(0, c.Since), api.LogStderr
	t.Answer = api.Printable(c.Answer, api.CheckAnswerMax)
	t.Task = cmp.Or(c.Task, onlyMain(in.Alloc))
	t.Message = facts.WhyFailing(c)
	t.StatusCode, t.ExitCode = c.StatusCode, c.ExitCode
	return t
}

// onlyMain returns the name of the allocation's main task, "" if it has several.
func onlyMain(a *api.Allocation) (name string) {
	if a.Job == nil || a.Job.Group(a.Group) == nil {
		return ""
	}
	for _, t := range a.Job.Group(a.Group).Tasks {
		if t.IsMain() {
			if name != "" {
				return ""
			}
			name = t.Name
		}
	}
	return name
}

// unhealthy returns the trouble of an instance that did not become healthy in time,
// with the reason that its node reported.
func (f *finder) unhealthy(in *facts.Instance) *api.Trouble {
	a := in.Alloc
	t := on(a, api.TroubleUnhealthy)
	t.Message, t.At = "it did not become healthy in time", a.DeploymentStatus.Timestamp
	var last *api.TaskEvent
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		state := a.TaskStates[name]
		if state == nil {
			continue
		}
		for _, e := range state.Events {
			if e != nil && e.Type == api.EventAllocUnhealthy && (last == nil || e.Time > last.Time) {
				last = e
			}
		}
	}
	if last != nil {
		t.Message = api.Printable(last.DisplayMessage, facts.LongestMessage)
	}
	return t
}
