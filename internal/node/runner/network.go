// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// Networks makes the networks of allocations. See package network.
type Networks interface {
	// Up makes the allocation's network, or returns the existing one. name replaces variables in
	// the texts of the job.
	Up(ctx context.Context, a *api.Allocation, n *api.Network, name func(string) string) (*api.AllocNetworkStatus, error)
	// Find returns the allocation's network; nil if it has none.
	Find(alloc string) *driver.Network
	// Release begins the removal of an allocation's network. It does not block; its result
	// completes the removal.
	Release(alloc string) (complete func() error)
}

// raiseNetwork makes the network of the allocation before its first task, if the group has its own or
// its containers share one. It returns the allocation with the network's addresses.
func (t *task) raiseNetwork(ctx context.Context, a *api.Allocation, g *api.Group, d driver.Driver) (*api.Allocation, error) {
	n, within := g.OwnNetwork(), a
	if n == nil {
		n, within = t.r.host.dockerNetwork(a, g)
	}
	if _, without := d.(interface{ WithoutNetwork() }); n == nil || without {
		return a, nil
	}
	r := t.r
	if r.host.Networks == nil {
		return nil, errors.New("this node has no networks for allocations: use mode = \"host\", or run the agent as root")
	}
	env := r.host.env(a, g, nil, driver.Dir{})
	status, err := r.host.Networks.Up(ctx, within, n, env.Replace)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.alloc = withNetwork(r.alloc, status)
	r.host.Changed(r, false)
	return withNetwork(a, status), nil
}

// withNetwork returns the allocation with a network.
func withNetwork(a *api.Allocation, status *api.AllocNetworkStatus) *api.Allocation {
	if status == nil {
		return a
	}
	c := *a
	c.NetworkStatus = status
	return &c
}

// Modes of a service's address.
const (
	addressAlloc  = "alloc"
	addressDriver = "driver"
)

// insideAddress returns where a service is reached at the allocation's own address, if its address
// mode asks for that and the allocation has one.
func (r *Runner) insideAddress(mode, label string, spec *api.Task) (address string, port int, ok bool) {
	n := r.alloc.NetworkStatus
	if mode != addressAlloc && mode != addressDriver || n == nil {
		return "", 0, false
	}
	if address = cmp.Or(n.Address, n.AddressIPv6); address == "" || !r.group.LeadsInside(label) && r.group.NetworkOf(spec) == nil {
		return "", 0, false
	}
	port, _ = strconv.Atoi(label)
	for _, p := range taskenv.Ports(r.alloc, spec) {
		if p.Label == label {
			port = inside(p)
		}
	}
	return address, port, port > 0
}

// inside returns the number at which a task listens on a port.
func inside(p api.PortMapping) int {
	if p.To > 0 {
		return p.To
	}
	return p.Value
}

// insideProbe returns the address behind the node's port at which a probe's task must listen in
// its own network.
func (r *Runner) insideProbe(p probe) (address string, ok bool) {
	n := r.alloc.NetworkStatus
	if n == nil || n.Address == "" {
		return "", false
	}
	_, at, _ := net.SplitHostPort(p.address)
	number, _ := strconv.Atoi(at)
	for _, q := range r.alloc.PortMappings() {
		if q.Value == number {
			if !r.group.LeadsInside(q.Label) {
				return "", false
			}
			number = inside(q)
			break
		}
	}
	return net.JoinHostPort(n.Address, strconv.Itoa(number)), true
}

// networkOf returns the network that a task uses instead of the node's; nil if it uses the node's.
func (h *Host) networkOf(alloc string, g *api.Group, s *api.Task) *driver.Network {
	if h.Networks == nil || g.NetworkOf(s) == nil {
		return nil
	}
	return h.Networks.Find(alloc)
}

// resolve gives the task the group's configuration of the resolver in the node's network.
func (h *Host) resolve(t *driver.Task, a *api.Allocation, g *api.Group) error {
	d := g.HostDNS()
	if d == nil || h.Resolver == nil || t.Network != nil {
		return nil
	}
	d = d.Replace(h.env(a, g, nil, driver.Dir{}).Replace)
	if problems := d.Problems(); len(problems) > 0 {
		return fmt.Errorf("network: dns: with its variables replaced: %s", strings.Join(problems, "; "))
	}
	t.DNS, t.Resolver = d, h.Resolver(d)
	return nil
}

// releaseNetwork begins the removal of the network of an ended allocation. Its ports may belong to
// another allocation from now on, whose start waits for the removal.
func (r *Runner) releaseNetwork() (complete func()) {
	if r.host.Networks == nil {
		return func() {}
	}
	remove := r.host.Networks.Release(r.id)
	return func() {
		if err := remove(); err != nil {
			r.host.Logger.Warn("cannot remove an allocation's network: the agent tries again in a minute", "allocation", r.id, "error", err)
		}
	}
}
