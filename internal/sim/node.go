// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/heap"
)

// A node is one simulated machine. Its loop owns all its fields; the goroutines of its session
// only talk to the servers.
type node struct {
	run    *run
	self   *api.Node
	nodes  client.Nodes
	trunk  *trunk // connection that it shares with other nodes; nil: it uses HTTP
	rng    *rand.Rand
	orders chan order

	instances map[string]*instance
	agenda    heap.Heap[appointment]
	marked    []*instance // instances to report
	sending   []*instance // instances in the report in flight
	open      int64       // number of instances in both that the run waits for
	session   *session    // nil while the node is disconnected
	power     bool
	up        atomic.Bool // reports whether it has power and a session
	used      [dimensions]int64

	placed   []arrival // first instances, in order of arrival
	replaced []time.Duration
	phase    float64 // phase of its heartbeats, 0 to 1
	finished chan struct{}
}

// An arrival holds the times, after its job's registration, at which an instance arrived and
// at which the servers knew that it runs.
type arrival struct {
	placed, running time.Duration
}

// Orders to a node.
const (
	cut     = iota // disconnect the network
	connect        // reconnect the network
	off            // switch the power off
	on
)

type order struct {
	what int
	done chan<- struct{}
}

// maxReport bounds the allocations of one report.
const maxReport = 4096

// A session is a node's connection to the servers.
type session struct {
	node    *node
	cancel  context.CancelFunc
	done    <-chan struct{}
	running sync.WaitGroup
	inbox   chan *api.NodeAllocations
	reports chan []*api.Allocation // nil on a trunk
	acks    chan error

	// Fields of a session on a trunk, guarded by trunk.mu.
	slot    int    // noSlot without one
	welcome bool   // reports whether the server has accepted the node
	content []byte // report in flight
	number  uint64 // of the last report
	mark    uint64 // of this session, in its reports
}

func newNode(r *run, self *api.Node, c *client.Client, number int) *node {
	rng := rand.New(rand.NewPCG(r.scenario.Seed, uint64(number)+2))
	return &node{
		agenda: heap.New(func(a, b *appointment) bool { return a.at.Before(b.at) }),
		run:    r, self: self, nodes: c.Nodes(), rng: rng, phase: rng.Float64(), orders: make(chan order),
		instances: map[string]*instance{}, finished: make(chan struct{}), power: true,
	}
}

// loop runs the node until ctx ends. The node is already registered.
func (n *node) loop(ctx context.Context) {
	defer close(n.finished)
	n.connect(ctx, false)
	defer func() {
		if n.session != nil {
			n.disconnect()
		}
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		n.send()
		n.recount()
		if n.agenda.Len() > 0 {
			timer.Reset(time.Until(n.agenda.Items[0].at))
		} else {
			timer.Stop()
		}
		var inbox chan *api.NodeAllocations
		var acks chan error
		if n.session != nil {
			inbox, acks = n.session.inbox, n.session.acks
		}
		select {
		case m := <-inbox:
			n.receive(m, time.Now())
		case err := <-acks:
			n.acknowledged(err, time.Now())
		case <-timer.C:
			n.keep(time.Now())
		case o := <-n.orders:
			n.obey(ctx, o)
			close(o.done)
		case <-ctx.Done():
			return
		}
	}
}

func (n *node) obey(ctx context.Context, o order) {
	switch o.what {
	case cut, off:
		if n.session != nil {
			n.disconnect()
			n.run.lose(n.instances, time.Now())
		}
		if o.what == off && n.power {
			n.power, n.marked = false, nil
			n.drop()
			for _, inst := range n.instances {
				inst.run++
				n.release(inst)
			}
			clear(n.instances)
		}
	case connect, on:
		if n.session == nil {
			n.connect(ctx, !n.power)
			n.power = true
		}
	}
}

// connect starts a session: heartbeats, the stream, and reports. A machine that was switched
// off registers first.
func (n *node) connect(ctx context.Context, register bool) {
	ctx, cancel := context.WithCancel(ctx)
	s := &session{
		node: n, cancel: cancel, done: ctx.Done(), slot: noSlot, mark: n.rng.Uint64(),
		inbox: make(chan *api.NodeAllocations, 1), acks: make(chan error, 1),
	}
	n.session = s
	n.up.Store(true)
	if n.trunk != nil {
		n.enter(ctx, s, register)
	} else {
		s.reports = make(chan []*api.Allocation)
		s.running.Go(func() { n.heartbeat(ctx, register) })
		if n.run.options.Detached {
			return
		}
		s.running.Go(func() { n.stream(ctx, s) })
		s.running.Go(func() { n.report(ctx, s) })
	}
	for _, inst := range n.instances {
		if inst.current != inst.reported {
			n.mark(inst)
		}
	}
}

// enter gives the node a slot on its trunk.
func (n *node) enter(ctx context.Context, s *session, register bool) {
	if !register {
		n.trunk.add(s)
		return
	}
	s.running.Go(func() {
		_, err := n.nodes.Register(ctx, n.self)
		n.run.count(&n.run.registrations, err, ctx)
		n.trunk.add(s)
	})
}

func (n *node) disconnect() {
	n.session.cancel()
	n.session.running.Wait()
	if n.trunk != nil {
		n.trunk.remove(n.session)
	}
	n.session = nil
	n.up.Store(false)
	n.putBack()
}

func (n *node) heartbeat(ctx context.Context, register bool) {
	ttl := n.run.ttl
	if register {
		_, err := n.nodes.Register(ctx, n.self)
		n.run.count(&n.run.registrations, err, ctx)
	}
	// Spread the heartbeats of nodes that started together.
	wait := time.Duration(float64(ttl/3) * n.phase)
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		wait = ttl / 3
		_, err := n.nodes.Heartbeat(ctx, n.self.ID)
		n.run.count(&n.run.heartbeats, err, ctx)
		if api.CodeOf(err) == api.CodeNotFound {
			_, err := n.nodes.Register(ctx, n.self)
			n.run.count(&n.run.registrations, err, ctx)
		}
	}
}

func (n *node) stream(ctx context.Context, s *session) {
	for ctx.Err() == nil {
		for m, err := range n.nodes.Stream(ctx, n.self.ID, api.Position{}) {
			if err != nil {
				n.run.count(nil, err, ctx)
				break
			}
			n.run.messages.Add(1)
			select {
			case s.inbox <- m:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (n *node) report(ctx context.Context, s *session) {
	for {
		select {
		case allocs := <-s.reports:
			_, err := n.nodes.UpdateAllocations(ctx, n.self.ID, allocs)
			n.run.count(&n.run.reports, err, ctx)
			if err != nil {
				select {
				case <-time.After(100 * time.Millisecond):
				case <-ctx.Done():
					return
				}
			}
			select {
			case s.acks <- err:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// send passes the marked instances to the session, unless a report is in flight.
func (n *node) send() {
	if n.session == nil || len(n.sending) > 0 || len(n.marked) == 0 {
		return
	}
	batch := n.marked[:min(len(n.marked), maxReport)]
	n.sending = append(n.sending, batch...)
	n.marked = append(n.marked[:0], n.marked[len(batch):]...)
	for _, inst := range n.sending {
		inst.marked = false
		inst.said = inst.current
	}
	if n.trunk != nil {
		n.trunk.report(n.session, reports(n.sending))
		return
	}
	n.session.reports <- reports(n.sending) // its goroutine waits for the reports
}

// recount makes the run wait for unreported instances, unless the node is disconnected.
func (n *node) recount() {
	open := int64(0)
	if n.session != nil {
		open = int64(len(n.marked) + len(n.sending))
	}
	if open != n.open {
		n.run.busy.Add(open - n.open)
		n.open = open
	}
}

// acknowledged handles the result of the last report.
func (n *node) acknowledged(err error, now time.Time) {
	if err != nil {
		n.putBack()
		return
	}
	for _, inst := range n.sending {
		inst.reported = inst.said
		if inst.said == running && inst.first > 0 {
			if a := &n.placed[inst.first-1]; a.running == 0 {
				a.running = now.Sub(inst.job.submittedAt())
				n.run.running.Add(1)
				n.run.touch(&n.run.lastRunning, now)
			}
		}
	}
	n.sending = n.sending[:0]
}

// putBack marks the instances of a failed report again.
func (n *node) putBack() {
	for _, inst := range n.sending {
		if n.instances[inst.id] == inst {
			n.mark(inst)
		}
	}
	n.sending = n.sending[:0]
}

// receive applies a message of the servers.
func (n *node) receive(m *api.NodeAllocations, now time.Time) {
	if m.Complete {
		there := make(map[string]bool, len(m.Allocations))
		for _, a := range m.Allocations {
			there[a.ID] = true
		}
		for id, inst := range n.instances {
			if !there[id] {
				n.forget(inst)
			}
		}
	}
	n.run.meet(m.Jobs, now)
	for _, a := range m.Allocations {
		inst := n.instances[a.ID]
		switch {
		case inst == nil && a.IsClientTerminal():
		case inst == nil:
			n.take(a, now)
		case a.DesiredStatus != api.AllocDesiredRun:
			n.stop(inst, now)
		default:
			n.launch(inst, a.Allocation, now)
		}
	}
	for _, id := range m.Removed {
		if inst := n.instances[id]; inst != nil {
			n.forget(inst)
		}
	}
}

// take adds a new allocation.
func (n *node) take(a *api.NodeAllocation, now time.Time) {
	inst := n.run.instance(a.Allocation)
	if inst == nil {
		return // its job cannot be simulated
	}
	inst.arrived = moment(now.UnixNano())
	n.instances[inst.id] = inst
	inst.current = pending
	for d, ask := range inst.ask {
		n.used[d] += ask
		n.run.used[d].Add(ask)
	}
	inst.holds = true
	if a.DesiredStatus != api.AllocDesiredRun {
		n.finish(inst, complete, now)
		return
	}
	inst.watch(a.Allocation)
	inst.launches = a.Launches
	if a.ClientStatus == api.AllocClientRunning {
		inst.reported = running // from before the power was switched off
	}
	since, replaces, back := n.run.found(inst, now)
	first := inst.job.arrives(inst.group, inst.index)
	switch {
	case inst.job.foreign:
	case replaces:
		n.replaced = append(n.replaced, since)
	case !back && (first || a.PreviousAllocation == ""):
		n.placed = append(n.placed, arrival{placed: now.Sub(inst.job.submittedAt())})
		inst.first = int32(len(n.placed))
		n.run.placed.Add(1)
		n.run.touch(&n.run.lastPlaced, now)
	}
	n.begin(inst, now)
}

// stop ends an instance on the servers' request.
func (n *node) stop(inst *instance, now time.Time) {
	if inst.stopping || inst.ended != 0 {
		return
	}
	inst.stopping = true
	inst.run++
	n.arrange(inst, doStop, inst.group.behaviour.kill, now)
}

// watch notes that a deployment awaits the instance's health.
func (inst *instance) watch(a *api.Allocation) {
	inst.deployment = a.DeploymentID != ""
	if s := a.DeploymentStatus; s != nil && s.Healthy != nil {
		if inst.health = unhealthy; *s.Healthy {
			inst.health = healthy
		}
	}
}

// launch applies the launches of an instance. A simulated task follows its launch immediately.
func (n *node) launch(inst *instance, a *api.Allocation, now time.Time) {
	inst.watch(a)
	if a.Launches == nil || inst.launches != nil && inst.launches.ID == a.Launches.ID || inst.stopping || inst.ended != 0 {
		return
	}
	inst.launches = a.Launches
	if b := inst.group.behaviour; inst.deployment && inst.health == unheard && b.healthy >= 0 && inst.current == running {
		n.arrange(inst, doHealthy, b.healthy, now)
	}
	n.mark(inst)
}

func (n *node) forget(inst *instance) {
	inst.run++
	n.release(inst)
	delete(n.instances, inst.id)
}

// release returns an instance's resources.
func (n *node) release(inst *instance) {
	if !inst.holds {
		return
	}
	inst.holds = false
	for d, ask := range inst.ask {
		n.used[d] -= ask
		n.run.used[d].Add(-ask)
	}
}
