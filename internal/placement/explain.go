// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// nearestShown is how many of the nodes closest to fitting an explanation names.
const nearestShown = 3

// Explain lists the nodes that can take one more instance of the group and, for each node
// that cannot, every obstacle. [Place], in contrast, stops at a node's first obstacle.
// Explain reads only the policy and the kept allocations of the order.
func Explain(v *View, o *Order, job *api.Job, group *api.Group) *api.GroupExplanation {
	x := newExplainer(v, o, job, group)
	e := &api.GroupExplanation{Group: group.Name, Count: group.Size()}
	everywhere := job.RunsOnEveryNode()
	if everywhere {
		e.Count = 0
	}
	counts := make(map[api.ObstacleCount]int)
	var nearest []ranked
	v.eachPage(func(first int32, p *page) {
		for i, n := range p.nodes {
			if n == nil {
				continue
			}
			found := x.node(first + int32(i))
			e.Nodes++
			if everywhere && (found.Instances > 0 || lacksOnlyRoom(found)) {
				e.Count++
				if found.Instances > 0 {
					continue // the node runs its one instance already
				}
			}
			if found.Fits {
				e.Fitting++
				continue
			}
			for _, o := range found.Obstacles {
				counts[api.ObstacleCount{Filter: o.Filter, Reason: o.Reason}]++
			}
			nearest = keepNearest(nearest, ranked{found, distance(found.Obstacles)})
		}
	})
	for c, nodes := range counts {
		c.Nodes = nodes
		e.Obstacles = append(e.Obstacles, c)
	}
	slices.SortFunc(e.Obstacles, func(a, b api.ObstacleCount) int {
		return cmp.Or(b.Nodes-a.Nodes, strings.Compare(a.Filter, b.Filter), strings.Compare(a.Reason, b.Reason))
	})
	for _, r := range nearest {
		e.Nearest = append(e.Nearest, r.node)
	}
	return e
}

// ExplainNode is Explain for one node. It returns nil if the view has no such node.
func ExplainNode(v *View, o *Order, job *api.Job, group *api.Group, nodeID string) *api.NodeExplanation {
	slot, ok := v.slots.Get(nodeID)
	if !ok || v.Node(nodeID) == nil {
		return nil
	}
	return newExplainer(v, o, job, group).node(slot)
}

// lacksOnlyRoom reports whether room is the only obstacle on the node.
func lacksOnlyRoom(n *api.NodeExplanation) bool {
	return !slices.ContainsFunc(n.Obstacles, func(o api.Obstacle) bool {
		switch o.Filter {
		case api.FilterResource, api.FilterPort, api.FilterStarting:
			return false
		}
		return true
	})
}

// A ranked is a node with its distance from fitting.
type ranked struct {
	node     *api.NodeExplanation
	distance float64
}

// keepNearest inserts r into the list of the nearest nodes, nearest first.
func keepNearest(list []ranked, r ranked) []ranked {
	if len(list) == nearestShown && r.distance >= list[nearestShown-1].distance {
		return list
	}
	at, _ := slices.BinarySearchFunc(list, r.distance, func(x ranked, d float64) int {
		if x.distance > d {
			return 1
		}
		return -1 // behind its equals
	})
	list = slices.Insert(list, at, r)
	return list[:min(len(list), nearestShown)]
}

// distance ranks nodes by the effort needed to make them fit. Room comes and goes without
// an operator, a command changes a node's status, and a node's own properties hardly ever
// change.
func distance(obstacles []api.Obstacle) float64 {
	sum := 0.0
	for _, o := range obstacles {
		switch o.Filter {
		case api.FilterStarting:
			sum++
		case api.FilterResource:
			sum += 2 + float64(o.Needed-o.Free)/float64(max(o.Needed, 1))
		case api.FilterPort:
			sum += 4
		case api.FilterDistinct:
			sum += 8
		case api.FilterStatus:
			sum += 50
		default:
			sum += 1000
		}
	}
	return sum
}

// An explainer finds every obstacle of nodes for one group.
type explainer struct {
	view   *View
	batch  *batch
	fixed  [][]api.Obstacle // by class: obstacles shared by all nodes of the class
	known  []bool
	counts []map[string]int // by distinct property: instances by value
}

func newExplainer(v *View, o *Order, job *api.Job, group *api.Group) *explainer {
	p := newPass(v, &Order{Namespace: job.Namespace, JobID: job.ID, Kept: o.Kept, Policy: o.Policy, Seed: 1})
	r := newRules(job, group, o.Policy)
	r.volumes = newVolumeNeeds(job.Namespace, group, nextIndex(o, group), o.Claims)
	b := &batch{pass: p, rules: r, need: group.Usage(), ask: r.ports, special: r.special}
	x := &explainer{view: v, batch: b, fixed: make([][]api.Obstacle, len(v.classes)), known: make([]bool, len(v.classes))}
	for _, property := range b.rules.properties {
		counts := make(map[string]int)
		for _, a := range o.Kept {
			if n := v.Node(a.NodeID); n != nil && (property.overJob || a.Group == group.Name) {
				if value, ok := property.target.of(n); ok {
					counts[value]++
				}
			}
		}
		x.counts = append(x.counts, counts)
	}
	return x
}

// nextIndex returns the lowest index of the group without a kept instance: its volumes are explained.
func nextIndex(o *Order, group *api.Group) int {
	kept := map[int]bool{}
	for _, a := range o.Kept {
		if a.Group == group.Name {
			kept[a.Index()] = true
		}
	}
	for i := range group.Size() {
		if !kept[i] {
			return i
		}
	}
	return 0
}

// node explains one node.
func (x *explainer) node(slot int32) *api.NodeExplanation {
	b := x.batch
	p, i := x.view.page(slot)
	n := p.nodes[i]
	e := &api.NodeExplanation{
		NodeID: n.ID, NodeName: n.Name, Datacenter: n.Datacenter, NodePool: n.NodePool, NodeClass: n.NodeClass,
		Group: b.rules.group.Name, Instances: int(b.pass.instances[b.rules.group.Name][slot]),
	}
	if p.ready&(1<<i) == 0 {
		e.Obstacles = append(e.Obstacles, api.Obstacle{Filter: api.FilterStatus, Reason: unready(n)})
	}
	e.Obstacles = append(e.Obstacles, x.classObstacles(p.class[i], n)...)
	for _, c := range b.rules.own {
		if !c.holds(n) {
			e.Obstacles = append(e.Obstacles, api.Obstacle{Filter: api.FilterConstraint, Reason: c.words})
		}
	}
	for i := range b.rules.volumes {
		if reason := b.rules.volumes[i].mismatch(n); reason != "" {
			e.Obstacles = append(e.Obstacles, api.Obstacle{Filter: api.FilterVolume, Reason: reason})
		}
	}
	e.Obstacles = append(e.Obstacles, x.distinct(n, slot)...)
	e.Obstacles = append(e.Obstacles, x.room(p, i)...)
	e.Fits = len(e.Obstacles) == 0
	return e
}

// unready describes why a node takes no new allocations.
func unready(n *api.Node) string {
	switch {
	case n.Status != api.NodeStatusReady:
		return "the node is " + n.Status
	case n.DrainStrategy != nil:
		return "the node is being drained"
	}
	return "the node is " + n.SchedulingEligibility
}

// classObstacles lists the obstacles shared by every node of the class.
func (x *explainer) classObstacles(class int32, n *api.Node) []api.Obstacle {
	if class < 0 || x.known[class] {
		if class < 0 {
			return nil
		}
		return x.fixed[class]
	}
	r := x.batch.rules
	var all []api.Obstacle
	add := func(filter, reason string) { all = append(all, api.Obstacle{Filter: filter, Reason: reason}) }
	if !r.inPool(n) {
		add(api.FilterPool, fmt.Sprintf("node pool %q is not %q", n.NodePool, r.pool))
	}
	if !r.inDatacenter(n) {
		add(api.FilterDatacenter, fmt.Sprintf("datacenter %q is not among %q", n.Datacenter, r.datacenters))
	}
	for _, d := range r.drivers {
		if status := n.Drivers[d]; status == nil || !status.Detected {
			add(api.FilterDriver, "missing drivers: "+d+because(status))
		} else if !status.Healthy {
			add(api.FilterDriver, "unhealthy drivers: "+d+because(status))
		}
	}
	if reason := r.networkMismatch(n); reason != "" {
		add(api.FilterNetwork, reason)
	}
	if reason := r.dockerMismatch(n); reason != "" {
		add(api.FilterDriver, reason)
	}
	if reason := r.lowPortMismatch(n); reason != "" {
		add(api.FilterNetwork, reason)
	}
	if reason := r.userMismatch(n); reason != "" {
		add(api.FilterDriver, reason)
	}
	for _, c := range r.shared {
		if !c.holds(n) {
			add(api.FilterConstraint, c.words)
		}
	}
	for _, reason := range r.special.mismatches(n) {
		add(api.FilterConstraint, reason)
	}
	x.fixed[class], x.known[class] = all, true
	return all
}

// because returns what a driver that does not work lacks, as its node says. Nodes of a class may differ in that:
// one of them speaks for all.
func because(status *api.DriverStatus) string {
	if status == nil || status.HealthDescription == "" || status.HealthDescription == "Healthy" {
		return ""
	}
	return ": " + api.Printable(status.HealthDescription, 300)
}

// distinct lists the distinct_hosts and distinct_property rules that an instance on the
// node would break.
func (x *explainer) distinct(n *api.Node, slot int32) (all []api.Obstacle) {
	r := x.batch.rules
	if r.distinctHosts && x.batch.neighbours(slot) > 0 {
		all = append(all, api.Obstacle{Filter: api.FilterDistinct, Reason: api.OperandDistinctHosts})
	}
	for i, property := range r.properties {
		switch value, ok := property.target.of(n); {
		case !ok:
			all = append(all, api.Obstacle{Filter: api.FilterConstraint, Reason: property.words + " is not set"})
		case x.counts[i][value] >= property.limit:
			all = append(all, api.Obstacle{Filter: api.FilterDistinct, Reason: property.words})
		}
	}
	return all
}

// room lists every resource that the node lacks.
func (x *explainer) room(p *page, i int) (all []api.Obstacle) {
	b, n, at := x.batch, p.nodes[i], p.at(i)
	need, free := b.demandOn(n), p.capacity[i].Sub(at.used)
	for _, d := range []struct {
		name         string
		needed, free int64
	}{
		{"cpu", need.CPU, free.CPU}, {"memory", need.MemoryMB, free.MemoryMB}, {"disk", need.DiskMB, free.DiskMB},
	} {
		if d.needed > d.free {
			all = append(all, api.Obstacle{
				Filter: api.FilterResource, Reason: "not enough " + d.name, Dimension: d.name, Needed: d.needed, Free: d.free,
			})
		}
	}
	taken := false
	for _, port := range b.ask.static {
		if at.hasPort(binding{port: port}) {
			taken = true
			all = append(all, api.Obstacle{Filter: api.FilterPort, Reason: fmt.Sprintf("port %d is taken", port)})
		}
	}
	if _, ok := b.ask.pick(n, &at, 0); !ok && !taken {
		all = append(all, api.Obstacle{Filter: api.FilterPort, Reason: "too few dynamic ports are free"})
	}
	if limit := b.pass.order.Policy.MaxStarting; limit > 0 && int(at.starting) >= limit {
		all = append(all, api.Obstacle{Filter: api.FilterStarting, Reason: fmt.Sprintf("%d allocations are starting, and no more may", at.starting)})
	}
	if reason := b.rules.volumeShortage(n, &at); reason != "" {
		all = append(all, api.Obstacle{Filter: api.FilterVolume, Reason: reason})
	}
	return append(all, b.special.shortages(n, &at)...)
}
