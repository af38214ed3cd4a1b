// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Instances returns the instances of the job as they are now: of each group in
// declared order, by index (or by node, of a job that runs on every node), each
// followed by what stands beside it: a canary, what is evacuated, what is
// suspect. Last come those that have no place: above the count, or of no
// registered job. Job may be nil.
func Instances(r Reader, key api.NamespacedID, job *api.Job, now time.Time) []*api.Instance {
	v := Derive(r, key, job, now)
	defer v.Release()
	works := v.working()
	size := 0
	for _, g := range v.groups {
		size += len(g.instances) + len(g.canaries) + len(g.excess)
	}
	size += len(v.left)
	left := orphansLeft(v.left)
	rows := instanceRows{view: v, all: make([]*api.Instance, 0, size), made: make([]api.Instance, size)}
	departing := v.departing()
	for _, g := range v.groups {
		canaries, orphans := g.canaries, left[g.name]
		delete(left, g.name)
		for i := range g.instances {
			in := &g.instances[i]
			rows.addInstance(in, works[in.place()], departing)
			for in.node == "" && len(orphans) > 0 && orphans[0].Index() <= in.index {
				rows.addOrphan(g, orphans[0])
				orphans = orphans[1:]
			}
			for len(canaries) > 0 && canaries[0].index <= in.index {
				rows.addInstance(&canaries[0], activeStep{}, nil)
				canaries = canaries[1:]
			}
		}
		for i := range canaries {
			rows.addInstance(&canaries[i], activeStep{}, nil)
		}
		from := len(rows.all)
		for _, l := range g.excess {
			row := rows.allocationRow(g, l.alloc.Index(), "", l.alloc)
			row.Message = cmp.Or(row.Message, l.reason.Text())
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
			rows.addOrphan(&group{name: name}, a)
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
const whyStale = "no registered job is known to want it; it goes on, because its domain is stale"

// addOrphan makes the row of an orphan that is left alone.
func (m *instanceRows) addOrphan(g *group, a *api.Allocation) {
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
func (m *instanceRows) row(g *group, index int, node string) *api.Instance {
	if len(m.made) == 0 {
		m.made = make([]api.Instance, 4)
	}
	row := &m.made[0]
	m.made = m.made[1:]
	s := m.view
	*row = api.Instance{
		Namespace: s.key.Namespace, JobID: s.key.ID, Name: instanceName(g.name, index, node),
		Group: g.name, Index: index, State: api.InstanceUnclaimed, Presence: api.PresenceOrdinary, NodeID: node,
	}
	if s.job != nil {
		row.Domain, row.JobVersion, row.ModificationTag.Index = s.job.Domain, s.job.Version, s.job.JobModifyIndex
	}
	m.all = append(m.all, row)
	return row
}

// addInstance makes the rows of one instance.
func (m *instanceRows) addInstance(in *instance, w activeStep, departing map[place][]*api.Allocation) {
	s, a := m.view, in.alloc
	var row *api.Instance
	leaves := a != nil && (in.state == lost || in.isReplaced())
	if a == nil || leaves {
		row = m.vacantRow(in)
	} else {
		row = m.allocationRow(in.group, in.index, in.node, a)
		m.setProgress(row, in, w)
	}
	row.Canary = in.canary
	if d := s.paused(in, nil); d != nil {
		row.Paused, row.Message, row.Routable = true, describeDecision("paused", d), false
		if row.State == api.InstanceRunning && !anyRuns(a) {
			row.State = api.InstanceClaimed
		}
	}
	if w.step != nil {
		row.Plan, row.Step = w.plan, w.step.name()
		if row.State != api.InstanceRunning && row.Message == "" {
			row.Message = w.step.why
		}
		if w.step.status == Delayed {
			row.Until = w.step.until
		}
	}
	if leaves && s.isSuspect(a) {
		m.allocationRow(in.group, in.index, in.node, a)
	}
	for _, a := range departing[in.place()] {
		m.allocationRow(in.group, in.index, in.node, a)
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
func (m *instanceRows) vacantRow(in *instance) *api.Instance {
	row := m.row(in.group, in.index, in.node)
	row.PlacementError = m.view.placementErrors()[in.group.name]
	last := in.last
	if in.alloc != nil {
		last = in.alloc
		row.Message = m.view.whyLost(last).Text()
	}
	if last == nil {
		if m.view.job != nil && m.view.job.SubmitTime > 0 {
			row.Since = time.Unix(0, m.view.job.SubmitTime)
		}
		return row
	}
	row.Since = time.Unix(0, last.ModifyTime)
	row.ModificationTag.Index = max(row.ModificationTag.Index, last.ModifyIndex)
	crashed(row, last.Crashes)
	return row
}

// allocationRow makes the row of an allocation.
func (m *instanceRows) allocationRow(g *group, index int, node string, a *api.Allocation) *api.Instance {
	row := m.row(g, index, node)
	row.Allocation, row.NodeID, row.NodeName, row.Orphan = a.ID, a.NodeID, a.NodeName, a.Orphan
	row.JobVersion, row.TaskStates = a.JobVersion(), a.TaskStates
	row.ModificationTag = api.ModificationTag{Epoch: a.ID, Index: a.ModifyIndex}
	if m.view.job == nil && a.Job != nil {
		row.Domain = a.Job.Domain
	}
	crashed(row, a.Crashes)
	n := m.view.node(a)
	row.Zone = m.zoneOf(n)
	switch {
	case m.view.isSuspect(a):
		row.Presence = api.PresenceSuspect
	case n != nil && n.DrainStrategy != nil && n.HasToLeave(a):
		row.Presence = api.PresenceEvacuating
	}
	row.State, row.Since = stateOf(a, row, m.view.now)
	if row.State == api.InstanceRunning {
		m.setReachability(row, a, n)
	}
	def := g.def
	if def == nil && a.Job != nil {
		def = a.Job.Group(g.name)
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
		return api.InstanceCrashed, failedAt(a)
	case a.ClientStatus == api.AllocClientComplete:
		return api.InstanceUnclaimed, failedAt(a)
	case a.WasUp():
		if a.Serving == nil {
			at = since(a)
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
	row.Routable = a.IsRoutable() || a.Serving == nil && !a.IsServerTerminal()
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
func (m *instanceRows) setProgress(row *api.Instance, in *instance, w activeStep) {
	s := m.view
	switch in.state {
	case failed:
		if w.step == nil {
			break
		}
		if !w.step.until.IsZero() {
			row.NextAttempt = w.step.until
		}
		if why := s.placementErrors()[in.group.name]; why != "" && w.step.next {
			row.State, row.PlacementError, row.NextAttempt = api.InstanceUnclaimed, why, time.Time{}
		}
	case unknown:
		row.Message = "its node is out of reach"
	case ended:
		if s.job != nil && s.job.RunsToCompletion() {
			row.State = api.InstanceComplete
		}
	}
}

// departing finds what still is, or may be, in a place that it does not hold any
// more: it is evacuated, or suspect while nothing else is up in its place.
func (s *View) departing() (all map[place][]*api.Allocation) {
	add := func(in *instance, a *api.Allocation) {
		if all == nil {
			all = make(map[place][]*api.Allocation)
		}
		all[in.place()] = append(all[in.place()], a)
	}
	groups := make(map[string]*group, len(s.groups))
	for _, g := range s.groups {
		groups[g.name] = g
		for _, a := range g.behind {
			if in := g.find(a); in != nil {
				add(in, a)
			}
		}
	}
	for a := range s.r.AllocationsByJob(s.key.Namespace, s.key.ID) {
		if !a.IsServerTerminal() || a.IsClientTerminal() && !a.IsSuspect() {
			continue
		}
		in := groups[a.Group].find(a)
		if in == nil || in.alloc == a {
			continue
		}
		switch {
		case !s.isSuspect(a):
			if !a.IsClientTerminal() && s.isDrained(a) {
				add(in, a)
			}
		case in.alloc == nil && in.last == a, in.alloc != nil && !in.alloc.IsUp() && (a.IsRoutable() || in.alloc.PreviousAllocation == a.ID):
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
		if c := m.view.r.SchedulerConfig(); c != nil {
			m.zone = c.ZoneAttribute
		}
	}
	return n.Zone(m.zone)
}
