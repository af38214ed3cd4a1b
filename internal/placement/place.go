// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "github.com/reeve-run/reeve/api"

// Place finds a node for as many requests of the order as possible, in the order of the
// requests. It then checks whether each remaining request will have room once its
// predecessor has ended, or can preempt other allocations.
func Place(v *View, o *Order) *Outcome {
	if len(o.Requests) == 0 {
		return &Outcome{}
	}
	p := newPass(v, o)
	for from := 0; from < len(o.Requests); {
		to := from + 1
		for to < len(o.Requests) && alike(o.Requests[from], o.Requests[to]) {
			to++
		}
		p.place(o.Requests[from:to])
		from = to
	}
	p.waitForRoom()
	p.out.Room = !p.out.IsWhole()
	p.explainQuotas()
	p.release()
	if o.AllAtOnce && len(p.out.Failed) > 0 {
		p.rollback()
	}
	return p.out
}

// alike reports whether the requests can share one search of the fleet.
func alike(a, b *Request) bool {
	return a.Group == b.Group && a.Job == b.Job && a.Canary == b.Canary && !needsOwnVolumes(a.Group) &&
		(a.NodeID == "") == (b.NodeID == "") && a.isSticky() == b.isSticky()
}

func (p *pass) place(requests []*Request) {
	b := p.newBatch(requests, requests[0].NodeID == "" && !requests[0].isSticky())
	if requests[0].NodeID != "" {
		p.placePinned(b, requests)
		return
	}
	if requests[0].isSticky() {
		if requests = p.placeSticky(b, requests); len(requests) == 0 {
			return
		}
		b = p.newBatch(requests, true)
	}
	placed := b.placedMetrics()
	for _, r := range requests {
		if b.overQuota(r) {
			continue
		}
		b.ignorePredecessor(r)
		a := b.placeNext(r)
		if a == nil {
			a = b.placeOnPredecessorsNode(r)
		}
		if a == nil {
			b.countPredecessor(r)
		}
		p.recordResult(b, r, a, placed)
	}
}

// recordResult records that the request was placed as a, or that it was not placed if a is
// nil.
func (p *pass) recordResult(b *batch, r *Request, a *api.Allocation, m *api.PlacementMetrics) {
	if a == nil {
		b.returnQuota(r)
		p.left = append(p.left, leftover{batch: b, request: r})
		return
	}
	a.Metrics = withHistory(m, r)
	if p.out.Place == nil {
		p.out.Place = make([]*api.Allocation, 0, len(p.order.Requests))
	}
	p.out.Place = append(p.out.Place, a)
	if r.Replaces != nil {
		p.out.Stop = append(p.out.Stop, r.Replaces)
	}
}

// A leftover is a request that no node can take now.
type leftover struct {
	batch   *batch
	request *Request
	waits   bool // reports whether it waits for its predecessor to end
}

// waitForRoom decides about the requests that were not placed. Requests whose predecessor
// is already ending come first, so that no other predecessor is stopped for room that is
// promised to them.
func (p *pass) waitForRoom() {
	for i := range p.left {
		l := &p.left[i]
		add(&p.out.Queued, l.request.Group.Name, 1)
		l.batch.eligibility(p.out)
		previous := l.request.Previous
		l.waits = l.request.Replaces == nil && previous != nil && previous.IsServerTerminal() && l.reserveRoomOf(previous)
	}
	for i := range p.left {
		l := &p.left[i]
		stop := l.request.Replaces
		if stop == nil {
			continue
		}
		l.batch.ignorePredecessor(l.request)
		if l.waits = l.reserveRoomOf(stop.Alloc); l.waits {
			p.out.Stop = append(p.out.Stop, stop)
		} else {
			l.batch.countPredecessor(l.request)
		}
	}
	for _, l := range p.left {
		if l.waits {
			add(&p.out.Waiting, l.request.Group.Name, 1)
			continue
		}
		l.batch.ignorePredecessor(l.request)
		if p.preempts(l) {
			p.out.unqueue(l.request.Group.Name)
			continue
		}
		l.batch.fail(l.request)
		l.batch.countPredecessor(l.request)
	}
}

// preempts reports whether the request takes the room of less important jobs.
func (p *pass) preempts(l leftover) bool {
	if l.batch.mayPreempt(l.request) == nil {
		return false
	}
	if refused := len(p.refused); l.batch.overQuota(l.request) {
		p.refused = p.refused[:refused] // it fails for lack of room too
		return false
	}
	if l.batch.preempt(l.request) {
		return true
	}
	l.batch.returnQuota(l.request)
	return false
}

// unqueue removes one instance of the group from the queued count.
func (o *Outcome) unqueue(group string) {
	if o.Queued[group]--; o.Queued[group] == 0 {
		delete(o.Queued, group)
	}
}

// reserveRoomOf reports whether the request would have room in place of old once old has
// ended, and reserves that room.
func (l *leftover) reserveRoomOf(old *api.Allocation) bool {
	return (l.request.NodeID == "" || l.request.NodeID == old.NodeID) && l.batch.reserveRoomOf(old)
}

func (b *batch) fail(r *Request) {
	o := b.pass.out
	if m := o.Failed[r.Group.Name]; m != nil {
		m.CoalescedFailures++
		if r.NodeID != "" {
			b.explainPinned(m, r)
		}
		return
	}
	if o.Failed == nil {
		o.Failed = make(map[string]*api.PlacementMetrics)
	}
	if r.NodeID != "" {
		m := &api.PlacementMetrics{}
		b.explainPinned(m, r)
		o.Failed[r.Group.Name] = m
		return
	}
	o.Failed[r.Group.Name] = b.explainFailure()
}

// reserveRoomOf reports whether an instance of the batch would have room in place of old
// once old has ended. If so, it reserves that room.
func (b *batch) reserveRoomOf(old *api.Allocation) bool {
	slot, ok := b.slotWithRoomAfter(old)
	if !ok {
		return false
	}
	// Until the instance is placed, no other instance may take the room that it needs
	// beyond its predecessor's.
	o := b.pass.overlay(slot)
	n, _ := b.node(slot)
	grown := b.demandOn(n).Sub(old.Usage())
	o.used = o.used.Add(api.Usage{CPU: max(grown.CPU, 0), MemoryMB: max(grown.MemoryMB, 0), DiskMB: max(grown.DiskMB, 0)})
	b.pass.count(slot, b.rules.group.Name)
	return true
}

// slotWithRoomAfter reports whether an instance of the batch would have room in place of
// old once old has ended, and returns the slot.
func (b *batch) slotWithRoomAfter(old *api.Allocation) (int32, bool) {
	if !old.HoldsResources() {
		return 0, false
	}
	slot, ok := b.pass.view.slots.Get(old.NodeID)
	if !ok {
		return 0, false
	}
	pg, i := b.pass.view.page(slot)
	n := pg.nodes[i]
	if n == nil || pg.ready&(1<<i) == 0 {
		return 0, false
	}
	if !b.verdict(pg.class[i]).fits() || b.rules.nodeMismatch(n) != "" {
		return 0, false
	}
	if b.rules.distinctHosts && b.neighbours(slot) > 0 {
		return 0, false
	}
	rest := b.pass.overlay(slot).fork()
	rest.hold(old, -1)
	return slot, b.missingResource(&candidate{used: rest.used}, n, pg.capacity[i], &rest) == ""
}

// rollback undoes all placements of an all-or-nothing order that failed in part.
func (p *pass) rollback() {
	p.out.Place, p.out.Stop, p.out.Preempt, p.out.Waiting = nil, nil, nil, nil
	p.out.Queued = nil
	for _, r := range p.order.Requests {
		add(&p.out.Queued, r.Group.Name, 1)
	}
}

// allocation creates the allocation of a placed request.
func (b *batch) allocation(r *Request, slot int32, p *picked) *api.Allocation {
	o := b.pass.order
	n, _ := b.node(slot)
	a := b.pass.blankAllocation()
	a.ID, a.Namespace, a.EvalID, a.Name = b.pass.newID(), o.Namespace, o.EvalID, r.Name
	a.NodeID, a.NodeName = n.ID, n.Name
	a.JobID, a.Job, a.Group = o.JobID, r.Job, r.Group.Name
	a.AllocatedResources = b.rules.allocateVolumes(n, b.resources.on(n, b.special, p))
	a.DesiredStatus, a.ClientStatus = api.AllocDesiredRun, api.AllocClientPending
	a.DeploymentID, a.RescheduleTracker = r.Deployment, r.Tracker
	a.Recovery, a.Launches = r.Recovery, r.Launches
	a.CreateTime, a.ModifyTime = o.Now, o.Now
	if r.Previous != nil {
		a.PreviousAllocation = r.Previous.ID
	}
	if r.Canary {
		a.DeploymentStatus = &api.AllocDeploymentStatus{Canary: true}
	}
	return a
}
