// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/reeve-run/reeve/internal/dns"
	"github.com/reeve-run/reeve/internal/node"
	"github.com/reeve-run/reeve/internal/node/network"
)

// bridge returns the configuration of the networks of allocations.
func (a *Agent) bridge() (*node.Bridge, error) {
	c := a.config.Client.Bridge
	b := &node.Bridge{Name: cmp.Or(c.Name, network.DefaultBridge), Subnet: c.Subnet, Subnet6: c.Subnet6, CNI: c.CNI}
	if !b.Subnet.IsValid() {
		var err error
		if b.Subnet, err = network.ParseSubnet(network.DefaultSubnet, false); err != nil {
			return nil, err
		}
	}
	b.Names = a.names.listen
	return b, nil
}

// bridgeNames answers DNS queries of allocations at the addresses of the bridge, which exists from
// the first allocation with a network of its own.
type bridgeNames struct {
	a      *Agent
	opened chan *dns.Server // servers to run
}

func newBridgeNames(a *Agent) *bridgeNames { return &bridgeNames{a, make(chan *dns.Server, 16)} }

// listen opens a name server at each IPv4 address.
func (n *bridgeNames) listen(gateways []netip.Addr) error {
	d := n.a.config.DNS
	for _, ip := range gateways {
		if !ip.Is4() {
			continue // allocations use the other address
		}
		s, err := dns.Listen(dns.Config{
			Address: net.JoinHostPort(ip.String(), "53"), Zone: d.Zone, TTL: d.TTL, Upstreams: d.Upstreams,
			Resolvers: func() []string { return hostResolvers(gateways) }, Client: n.a.client, Logger: n.a.log,
		})
		if err != nil {
			return err
		}
		select {
		case n.opened <- s:
		default:
			s.Close()
			return fmt.Errorf("the bridge has more than %d addresses", cap(n.opened))
		}
	}
	return nil
}

// hostResolvers returns the machine's resolvers, apart from the agent itself.
func hostResolvers(gateways []netip.Addr) (all []string) {
	for _, s := range network.HostResolvers(false).Servers {
		if ip, err := netip.ParseAddr(s); err == nil && !slices.Contains(gateways, ip) {
			all = append(all, net.JoinHostPort(s, "53"))
		}
	}
	return all
}

// run serves until ctx ends.
func (n *bridgeNames) run(ctx context.Context) {
	var servers sync.WaitGroup
	defer servers.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-n.opened:
			servers.Go(func() {
				if err := s.Run(ctx); err != nil && ctx.Err() == nil {
					n.a.log.Error("cannot answer names on the bridge: names do not resolve in allocations until the agent restarts", "address", s.Addr(), "error", err)
				}
			})
		}
	}
}

// close closes the servers that never ran.
func (n *bridgeNames) close() {
	for {
		select {
		case s := <-n.opened:
			s.Close()
		default:
			return
		}
	}
}
