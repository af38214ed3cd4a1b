// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"slices"
)

// refusals collects sentences on what a job uses and Reeve does not have.
type refusals struct{ c complaints }

// never rejects what Reeve does not intend to support.
func (r *refusals) never(set bool, at, what, why string) {
	if set {
		r.c.add("%s%s is not supported: %s", at, what, why)
	}
}

// Sentences for several fields.
const (
	withoutConsul = "Reeve does not use Consul; remove it: services are in Reeve's own catalog"
	withoutVault  = "Reeve does not use Vault; remove it, and keep secrets in variables (reeve var put), which a task with an identity block reads"
	withoutCSI    = "Reeve has no CSI plugins; remove it, and use a volume of type \"host\", or the ephemeral_disk with sticky = true"
)

// Unsupported lists the features of a canonicalized job that Reeve does not support. A job that
// needs any of them is rejected: Reeve ignores no relevant setting silently. Each sentence names
// the feature before the advice, because jobspec finds its line by the first key in it.
func Unsupported(j *Job) []string {
	var r refusals
	r.never(j.Region != "global", "", fmt.Sprintf("region %q", j.Region), "Reeve has one region; remove it, or set region = \"global\"")
	r.never(j.ConsulNamespace != "", "", fmt.Sprintf("consul_namespace %q", j.ConsulNamespace), withoutConsul)
	r.never(j.VaultNamespace != "", "", fmt.Sprintf("vault_namespace %q", j.VaultNamespace), withoutVault)
	r.never(j.Multiregion != nil, "", "the multiregion block", "Reeve has one region; remove it, and register the job in each cluster")
	for _, g := range j.Groups {
		g.unsupported(&r)
	}
	return r.c
}

func (g *Group) unsupported(r *refusals) {
	at := fmt.Sprintf("group %q: ", g.Name)
	for _, name := range slices.Sorted(maps.Keys(g.Volumes)) {
		v := g.Volumes[name]
		r.never(v != nil && v.Type == "csi", at, fmt.Sprintf("the volume block %q of type \"csi\"", name), withoutCSI)
	}
	r.never(g.Consul != nil, at, "the consul block", withoutConsul)
	for _, n := range g.Networks {
		n.unsupported(at, r, true)
	}
	for _, t := range g.Tasks {
		r.never(t.Driver == "raw_exec" && g.HostDNS() != nil, at+"network: ", fmt.Sprintf("the dns block with driver \"raw_exec\" of task %q", t.Name),
			"its tasks have the node's resolver; remove the block, or use driver \"exec\"")
	}
	unsupportedServices(at, g.Services, r)
	for _, t := range g.Tasks {
		t.unsupported(fmt.Sprintf("%stask %q: ", at, t.Name), r)
	}
}

// unsupported rejects networks. own reports whether the group has the network: those of tasks are the
// node's.
func (n *Network) unsupported(at string, r *refusals, own bool) {
	at += "network: "
	isolated := own && (n.Mode == NetworkBridge || n.Mode == NetworkNone || IsCNI(n.Mode))
	r.never(!own && !n.isHost(), at, fmt.Sprintf("mode %q", n.Mode), "move the network to the group")
	r.never(n.DNS != nil && !own, at, "the dns block", "move the network to the group")
	r.never(n.CNI != nil && !(own && IsCNI(n.Mode)), at, "the cni block", "only plugins read it; remove it, or set mode = \"cni/NAME\" in the group's network")
	r.never(n.Hostname != "" && !isolated, at, fmt.Sprintf("hostname %q", n.Hostname), "tasks in the network of their node see its name; remove it, or use mode = \"bridge\"; containers have hostname in their config")
}

func unsupportedServices(at string, services []*Service, r *refusals) {
	for _, s := range services {
		at := fmt.Sprintf("%sservice %q: ", at, s.Name)
		r.never(s.Connect != nil, at, "the connect block", "Reeve has no mesh; remove it, and use route blocks or the catalog of services")
		r.never(s.Identity != nil, at, "identity of a service", withoutConsul)
		r.never(s.Provider == "consul" && s.Cluster != "" && s.Cluster != "default", at, fmt.Sprintf("cluster %q", s.Cluster), withoutConsul)
		for _, k := range s.Checks {
			r.never(k.Expose, fmt.Sprintf("%scheck %q: ", at, k.Name), "expose", "Reeve has no mesh; remove it: the node reaches the port itself")
		}
	}
}

func (t *Task) unsupported(at string, r *refusals) {
	r.never(t.Vault != nil, at, "the vault block", withoutVault)
	r.never(t.Consul != nil, at, "the consul block", withoutConsul)
	r.never(t.CSIPlugin != nil, at, "the csi_plugin block", withoutCSI)
	r.never(t.Kind != "", at, fmt.Sprintf("kind %q", t.Kind), withoutConsul)
	r.never(len(t.Scaling) > 0, at, "the scaling block of a task", "set resources in the task, and scale the group with its own scaling block")
	for _, s := range t.Secrets {
		r.never(s != nil && s.Provider == "vault", at, fmt.Sprintf("provider \"vault\" of the secret %q", s.Name), "Reeve does not use Vault; keep the secret in a variable (reeve var put), and set provider = \"nomad\"")
	}
	r.never(t.Schedule != nil, at, "the schedule block", "Nomad has it in its Enterprise edition alone; remove it, and use a job with a periodic block")
	if q := t.Resources; q != nil {
		r.never(q.NUMA != nil && q.NUMA.Affinity != "" && q.NUMA.Affinity != "none", at+"resources: ", "the numa block",
			"Nomad has it in its Enterprise edition alone; remove it or set affinity = \"none\", and reserve whole cores with cores")
		for _, n := range q.Networks {
			n.unsupported(at+"resources: ", r, false)
			for _, p := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
				r.never(p.HostNetwork != "" && p.HostNetwork != HostNetworkDefault || p.IgnoreCollision,
					at+"resources: network: ", fmt.Sprintf("port %q: host_network or ignore_collision", p.Label), "move the network to the group")
			}
		}
	}
	unsupportedServices(at, t.Services, r)
}
