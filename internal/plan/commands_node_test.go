// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

func init() {
	for _, name := range []string{"down", "up", "disconnect", "reconnect", "ineligible", "eligible"} {
		events[name] = func(w *world, args, _ []string) { w.nodeStatus(name, args) }
	}
	events["change"] = func(w *world, args, _ []string) {
		w.changeNode(args[0], func(n *api.Node) { n.Meta = pairs(args[1:]) })
	}
	events["drain"] = func(w *world, args, _ []string) { w.drain(args[0], pairs(args[1:])) }
	events["undrain"] = func(w *world, args, _ []string) {
		if w.snapshot().Node(args[0]).DrainStrategy != nil {
			w.apply(&state.SetNodeDrain{NodeID: args[0], Status: api.DrainStatusCanceled, MarkEligible: true, Time: w.now.UnixNano()})
		}
	}
	events["remove"] = func(w *world, args, _ []string) {
		w.apply(&state.DeleteNode{IDs: args})
	}
}

func (w *world) nodes(args []string) {
	count, err := strconv.Atoi(args[0])
	if err != nil {
		w.t.Fatalf("nodes: %v", err)
	}
	have := len(slices.Collect(w.snapshot().Nodes()))
	for i := range count {
		n := newNode(fmt.Sprintf("n%d", have+i+1))
		n.Meta = map[string]string{}
		for key, value := range pairs(args[1:]) {
			setNode(n, key, value)
		}
		w.putNode(n)
	}
}

// setNode sets what an option of the nodes command says.
func setNode(n *api.Node, key, value string) {
	number, _ := strconv.ParseInt(value, 10, 64)
	switch key {
	case "cpu":
		n.Resources.CPU.CPUShares = number
	case "memory":
		n.Resources.Memory.MemoryMB = number
	case "dc":
		n.Datacenter = value
	case "class":
		n.NodeClass = value
	case "pool":
		n.NodePool = value
	case "driver":
		n.Drivers = map[string]*api.DriverStatus{}
		for _, name := range strings.Split(value, ",") {
			n.Drivers[name] = &api.DriverStatus{Detected: true, Healthy: true}
		}
	case "device":
		name, count, _ := strings.Cut(value, ":")
		of := strings.Split(name, "/")
		d := &api.NodeDeviceGroup{Vendor: of[0], Type: of[1], Name: of[2]}
		have, _ := strconv.Atoi(count)
		for i := range have {
			d.Instances = append(d.Instances, &api.NodeDevice{ID: fmt.Sprintf("%s-%d", of[2], i), Healthy: true})
		}
		n.Resources.Devices = append(n.Resources.Devices, d)
	default:
		n.Meta[key] = value
	}
}

func pairs(args []string) map[string]string {
	m := make(map[string]string)
	for _, a := range args {
		key, value, _ := strings.Cut(a, "=")
		m[key] = value
	}
	return m
}

func (w *world) nodeStatus(verb string, names []string) {
	for _, name := range names {
		switch verb {
		case "ineligible", "eligible":
			if n := w.snapshot().Node(name); n != nil && n.DrainStrategy != nil {
				continue // refused until the drain ends
			}
			w.apply(&state.SetNodeEligibility{NodeID: name, Eligibility: verb, Time: w.now.UnixNano()})
		default:
			status := map[string]string{
				"down": api.NodeStatusDown, "up": api.NodeStatusReady,
				"disconnect": api.NodeStatusDisconnected, "reconnect": api.NodeStatusReady,
			}[verb]
			w.apply(&state.UpdateNodeStatus{NodeID: name, Status: status, Time: w.now.UnixNano()})
		}
	}
}

// changeNode stores a node as its agent or an operator changed it.
func (w *world) changeNode(name string, change func(*api.Node)) {
	w.t.Helper()
	n := w.snapshot().Node(name).Copy()
	change(n)
	w.putNode(n)
}

func (w *world) putNode(n *api.Node) {
	w.t.Helper()
	n.ComputedClass = api.ComputeClass(n)
	w.apply(&state.RegisterNode{Node: n})
}

// drain says that the node is to be emptied; which allocation's turn it is, the
// command migrate tells.
func (w *world) drain(name string, options map[string]string) {
	deadline, _ := time.ParseDuration(options["deadline"])
	strategy := &api.DrainStrategy{DrainSpec: api.DrainSpec{Deadline: deadline}, StartedAt: w.now}
	if deadline > 0 {
		strategy.ForceDeadline = w.now.Add(deadline)
	}
	w.apply(&state.SetNodeDrain{NodeID: name, Strategy: strategy, Time: w.now.UnixNano()})
}

func (w *world) suits(name string) string {
	var out strings.Builder
	for _, g := range w.newest().Groups {
		reason, ok := placement.IsFeasible(w.newest(), g, w.snapshot().Node(name))
		if ok {
			reason = "suits"
		}
		fmt.Fprintf(&out, "%s: %s\n", g.Name, reason)
	}
	return out.String()
}

// attempts lists what led to each live allocation.
func (w *world) attempts() string {
	var out strings.Builder
	for _, a := range w.allocations() {
		if a.IsServerTerminal() || a.RescheduleTracker == nil {
			continue
		}
		fmt.Fprintf(&out, "%s:", describe(a))
		for _, e := range a.RescheduleTracker.Events {
			fmt.Fprintf(&out, " from %s after %s", e.PrevNodeID, e.Delay)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
