// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Instances returns the present instances of the job: those of each group in declared
// order, by index (or by node, if the job runs on every node). The allocations beside an
// instance follow it: a canary, an evacuated or a suspect allocation. Allocations without
// an instance come last: those above the count, and orphans. Job may be nil.
func Instances(r facts.Reader, key api.NamespacedID, job *api.Job, now time.Time) []*api.Instance {
	v := Derive(r, key, job, now)
	defer v.Release()
	works := v.working()
	size := 0
	for _, g := range v.Groups {
		size += len(g.Instances) + len(g.Canaries) + len(g.Excess)
	}
	size += len(v.Left)
	left := orphansLeft(v.Left)
	rows := instanceRows{view: v, all: make([]*api.Instance, 0, size), made: make([]api.Instance, size)}
	departing := v.departing()
	for _, g := range v.Groups {
		canaries, orphans := g.Canaries, left[g.Name]
		delete(left, g.Name)
		for i := range g.Instances {
			in := &g.Instances[i]
			rows.addInstance(in, works[in.Place()], departing)
			for in.Node == "" && len(orphans) > 0 && orphans[0].Index() <= in.Index {
				rows.addOrphan(g, orphans[0])
				orphans = orphans[1:]
			}
			for len(canaries) > 0 && canaries[0].Index <= in.Index {
				rows.addInstance(&canaries[0], activeStep{}, nil)
				canaries = canaries[1:]
			}
		}
		for i := range canaries {
			rows.addInstance(&canaries[i], activeStep{}, nil)
		}
		from := len(rows.all)
		for _, l := range g.Excess {
			row := rows.allocationRow(g, l.Alloc.Index(), "", l.Alloc)
			row.Message = cmp.Or(row.Message, l.Reason.Text())
		}
		if len(orphans) > 0 {
			for _, a := range orphans {
				rows.addOrphan(g, a)
			}
			slices.SortStableFunc(rows.all[from:], func(a, b *api.Instance) int { return cmp.Compare(a.Index, b.Index) })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		for _, a := range left[name] {
			rows.addOrphan(&facts.Group{Name: name}, a)
		}
	}
	return rows.all
}

// orphansLeft are orphans that are left alone, by group and index.
func orphansLeft(all []*api.Allocation) map[string][]*api.Allocation {
	if len(all) == 0 {
		return nil
	}
	left := map[string][]*api.Allocation{}
	for _, a := range all {
		left[a.Group] = append(left[a.Group], a)
	}
	for _, some := range left {
		slices.SortFunc(some, func(a, b *api.Allocation) int {
			return cmp.Or(cmp.Compare(a.Index(), b.Index()), cmp.Compare(a.ID, b.ID))
		})
	}
	return left
}

// whyStale explains an orphan that continues to run.
const whyStale = "no known registered job specifies it; it continues, because its domain is stale"

// addOrphan makes the row of an orphan that is left alone.
func (m *instanceRows) addOrphan(g *facts.Group, a *api.Allocation) {
	row := m.allocationRow(g, a.Index(), "", a)
	row.Message = cmp.Or(row.Message, whyStale)
}

// A instanceRows makes the rows of a job's instances.
type instanceRows struct {
	view *View
	all  []*api.Instance
	made []api.Instance // room for those to come
	zone string         // attribute
	read bool           // zone was
}

// row returns a new row to be filled in.
func (m *instanceRows) row(g *facts.Group, index int, node string) *api.Instance {
	if len(m.made) == 0 {
		m.made = make([]api.Instance, 4)
	}
	row := &m.made[0]
	m.made = m.made[1:]
	s := m.view
	*row = api.Instance{
		Namespace: s.Key.Namespace, JobID: s.Key.ID, Name: facts.InstanceName(g.Name, index, node),
		Group: g.Name, Index: index, State: api.InstanceUnclaimed, Presence: api.PresenceOrdinary, NodeID: node,
	}
	if s.Job != nil {
		row.Domain, row.JobVersion, row.ModificationTag.Index = s.Job.Domain, s.Job.Version, s.Job.JobModifyIndex
	}
	m.all = append(m.all, row)
	return row
}

// addInstance makes the rows of one instance.
func (m *instanceRows) addInstance(in *facts.Instance, w activeStep, departing map[decision.Place][]*api.Allocation) {
	s, a := m.view, in.Alloc
	var row *api.Instance
	leaves := a != nil && (in.State == facts.Lost || in.IsReplaced())
	if a == nil || leaves {
		row = m.vacantRow(in)
	} else {
		row = m.allocationRow(in.Group, in.Index, in.Node, a)
		m.setProgress(row, in, w)
	}
	row.Canary = in.Canary
	if d := s.Paused(in, nil); d != nil {
		row.Paused, row.Message, row.Routable = true, decision.Describe("paused", d), false
		if row.State == api.InstanceRunning && !anyRuns(a) {
			row.State = api.InstanceClaimed
		}
	}
	if w.step != nil {
		row.Plan, row.Step = w.plan, w.step.Name()
		if row.State != api.InstanceRunning && row.Message == "" {
			row.Message = w.step.Why
		}
		if w.step.Status == tree.Delayed {
			row.Until = w.step.Until
		}
	}
	if leaves && s.IsSuspect(a) {
		m.allocationRow(in.Group, in.Index, in.Node, a)
	}
	for _, a := range departing[in.Place()] {
		m.allocationRow(in.Group, in.Index, in.Node, a)
	}
}

// anyRuns reports whether a task of the allocation runs.
func anyRuns(a *api.Allocation) bool {
	for _, t := range a.TaskStates {
		if t != nil && t.State == api.TaskStateRunning {
			return true
		}
	}
	return false
}

// vacantRow makes the row of an instance that nothing holds that is known to run.
func (m *instanceRows) vacantRow(in *facts.Instance) *api.Instance {
	row := m.row(in.Group, in.Index, in.Node)
	row.PlacementError = m.view.placementErrors()[in.Group.Name]
	last := in.Last
	if in.Alloc != nil {
		last = in.Alloc
		row.Message = m.view.WhyLost(last).Text()
	}
	if last == nil {
		if m.view.Job != nil && m.view.Job.SubmitTime > 0 {
			row.Since = time.Unix(0, m.view.Job.SubmitTime)
		}
		return row
	}
	row.Since = time.Unix(0, last.ModifyTime)
	row.ModificationTag.Index = max(row.ModificationTag.Index, last.ModifyIndex)
	crashed(row, last.Crashes)
	return row
}

// allocationRow makes the row of an allocation.
func (m *instanceRows) allocationRow(g *facts.Group, index int, node string, a *api.Allocation) *api.Instance {
	row := m.row(g, index, node)
	row.Allocation, row.NodeID, row.NodeName, row.Orphan = a.ID, a.NodeID, a.NodeName, a.Orphan
	row.JobVersion, row.TaskStates = a.JobVersion(), a.TaskStates
	row.ModificationTag = api.ModificationTag{Epoch: a.ID, Index: a.ModifyIndex}
	if m.view.Job == nil && a.Job != nil {
		row.Domain = a.Job.Domain
	}
	crashed(row, a.Crashes)
	n := m.view.Node(a)
	row.Zone = m.zoneOf(n)
	switch {
	case m.view.IsSuspect(a):
		row.Presence = api.PresenceSuspect
	case n != nil && n.DrainStrategy != nil && n.HasToLeave(a):
		row.Presence = api.PresenceEvacuating
	}
	row.State, row.Since = stateOf(a, row, m.view.Now)
	if row.State == api.InstanceRunning {
		m.setReachability(row, a, n)
	}
	def := g.Def
	if def == nil && a.Job != nil {
		def = a.Job.Group(g.Name)
	}
	if def != nil {
		row.MetricTags = resolved(def.MetricTags, index, a.ID)
	}
	return row
}

// crashed says how often, and why.
func crashed(row *api.Instance, c *api.Crashes) {
	if c != nil {
		row.CrashCount, row.CrashReason = c.Count, c.Reason
	}
}

// stateOf is the state of an instance that the allocation holds, and since when.
func stateOf(a *api.Allocation, row *api.Instance, now time.Time) (string, time.Time) {
	at := time.Unix(0, a.CreateTime)
	if a.Serving != nil && a.Serving.Since > 0 {
		at = time.Unix(0, a.Serving.Since)
	}
	next := time.Time{}
	if c := a.Crashes; c != nil && c.Next > 0 {
		next = time.Unix(0, c.Next)
	}
	switch {
	case a.ClientStatus == api.AllocClientFailed:
		row.NextAttempt = next
		return api.InstanceCrashed, reschedule.FailedAt(a)
	case a.ClientStatus == api.AllocClientComplete:
		return api.InstanceUnclaimed, reschedule.FailedAt(a)
	case a.WasUp():
		if a.Serving == nil {
			at = facts.StartedAt(a)
		}
		return api.InstanceRunning, at
	case next.After(now):
		row.NextAttempt = next
		return api.InstanceCrashed, time.Unix(0, a.Crashes.At)
	}
	return api.InstanceClaimed, at
}

// setReachability says where and whether the instance is reached, which is RUNNING.
func (m *instanceRows) setReachability(row *api.Instance, a *api.Allocation, n *api.Node) {
	row.Routable = a.TakesTraffic()
	if a.Serving != nil && !row.Routable {
		row.Message = a.Serving.Reason
	}
	ports := a.PortMappings()
	if len(ports) > 0 {
		row.Ports = make([]api.InstancePort, len(ports))
	}
	for i, p := range ports {
		row.Ports[i] = api.InstancePort{Label: p.Label, ContainerPort: cmp.Or(p.To, p.Value), HostPort: p.Value}
		if row.Address == "" && p.HostIP != "0.0.0.0" && p.HostIP != "::" {
			row.Address = p.HostIP
		}
	}
	if row.Address == "" && n != nil {
		row.Address = n.Attributes["unique.network.ip-address"]
	}
	if a.NetworkStatus != nil {
		row.InstanceAddress = cmp.Or(a.NetworkStatus.Address, a.NetworkStatus.AddressIPv6)
	}
}

// setProgress puts into the row what follows from how the instance stands in its job.
func (m *instanceRows) setProgress(row *api.Instance, in *facts.Instance, w activeStep) {
	s := m.view
	switch in.State {
	case facts.Failed:
		if w.step == nil {
			break
		}
		if !w.step.Until.IsZero() {
			row.NextAttempt = w.step.Until
		}
		if why := s.placementErrors()[in.Group.Name]; why != "" && w.step.Next {
			row.State, row.PlacementError, row.NextAttempt = api.InstanceUnclaimed, why, time.Time{}
		}
	case facts.Unknown:
		row.Message = "its node is out of reach"
	case facts.Ended:
		if s.Job != nil && s.Job.RunsToCompletion() {
			row.State = api.InstanceComplete
		}
	}
}

// departing finds what still is, or may be, in a place that it does not hold any
// more: it is evacuated, or suspect while nothing else is up in its place.
func (v *View) departing() (all map[decision.Place][]*api.Allocation) {
	add := func(in *facts.Instance, a *api.Allocation) {
		if all == nil {
			all = make(map[decision.Place][]*api.Allocation)
		}
		all[in.Place()] = append(all[in.Place()], a)
	}
	groups := make(map[string]*facts.Group, len(v.Groups))
	for _, g := range v.Groups {
		groups[g.Name] = g
		for _, a := range g.Behind {
			if in := g.Find(a); in != nil {
				add(in, a)
			}
		}
	}
	for a := range v.R.AllocationsByJob(v.Key.Namespace, v.Key.ID) {
		if !a.IsServerTerminal() || a.IsClientTerminal() && !a.IsSuspect() {
			continue
		}
		in := groups[a.Group].Find(a)
		if in == nil || in.Alloc == a {
			continue
		}
		switch {
		case !v.IsSuspect(a):
			if !a.IsClientTerminal() && v.IsDrained(a) {
				add(in, a)
			}
		case in.Alloc == nil && in.Last == a, in.Alloc != nil && !in.Alloc.IsUp() && (a.IsRoutable() || in.Alloc.PreviousAllocation == a.ID):
			add(in, a)
		}
	}
	return all
}

// resolved are the tags of one instance.
func resolved(tags map[string]*api.MetricTag, index int, id string) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	all := make(map[string]string, len(tags))
	for name, t := range tags {
		switch {
		case t == nil:
		case t.Dynamic == api.MetricTagIndex:
			all[name] = strconv.Itoa(index)
		case t.Dynamic == api.MetricTagInstanceID:
			all[name] = id
		default:
			all[name] = t.Static
		}
	}
	return all
}

// zoneOf is the zone of a node; that of none is "".
func (m *instanceRows) zoneOf(n *api.Node) string {
	if !m.read {
		m.read = true
		if c := m.view.R.SchedulerConfig(); c != nil {
			m.zone = c.ZoneAttribute
		}
	}
	return n.Zone(m.zone)
}
