// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/node/network"
)

// A Bridge configures the networks of allocations.
type Bridge struct {
	Name    string
	Subnet  netip.Prefix
	Subnet6 netip.Prefix // invalid: no IPv6
	// Names answers DNS queries at the bridge's addresses; nil: allocations use the machine's
	// resolvers.
	Names func(gateways []netip.Addr) error
	// CNI configures networks of plugins; no directories: the usual ones.
	CNI network.CNI
}

// networksDir holds the namespaces of the machine's nodes. A restart of the machine empties it.
const networksDir = "/run/reeve-networks"

// reconcileInterval is the time between two comparisons of the kernel with the records.
const reconcileInterval = time.Minute

// networks makes the networks of the node's allocations.
type networks struct {
	fabric  *network.Fabric
	problem func() error // why the machine cannot have them; nil if it can
	cni     *cniNetworks
	log     *slog.Logger
}

// networkConfig returns the configuration of the networks, of which the ledger is nil without a data
// directory.
func (n *Node) networkConfig() network.Config {
	b := n.config.Bridge
	// A data directory belongs to one agent, and survives a change of the node's identity.
	sum := sha256.Sum256([]byte(n.config.DataDir))
	owner := hex.EncodeToString(sum[:6])
	return network.Config{
		Node: owner, Bridge: b.Name, Subnet: b.Subnet, Subnet6: b.Subnet6, Dir: filepath.Join(networksDir, owner),
		Ledger: networkLedger{n.ledger}, Logger: n.log, Names: b.Names, CNI: b.CNI.OrDefaults(),
	}
}

// openNetworks reads the records of the networks. The trial of the machine runs beside the rest of
// the agent's start.
func (n *Node) openNetworks() error {
	if n.config.Bridge == nil {
		return nil
	}
	c := n.networkConfig()
	f, err := network.New(c)
	if err != nil {
		return fmt.Errorf("open the networks of allocations: %w", err)
	}
	problem := sync.OnceValue(func() error { return network.Support(c) })
	go problem()
	n.networks = &networks{fabric: f, problem: problem, cni: newCNINetworks(c.CNI, n.log), log: n.log}
	n.host.Networks = n.networks
	return nil
}

// describe publishes whether the node has networks for allocations.
func (n *networks) describe(ctx context.Context, self *api.Node) {
	if n == nil {
		return
	}
	n.cni.describe(ctx, self.Attributes)
	if err := n.problem(); err != nil {
		self.Attributes[api.NodeAttrBridgeProblem] = err.Error()
		return
	}
	self.Attributes[api.NodeAttrBridge] = "1"
}

// Up makes an allocation's network.
func (n *networks) Up(ctx context.Context, a *api.Allocation, spec *api.Network, replace func(string) string) (*api.AllocNetworkStatus, error) {
	q := network.Request{Alloc: a.ID, Mode: spec.Mode, Hostname: replace(spec.Hostname), DNS: spec.DNS.Replace(replace)}
	if q.Hostname != "" && !api.IsMachineName(q.Hostname) {
		return nil, fmt.Errorf("hostname %q, after the replacement of its variables, is no name of a machine: use at most 63 letters, digits, dots and -", q.Hostname)
	}
	if problems := q.DNS.Problems(); len(problems) > 0 {
		return nil, fmt.Errorf("dns: with its variables replaced: %s", strings.Join(problems, "; "))
	}
	if api.IsCNI(spec.Mode) {
		q.Args = spec.CNI.Replace(replace)
		if problems := (&api.CNI{Args: q.Args}).Problems(); len(problems) > 0 {
			return nil, fmt.Errorf("cni: with its variables replaced: %s", strings.Join(problems, "; "))
		}
	}
	if a.AllocatedResources != nil && spec.Mode != network.ModeNone {
		for _, p := range a.AllocatedResources.Shared.Ports {
			port, err := mapped(p)
			if err != nil {
				return nil, err
			}
			q.Ports = append(q.Ports, port)
		}
	}
	_, status, err := n.fabric.Up(ctx, q)
	return status, err
}

// mapped converts a port of an allocation.
func mapped(p api.PortMapping) (network.Port, error) {
	to := p.To
	if to <= 0 {
		to = p.Value
	}
	if p.Value < 1 || p.Value > 65535 || to > 65535 {
		return network.Port{}, fmt.Errorf("port %q: %d to %d are no ports: use 1 to 65535", p.Label, p.Value, to)
	}
	port := network.Port{Host: uint16(p.Value), To: uint16(to), Shared: p.IgnoreCollision}
	if p.HostNetwork != "" && p.HostNetwork != api.HostNetworkDefault {
		ip, err := netip.ParseAddr(p.HostIP)
		if err != nil {
			return network.Port{}, fmt.Errorf("port %q: host network %q has the address %q, which is no IP address", p.Label, p.HostNetwork, p.HostIP)
		}
		port.IP = ip.Unmap()
	}
	return port, nil
}

// Find returns an allocation's network; nil if it has none.
func (n *networks) Find(alloc string) *driver.Network { return n.fabric.Find(alloc) }

// Release begins the removal of an allocation's network.
func (n *networks) Release(alloc string) (complete func() error) { return n.fabric.Release(alloc) }

// run compares the kernel with the records until ctx ends.
func (n *networks) run(ctx context.Context, live func(string) bool) {
	if n == nil {
		return
	}
	tick := time.NewTicker(reconcileInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			n.reconcile(live)
		}
	}
}

func (n *networks) reconcile(live func(string) bool) {
	if n == nil {
		return
	}
	if err := n.fabric.Reconcile(live); err != nil {
		n.log.Error("cannot restore the networks of allocations; the agent tries again in a minute", "error", err)
	}
}

// stop ends the plugins that remove networks: they may take long.
func (n *networks) stop() {
	if n != nil {
		n.fabric.Stop()
	}
}

func (n *networks) close() {
	if n != nil {
		n.fabric.Close()
	}
}

// lives reports whether an allocation may have running tasks.
func (n *Node) lives(alloc string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.runners[alloc]
	return r != nil && !hasEnded(r) || r == nil && n.kept[alloc] != nil
}

// networkLedger keeps the records of networks in the node's ledger.
type networkLedger struct{ l *ledger.Ledger }

func (l networkLedger) Put(key string, value []byte) func() error { return l.l.Put(key, value).Wait }

func (l networkLedger) Each(prefix string, do func(string, []byte) error) error {
	return l.l.Each(prefix, func(key string, value []byte) error { return do(key, append([]byte{}, value...)) })
}
