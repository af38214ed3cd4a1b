// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// rules holds the requirements of a group of a job version on a node, apart from room.
type rules struct {
	job   *api.Job
	group *api.Group

	datacenters []string
	pool        string
	drivers     []string
	network     *api.Network // the group's own; nil: it has none
	docker      []dockerNeed
	lowPorts    []api.LowPort
	users       []*api.Task  // one per driver and user
	unveiled    *api.Task    // the first one that is confined to some paths
	shared      []*condition // evaluated once per node class
	own         []*condition // evaluated per node, because they read attributes unique to a node
	volumes     []volumeNeed // of one instance; evaluated per node

	ports   *portRequest
	special *resources // nil if the group asks only for amounts and ports

	distinctHosts bool // at most one instance of the group per node
	distinctJob   bool // at most one instance of the job per node
	properties    []property
	affinities    []affinity
	spreads       []spread
}

// A property is a distinct_property constraint: at most limit instances per value, counted
// over the job or the group.
type property struct {
	target  target
	words   string
	limit   int
	overJob bool
}

type affinity struct {
	*condition
	weight float64 // share of all weights, -1..1
}

func newRules(job *api.Job, group *api.Group, policy Policy) *rules {
	r := &rules{job: job, group: group, datacenters: job.Datacenters, pool: job.NodePool, network: group.OwnNetwork()}
	if r.pool == "" {
		r.pool = api.NodePoolDefault
	}
	r.constrain(job.Constraints, true)
	r.constrain(group.Constraints, false)
	affinities := slices.Concat(job.Affinities, group.Affinities)
	for _, t := range group.Tasks {
		r.constrain(t.Constraints, false)
		affinities = slices.Concat(affinities, t.Affinities)
		if !slices.Contains(r.drivers, t.Driver) {
			r.drivers = append(r.drivers, t.Driver)
		}
		if !slices.ContainsFunc(r.users, func(o *api.Task) bool { return o.Driver == t.Driver && o.User == t.User }) {
			r.users = append(r.users, t)
		}
		if r.unveiled == nil && api.Unveils(t) {
			r.unveiled = t
		}
		if api.ByDocker(t.Driver) {
			r.docker = append(r.docker, dockerNeed{t.Driver, api.DockerNeedOf(group, t)})
		}
	}
	r.lowPorts = group.LowPorts()
	r.prefer(affinities)
	r.spread(spreadsOf(job, group, policy))
	r.ports = newPortRequest(group)
	r.special = newResources(group, r.ports)
	r.volumes = newVolumeNeeds(job.Namespace, group, 0, nil)
	return r
}

func (r *rules) constrain(constraints []*api.Constraint, ofJob bool) {
	for _, c := range constraints {
		switch c.Operand {
		case api.OperandDistinctHosts:
			if on, err := strconv.ParseBool(c.RTarget); err == nil && !on {
				continue
			}
			r.distinctHosts = true
			r.distinctJob = r.distinctJob || ofJob
		case api.OperandDistinctValue:
			p := property{target: newTarget(c.LTarget), limit: 1, overJob: ofJob}
			p.words = fmt.Sprintf("distinct_property: %s", c.LTarget)
			if n, err := strconv.Atoi(c.RTarget); err == nil && n > 0 {
				p.limit = n
			}
			r.properties = append(r.properties, p)
		default:
			if cond := newCondition(c.LTarget, c.Operand, c.RTarget); cond.unique {
				r.own = append(r.own, cond)
			} else {
				r.shared = append(r.shared, cond)
			}
		}
	}
}

func (r *rules) prefer(affinities []*api.Affinity) {
	total := 0.0
	for _, a := range affinities {
		total += max(weightOf(a), -weightOf(a))
	}
	for _, a := range affinities {
		if w := weightOf(a); w != 0 {
			r.affinities = append(r.affinities, affinity{newCondition(a.LTarget, a.Operand, a.RTarget), w / total})
		}
	}
}

func weightOf(a *api.Affinity) float64 {
	if a.Weight == nil {
		return 50
	}
	return float64(*a.Weight)
}

// escaped reports whether a node's class does not determine its feasibility.
func (r *rules) escaped() bool {
	return r.readsNode() || slices.ContainsFunc(r.properties, func(p property) bool { return p.target.unique })
}

// readsNode reports whether nodes of one class may differ in what the rules read.
func (r *rules) readsNode() bool { return len(r.own) > 0 || len(r.volumes) > 0 }

// inPool reports whether the node belongs to the job's pool.
func (r *rules) inPool(n *api.Node) bool {
	return r.pool == api.NodePoolAll || r.pool == n.Pool()
}

// inDatacenter reports whether the node is in one of the job's datacenters, which may be
// globs. A job that names none may run in any.
func (r *rules) inDatacenter(n *api.Node) bool {
	if len(r.datacenters) == 0 {
		return true
	}
	return slices.ContainsFunc(r.datacenters, func(glob string) bool {
		ok, err := path.Match(glob, n.Datacenter)
		return ok && err == nil
	})
}

// classMismatch returns what makes nodes of n's class infeasible, in words, or "".
func (r *rules) classMismatch(n *api.Node) string {
	for _, d := range r.drivers {
		if status := n.Drivers[d]; status == nil || !status.Detected {
			return "missing drivers: " + d + because(status)
		} else if !status.Healthy {
			return "unhealthy drivers: " + d
		}
	}
	if reason := r.networkMismatch(n); reason != "" {
		return reason
	}
	if reason := r.dockerMismatch(n); reason != "" {
		return reason
	}
	if reason := r.lowPortMismatch(n); reason != "" {
		return reason
	}
	if reason := r.userMismatch(n); reason != "" {
		return reason
	}
	if reason := unmet(r.shared, n); reason != "" {
		return reason
	}
	return r.special.mismatch(n)
}

// networkMismatch returns why n's allocations cannot have their own networks, if the group needs
// one.
func (r *rules) networkMismatch(n *api.Node) string {
	switch {
	case r.network == nil:
		return ""
	case api.IsCNI(r.network.Mode):
		return cniMismatch(api.CNIName(r.network.Mode), n)
	}
	return missingNetwork(n)
}

// missingNetwork returns why n's allocations cannot have their own networks; "" if they can.
func missingNetwork(n *api.Node) string {
	switch {
	case n.Attributes[api.NodeAttrBridge] != "":
		return ""
	case n.Attributes[api.NodeAttrBridgeProblem] != "":
		return "missing network: " + n.Attributes[api.NodeAttrBridgeProblem]
	}
	return "missing network: the node's agent gives allocations no networks of their own"
}

// cniMismatch returns why n lacks a CNI network.
func cniMismatch(name string, n *api.Node) string {
	if n.Attributes[api.NodeAttrCNI+name] != "" {
		return ""
	}
	if problem := n.Attributes[api.NodeAttrCNIProblem+name]; problem != "" {
		return "missing network: " + problem
	}
	return "missing network: the node has no CNI network " + name + ": install its configuration in cni_config_dir"
}

// A dockerNeed is what a task needs of the node's engines.
type dockerNeed struct {
	driver string
	api.DockerNeed
}

// dockerMismatch returns why the node's engines cannot run the group's tasks of the drivers docker and podman.
func (r *rules) dockerMismatch(n *api.Node) string {
	if engines := n.Attributes[api.NodeAttrDockerEngines]; engines != "" {
		for _, need := range r.docker {
			if why := need.Mismatch(engines, missingNetwork(n)); why != "" {
				return "driver " + need.driver + ": " + why
			}
		}
	}
	return ""
}

// userMismatch returns why the node's operator does not permit the user of a task, or why the node
// cannot confine a task to its paths.
func (r *rules) userMismatch(n *api.Node) string {
	for _, t := range r.users {
		if reason := api.UserMismatch(n, t); reason != "" {
			return reason
		}
	}
	if r.unveiled != nil {
		return api.UnveilMismatch(n, r.unveiled)
	}
	return ""
}

// nodeMismatch returns what makes this node infeasible although its class is feasible.
func (r *rules) nodeMismatch(n *api.Node) string {
	if reason := unmet(r.own, n); reason != "" {
		return reason
	}
	return r.volumeMismatch(n)
}

func unmet(conditions []*condition, n *api.Node) string {
	for _, c := range conditions {
		if !c.holds(n) {
			return c.words
		}
	}
	return ""
}

// IsFeasible reports whether the node may run the group as far as this does not depend on room
// or on other instances: pool, datacenter, drivers and constraints. If not, reason names
// the obstacle.
func IsFeasible(job *api.Job, group *api.Group, n *api.Node) (reason string, ok bool) {
	return NewSuitability(job, group).Of(n)
}

// A Suitability evaluates IsFeasible for one group and many nodes. It belongs to one goroutine.
type Suitability struct {
	rules   *rules
	classes map[string]string // by computed class: the obstacle shared by all nodes of the class, or ""
}

// NewSuitability prepares the group's constraints.
func NewSuitability(job *api.Job, group *api.Group) *Suitability {
	return &Suitability{newRules(job, group, Policy{}), make(map[string]string)}
}

// Of is IsFeasible for the node.
func (s *Suitability) Of(n *api.Node) (reason string, ok bool) {
	if n == nil {
		return "the node is not registered", false
	}
	reason, known := s.classes[n.ComputedClass]
	if !known || n.ComputedClass == "" {
		reason = s.classMismatch(n)
		s.classes[n.ComputedClass] = reason
	}
	if reason == "" {
		reason = s.rules.nodeMismatch(n)
	}
	return reason, reason == ""
}

func (s *Suitability) classMismatch(n *api.Node) string {
	switch {
	case !s.rules.inPool(n):
		return fmt.Sprintf("node pool %q is not %q", n.NodePool, s.rules.pool)
	case !s.rules.inDatacenter(n):
		return fmt.Sprintf("datacenter %q is not among %q", n.Datacenter, s.rules.datacenters)
	}
	return s.rules.classMismatch(n)
}
