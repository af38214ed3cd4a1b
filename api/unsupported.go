// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
)

// Unsupported lists the features of a canonicalized job that Reeve does not support yet. A
// job that needs any of them is rejected: Reeve ignores no relevant setting silently.
func Unsupported(j *Job) []string {
	var c complaints
	refuse := func(set bool, format string, args ...any) {
		if set {
			c.add("%s is not supported yet", fmt.Sprintf(format, args...))
		}
	}
	refuse(j.Region != "global", "region %q (the only one is \"global\")", j.Region)
	refuse(j.ConsulNamespace != "", "consul_namespace %q", j.ConsulNamespace)
	refuse(j.VaultNamespace != "", "vault_namespace %q", j.VaultNamespace)
	refuse(j.Multiregion != nil, "the multiregion block")
	for _, g := range j.Groups {
		g.unsupported(refuse)
	}
	return c
}

func (g *Group) unsupported(refuse func(bool, string, ...any)) {
	at := fmt.Sprintf("group %q: ", g.Name)
	refuse(len(g.Volumes) > 0, at+"the volume block")
	refuse(g.Consul != nil, at+"the consul block")
	for _, n := range g.Networks {
		n.unsupported(at, refuse)
	}
	unsupportedServices(at, g.Services, refuse)
	for _, t := range g.Tasks {
		t.unsupported(fmt.Sprintf("%stask %q: ", at, t.Name), refuse)
	}
}

func (n *Network) unsupported(at string, refuse func(bool, string, ...any)) {
	refuse(n.Mode != "" && n.Mode != "host", at+"network mode %q (use \"host\")", n.Mode)
	refuse(n.DNS != nil, at+"the network's dns block")
	refuse(n.CNI != nil, at+"the network's cni block")
}

func unsupportedServices(at string, services []*Service, refuse func(bool, string, ...any)) {
	for _, s := range services {
		at := fmt.Sprintf("%sservice %q: ", at, s.Name)
		refuse(s.Connect != nil, at+"the connect block")
		refuse(s.Identity != nil, at+"identity, which is for Consul")
		refuse(s.Provider == "consul" && s.Cluster != "" && s.Cluster != "default", at+"a consul cluster")
		for _, k := range s.Checks {
			refuse(k.Expose, "%scheck %q: expose", at, k.Name)
		}
	}
}

func (t *Task) unsupported(at string, refuse func(bool, string, ...any)) {
	refuse(len(t.Artifacts) > 0, at+"the artifact block")
	refuse(len(t.Templates) > 0, at+"the template block")
	refuse(t.Vault != nil, at+"the vault block")
	refuse(t.Consul != nil, at+"the consul block")
	refuse(len(t.VolumeMounts) > 0, at+"the volume_mount block")
	refuse(t.CSIPlugin != nil, at+"the csi_plugin block")
	refuse(t.Kind != "", at+"kind %q", t.Kind)
	refuse(len(t.Scaling) > 0, at+"the scaling block of a task")
	refuse(len(t.Secrets) > 0, at+"the secret block")
	refuse(len(t.Actions) > 0, at+"the action block")
	refuse(t.Schedule != nil, at+"the schedule block")
	if r := t.Resources; r != nil {
		refuse(r.NUMA != nil, at+"resources: the numa block")
		refuse(r.SecretsMB != nil && *r.SecretsMB > 0, at+"resources: secrets")
		for _, n := range r.Networks {
			n.unsupported(at, refuse)
			for _, p := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
				refuse(p.HostNetwork != "" && p.HostNetwork != HostNetworkDefault || p.IgnoreCollision,
					at+"port %q: host_network or ignore_collision in a network inside resources (move it to the group)", p.Label)
			}
		}
	}
	unsupportedServices(at, t.Services, refuse)
}

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
