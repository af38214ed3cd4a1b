// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A TroubleFilter selects troubles. Empty fields match all.
type TroubleFilter struct {
	Instance string  // group-index
	Version  *uint64 // that the instance has, or is to have
}

// Troubles returns the current problems of the job's instances, causes before
// symptoms. Instances of a group with the same problem share one Trouble. Job may
// be nil.
func Troubles(r Reader, key api.NamespacedID, job *api.Job, of TroubleFilter, now time.Time) []*api.Trouble {
	v := Derive(r, key, job, now)
	defer v.Release()
	f := finder{view: v, of: of, same: make(map[troubleKey]*api.Trouble)}
	works := v.working()
	for i, g := range v.groups {
		f.group = i
		for in := range g.every {
			f.look(in, works[in.place()])
		}
	}
	slices.SortStableFunc(f.all, func(a, b *api.Trouble) int {
		return cmp.Or(cmp.Compare(rankOf(a.Kind), rankOf(b.Kind)), cmp.Compare(b.Instances, a.Instances))
	})
	return f.all
}

// telling lists the kinds of troubles, causes before symptoms.
var telling = []api.TroubleKind{
	api.TroubleSetup, api.TroubleStart, api.TroubleOutOfMemory, api.TroubleExited, api.TroubleKilled, api.TroubleTimeout,
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
func (f *finder) add(in *instance, t *api.Trouble) {
	t.Group, t.Instance, t.Instances = in.group.name, instanceName(in.group.name, in.index, in.node), 1
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
func (f *finder) look(in *instance, w activeStep) {
	s, a := f.view, in.alloc
	if w.step != nil && w.step.next && (w.step.action == start || w.step.action == replace) {
		f.lookForRoom(in)
	}
	switch {
	case a == nil:
		return
	case in.state == lost, in.state == unknown, s.isSuspect(a):
		f.add(in, f.silent(a))
		return
	case a.IsServerTerminal():
		return
	}
	found := false
	if s.hasCrashed(in) {
		f.add(in, f.crash(in, w))
		found = true
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
func (f *finder) lookForRoom(in *instance) {
	e := f.view.r.BlockedEvaluation(f.view.key.Namespace, f.view.key.ID)
	if e == nil || f.view.job == nil {
		return
	}
	m, blocked := e.FailedGroups[in.group.name]
	if !blocked {
		return
	}
	t := &api.Trouble{
		Kind: api.TroubleNoRoom, JobVersion: f.view.job.Version, At: time.Unix(0, e.CreateTime),
		Message: "no node can take it: " + strings.TrimPrefix(noRoom(m), waitsForRoom),
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
	if n := f.view.node(a); n == nil {
		t.Message = fmt.Sprintf("its node %s was removed", cmp.Or(a.NodeName, api.ShortID(a.NodeID)))
	} else if n.StatusUpdatedAt > 0 {
		t.At = time.Unix(n.StatusUpdatedAt, 0)
	}
	return t
}

// settled is how long a crashed instance must run again until its crash is over,
// unless its update block sets min_healthy_time.
const settled = 10 * time.Second

// hasCrashed reports whether the instance is down because it crashed, or has not
// been up again for long.
func (s *facts) hasCrashed(in *instance) bool {
	a := in.alloc
	switch {
	case in.state == failed:
		return true
	case in.state == ended:
		return s.job != nil && !s.job.RunsToCompletion()
	case a.Crashes == nil || a.Crashes.Count == 0 || a.IsClientTerminal():
		return false
	case !a.IsUp():
		return true
	}
	window := settled
	if in.group.def != nil && in.group.def.Update != nil && of(in.group.def.Update.MinHealthyTime) > 0 {
		window = *in.group.def.Update.MinHealthyTime
	}
	return s.now.Before(since(a).Add(window))
}

// crash returns the trouble of a crashed instance, with its next attempt.
func (f *finder) crash(in *instance, w activeStep) *api.Trouble {
	a := in.alloc
	t := on(a, api.TroubleExited)
	t.At, t.Message, t.Log = failedAt(a), cmp.Or(a.ClientDescription, "it failed"), api.LogStderr
	if why := a.Rejection(); why != "" {
		t.Kind, t.Message = api.TroubleSetup, why
	}
	if c := a.Crashes; c != nil && c.Count > 0 {
		t.At, t.Count, t.Message = time.Unix(0, c.At), c.Count, c.Reason
		t.Kind, t.Task, t.ExitCode, t.Signal = cmp.Or(c.Kind, t.Kind), c.Task, c.ExitCode, c.Signal
		if next := time.Unix(0, c.Next); next.After(f.view.now) && !a.IsClientTerminal() {
			t.NextAttempt = next
		}
		if c.At < a.CreateTime && a.PreviousAllocation != "" { // its predecessor did
			t.Allocation = a.PreviousAllocation
			if in.last != nil && in.last.ID == a.PreviousAllocation {
				t.NodeID, t.NodeName, t.JobVersion = in.last.NodeID, in.last.NodeName, in.last.JobVersion()
			}
		}
	}
	t.Message = api.Printable(t.Message, longestMessage)
	switch t.Kind {
	case api.TroubleSetup, api.TroubleStart:
		t.Log = "" // nothing of it ran
	}
	if a.IsClientTerminal() {
		if again := f.view.attemptAt(in); again.never {
			t.Final = true
		} else {
			t.NextAttempt = again.due
		}
		if w.step != nil && w.step.status == Delayed {
			t.NextAttempt = w.step.until
		}
	}
	return t
}

// longestMessage limits foreign text in a message, in runes.
const longestMessage = 1024

// failing returns the trouble of a failing check.
func (f *finder) failing(in *instance, c *api.CheckFailure) *api.Trouble {
	t := on(in.alloc, cmp.Or(c.Kind, api.TroubleCheckFailed))
	t.Service, t.Check, t.At, t.Log = c.Service, c.Check, time.Unix(0, c.Since), api.LogStderr
	t.Answer = api.Printable(c.Answer, api.CheckAnswerMax)
	t.Task = cmp.Or(c.Task, onlyMain(in.alloc))
	t.Message = whyFailing(c)
	t.StatusCode, t.ExitCode = c.StatusCode, c.ExitCode
	return t
}

// whyFailing is a failing check as a sentence.
func whyFailing(c *api.CheckFailure) string {
	what := fmt.Sprintf("check %q of service %q", c.Check, c.Service)
	if c.Service == "" {
		what = fmt.Sprintf("monitor of task %q", c.Task)
	}
	return strings.TrimSuffix(what+" fails: "+api.Printable(c.Answer, api.CheckAnswerMax), ": ")
}

// whyUnwell is what is known to be wrong with an instance of the newest version,
// whose deployment failed; "" if nothing is.
func (s *deployer) whyUnwell(in *instance) string {
	a := in.alloc
	switch in.state {
	case placed, running, failed, ended:
	default:
		return "" // its node is the trouble, and recovery's
	}
	switch {
	case s.hasCrashed(in):
		if c := a.Crashes; c != nil && c.Reason != "" {
			return api.Printable(c.Reason, longestMessage)
		}
		return cmp.Or(a.Rejection(), s.attemptAt(in).why, "it failed")
	case a.Serving != nil && len(a.Serving.Failing) > 0 && !a.IsClientTerminal():
		return whyFailing(a.Serving.Failing[0])
	case a.IsUnhealthy():
		return "it did not become healthy in time"
	}
	return ""
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
func (f *finder) unhealthy(in *instance) *api.Trouble {
	a := in.alloc
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
		t.Message = api.Printable(last.DisplayMessage, longestMessage)
	}
	return t
}
