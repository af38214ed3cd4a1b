// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
)

// validatePorts returns the labels that checks and services may reference.
func (g *Group) validatePorts(c *complaints, at string) map[string]bool {
	labels, numbers := map[string]bool{}, map[int][]Port{}
	for _, n := range g.Networks {
		n.validatePorts(c, at+", network", g.mapsPorts(), labels, numbers)
	}
	for _, t := range g.Tasks {
		if t == nil || t.Resources == nil {
			continue
		}
		for _, n := range t.Resources.Networks {
			n.validatePorts(c, fmt.Sprintf("%s, task %q, resources, network", at, t.Name), t.mapsPorts(), labels, numbers)
		}
	}
	return labels
}

// validatePorts collects the labels and the static numbers. mapped reports whether a driver
// maps ports.
func (n *Network) validatePorts(c *complaints, at string, mapped bool, labels map[string]bool, numbers map[int][]Port) {
	for _, p := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
		at := fmt.Sprintf("%s, port %q", at, p.Label)
		if !isPortLabel(p.Label) {
			c.add("%s: the label must be letters, digits, - or _", at)
		}
		if labels[p.Label] {
			c.add("%s: it is defined twice", at)
		}
		labels[p.Label] = true
		switch {
		case p.To < -1 || p.To > 65535:
			c.add("%s: to = %d is not a port number", at, p.To)
		case p.To > 0 && p.To != p.Value && !mapped && n.isHost():
			c.add("%s: to = %d maps nothing: the tasks run in the host's network; leave it out and listen on $NOMAD_PORT_%s, or use static = %d", at, p.To, p.Label, p.To)
		}
	}
	for _, p := range n.ReservedPorts {
		at := fmt.Sprintf("%s, port %q", at, p.Label)
		if p.Value < 1 || p.Value > 65535 {
			c.add("%s: static = %d: must be between 1 and 65535", at, p.Value)
		}
		for _, other := range numbers[p.Value] {
			if p.collides(other) {
				c.add("%s: static = %d is port %q's, too", at, p.Value, other.Label)
			}
		}
		numbers[p.Value] = append(numbers[p.Value], p)
	}
}

// isHost reports whether the network is the host's.
func (n *Network) isHost() bool { return n.Mode == "" || n.Mode == "host" }

// unmapped lists the drivers that do not map ports. Other drivers may map them.
var unmapped = []string{"raw_exec", "exec", "java", "mock", "mock_driver"}

func (t *Task) mapsPorts() bool { return !slices.Contains(unmapped, t.Driver) }

func (g *Group) mapsPorts() bool {
	return slices.ContainsFunc(g.Tasks, func(t *Task) bool { return t != nil && t.mapsPorts() })
}

// collides reports whether two ports with the same number exclude each other. On different
// host networks they do not.
func (p Port) collides(q Port) bool {
	own := func(network string) bool { return network == "" || network == HostNetworkDefault }
	return !p.IgnoreCollision && !q.IgnoreCollision &&
		(own(p.HostNetwork) || own(q.HostNetwork) || p.HostNetwork == q.HostNetwork)
}
