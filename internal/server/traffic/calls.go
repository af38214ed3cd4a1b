// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// maxCallers bounds the callers of a stack that are remembered. One is enough to keep it.
const maxCallers = 64

// calls remembers the callers that declare no dependency on the stack that they call.
type calls struct {
	mu     sync.Mutex
	stacks map[api.NamespacedID]map[useKey]time.Time // time of the last call
	hosts  hosts
}

type useKey struct{ caller, want string }

// take notes the calls of a report at a time.
func (c *calls) take(snap *state.Snapshot, r *api.TrafficReport, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(r.Calls) > 0 {
		c.hosts.update(snap)
	}
	for _, call := range r.Calls {
		stack := snap.Stack(call.Namespace, call.Stack)
		last := now.Add(-call.Ago)
		if stack == nil || stack.Status == api.StackTerminated || now.Sub(last) >= lifecycle.ObservedFor {
			continue
		}
		caller := ""
		if a := callerOf(snap, r.Node, call.Allocation); a != nil {
			caller = nameCaller(snap, a, stack)
			if jobOf(a) == stack.Key() || declaresCall(snap, a, stack) {
				continue
			}
		} else {
			nodes := c.hosts.nodesAt(call.Address, r.Node)
			if declares(snap, nodes, stack) {
				continue
			}
			caller = describeCaller(snap, nodes, call.Address)
		}
		c.note(stack.Key(), useKey{caller, call.Want}, last)
	}
}

func (c *calls) note(stack api.NamespacedID, use useKey, last time.Time) {
	callers := c.stacks[stack]
	if callers == nil {
		callers = make(map[useKey]time.Time)
		c.stacks[stack] = callers
	}
	if before, known := callers[use]; known || len(callers) < maxCallers {
		if last.After(before) {
			callers[use] = last
		}
	}
}

// uses returns the calls of the last hour, and forgets older ones and those of unknown stacks.
func (c *calls) uses(known func(api.NamespacedID) bool, now time.Time) (uses []lifecycle.Use) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for stack, callers := range c.stacks {
		for use, last := range callers {
			if now.Sub(last) >= lifecycle.ObservedFor {
				delete(callers, use)
				continue
			}
			uses = append(uses, lifecycle.Use{Stack: stack, StackUse: api.StackUse{Caller: use.caller, Want: use.want, Last: last}})
		}
		if len(callers) == 0 || !known(stack) {
			delete(c.stacks, stack)
		}
	}
	return uses
}

// declares reports whether a live stack on one of the nodes declares that it calls the stack's unit and major
// version. Its callers are then kept by the declaration.
func declares(snap *state.Snapshot, nodes []string, of *api.Stack) bool {
	for _, node := range nodes {
		for a := range snap.AllocationsByNode(node) {
			if !a.IsTerminal() && declaresCall(snap, a, of) {
				return true
			}
		}
	}
	return false
}

// describeCaller names a caller for users: its address, and its node if it has one.
func describeCaller(snap *state.Snapshot, nodes []string, address string) string {
	if len(nodes) == 1 {
		if n := snap.Node(nodes[0]); n != nil {
			return fmt.Sprintf("%s (node %s)", address, n.Name)
		}
	}
	return address
}

// hosts finds nodes by their addresses.
type hosts struct {
	index  uint64 // of the nodes' table
	byAddr map[netip.Addr][]string
}

func (h *hosts) update(snap *state.Snapshot) {
	index := snap.TableIndex(state.TableNodes)
	if h.byAddr != nil && h.index == index {
		return
	}
	h.index, h.byAddr = index, make(map[netip.Addr][]string)
	for n := range snap.Nodes() {
		host, _, _ := net.SplitHostPort(n.HTTPAddr)
		texts := []string{host}
		if n.Resources != nil {
			for _, network := range n.Resources.Networks {
				texts = append(texts, network.IP)
			}
		}
		for _, text := range texts {
			if a, err := netip.ParseAddr(text); err == nil && !a.IsLoopback() && !slices.Contains(h.byAddr[a.Unmap()], n.ID) {
				h.byAddr[a.Unmap()] = append(h.byAddr[a.Unmap()], n.ID)
			}
		}
	}
}

// nodesAt returns the nodes that have an address. A loopback address is that of the router's
// own machine.
func (h *hosts) nodesAt(address, routerNode string) []string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return nil
	}
	if a.IsLoopback() {
		if routerNode == "" {
			return nil
		}
		return []string{routerNode}
	}
	return h.byAddr[a.Unmap()]
}
