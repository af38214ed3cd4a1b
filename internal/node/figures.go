// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Figures are a node's measurements.
type Figures struct {
	Node        *api.Node
	Allocations map[string]int // by status: pending, running, blocked, terminal
	Allocated   api.Usage      // of the allocations that have not ended
	Checks      map[string]int // by status of their last result
	Host        *api.HostStats
	Tasks       []TaskFigures
}

// Figures measures the node and its machine.
func (n *Node) Figures() *Figures {
	ctx := n.host.Context
	node := n.Node()
	if node == nil {
		return nil
	}
	f := &Figures{Node: node, Allocations: map[string]int{}, Checks: n.checks.Counts()}
	n.mu.Lock()
	runners := n.all()
	n.mu.Unlock()
	for _, r := range runners {
		status := r.Status()
		select {
		case <-r.Ended():
			f.Allocations["terminal"]++
			continue
		default:
		}
		if r.IsWaiting() {
			status = "blocked"
		}
		f.Allocations[status]++
		f.Allocated = f.Allocated.Add(r.Allocation().Usage())
	}
	if node.Resources != nil {
		f.Host = n.meter.Read(node.Resources.CPU.PerCore(), time.Now())
		f.Tasks = n.taskMeter.read(ctx, runners, float64(node.Resources.CPU.PerCore()), time.Now())
	}
	return f
}
