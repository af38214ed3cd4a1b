// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Warnings lists the parts of a canonicalized job that are valid but probably unintended, or
// that have no effect.
func (j *Job) Warnings() []string {
	var c complaints
	j.warnOfPayload(&c)
	for _, g := range j.Groups {
		warnOfConsul(&c, fmt.Sprintf("group %q", g.Name), g.Services)
		for _, t := range g.Tasks {
			warnOfConsul(&c, fmt.Sprintf("group %q, task %q", g.Name, t.Name), t.Services)
		}
		if j.RunsOnEveryNode() && len(g.Affinities)+len(g.Spreads)+len(j.Affinities)+len(j.Spreads) > 0 {
			c.add("group %q: affinity and spread have no effect: a %s job runs on every node that suits", g.Name, j.Type)
		}
		if u := g.Update; u != nil && !j.RunsOnEveryNode() && u.MaxParallel != nil && *u.MaxParallel > g.Size() && g.Size() > 0 && *u.MaxParallel > 1 {
			c.add("group %q: update max_parallel %d is more than its count %d", g.Name, *u.MaxParallel, g.Size())
		}
		warnOfIdle(&c, g)
		for _, t := range g.Tasks {
			if t.Resources == nil {
				continue
			}
			if t.Resources.IOPS != nil {
				c.add("group %q, task %q: resources: iops has no effect", g.Name, t.Name)
			}
			if len(t.Resources.Networks) > 0 {
				c.add("group %q, task %q: a network inside resources is deprecated: move it to the group", g.Name, t.Name)
			}
		}
	}
	return c
}

// warnOfConsul warns about services for Consul.
func warnOfConsul(c *complaints, at string, services []*Service) {
	for _, s := range services {
		if s.Provider == "consul" {
			c.add("%s, service %q: provider = \"consul\": Reeve does not use Consul; the service is in Reeve's own catalog, as with provider = \"nomad\"", at, s.Name)
		}
	}
}

// defaultStagger is what Canonicalize sets, and so no decision of the user.
const defaultStagger = 30 * time.Second

// warnOfIdle warns about settings of a group that Nomad has, and that have no effect here.
func warnOfIdle(c *complaints, g *Group) {
	at := fmt.Sprintf("group %q", g.Name)
	idle := func(set bool, at, what, instead string) {
		if set {
			c.add("%s: %s has no effect; %s", at, what, instead)
		}
	}
	if u := g.Update; u != nil && u.Stagger != nil {
		idle(*u.Stagger != defaultStagger, at+": update", "stagger", "use min_healthy_time")
	}
	services := slices.Clone(g.Services)
	for _, t := range g.Tasks {
		services = append(services, t.Services...)
	}
	for _, n := range g.Networks {
		var keys []string
		for _, k := range []struct {
			set  bool
			name string
		}{{n.MBits != nil, "mbits"}, {n.Device != "", "device"}, {n.CIDR != "", "cidr"}, {n.IP != "", "ip"}} {
			if k.set {
				keys = append(keys, k.name)
			}
		}
		idle(len(keys) > 0, at+", network", strings.Join(keys, ", "), "choose the address with host_network of a port")
	}
	for _, s := range services {
		at := fmt.Sprintf("%s, service %q", at, s.Name)
		idle(s.EnableTagOverride, at, "enable_tag_override", "it is for Consul")
		idle(len(s.TaggedAddresses) > 0, at, "tagged_addresses", "it is for Consul: address sets the one in the catalog")
		idle(s.Kind != "", at, "kind", "it is for Consul")
		for _, k := range s.Checks {
			idle(k.Advertise != "", fmt.Sprintf("%s, check %q", at, k.Name), "advertise", "it is for Consul: address_mode and port set the target")
		}
	}
}
