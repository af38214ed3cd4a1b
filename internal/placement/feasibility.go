// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reeve-run/reeve/api"
)

// A feasibility caches the verdict of a group's rules on every node class. Groups with the
// same rules share one across evaluations and jobs, so a constraint is evaluated once per
// node class and not once per evaluation. A feasibility never changes.
type feasibility struct {
	rules    rules  // without the fields that belong to one group or one goroutine
	classes  uint64 // View.classesFrom of the verdicts
	verdicts []classVerdict
	levels   []affinityLevel
	division *division // nil: see feasibility.divide
	counted  atomic.Pointer[count]
}

// A classVerdict is the verdict on a node class.
type classVerdict struct {
	within   bool // reports whether the class is in the job's pool and datacenters
	inPool   bool
	reason   string // obstacle in words; "" if feasible
	affinity float64
}

func (v *classVerdict) fits() bool { return v.within && v.reason == "" }

// An affinityLevel holds the feasible node classes with one affinity.
type affinityLevel struct {
	affinity float64
	classes  uint64 // bit set, as in summary
}

// A count holds the part of the placement metrics that depends only on node classes, not
// on the node chosen.
type count struct {
	of      *classCounts
	metrics api.PlacementMetrics
}

// feasibilityCache caches feasibilities for all evaluations. The views of a fleet share
// it.
type feasibilityCache struct {
	mu    sync.Mutex
	byKey map[string]*feasibility
	size  int // number of verdicts, approximately
}

// signatures pools buffers for signatures.
var signatures = sync.Pool{New: func() any { return new([]byte) }}

// maxVerdicts bounds the feasibility cache to about 64 MB if no two groups have the same
// rules.
const maxVerdicts = 1 << 20

// feasibilityOf returns the group's rules and their verdicts on the view's node classes.
func (v *View) feasibilityOf(job *api.Job, group *api.Group, policy Policy) (*feasibility, *rules) {
	buffer := signatures.Get().(*[]byte)
	defer signatures.Put(buffer)
	*buffer = appendSignature((*buffer)[:0], job, group, policy)
	key := *buffer
	v.cache.mu.Lock()
	s := v.cache.byKey[string(key)]
	v.cache.mu.Unlock()
	if s != nil && s.classes == v.classesFrom && len(s.verdicts) >= len(v.classes) {
		return s, s.rules.of(job, group)
	}
	var r *rules
	if s == nil {
		r = newRules(job, group, policy)
	} else {
		r = s.rules.of(job, group)
	}
	s = v.newFeasibility(s, r)
	v.cache.store(string(key), s)
	return s, r
}

// of returns the rules with the fields that belong to one job and group filled in.
func (r rules) of(job *api.Job, group *api.Group) *rules {
	r.job, r.group = job, group
	r.ports = newPortRequest(group)
	r.special = newResources(group, r.ports)
	r.volumes = newVolumeNeeds(job.Namespace, group, 0, nil)
	return &r
}

func (m *feasibilityCache) store(key string, s *feasibility) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.size += len(s.verdicts) + 64; m.size > maxVerdicts {
		clear(m.byKey)
		m.size = len(s.verdicts) + 64
	}
	m.byKey[key] = s
}

// newFeasibility judges all node classes. It takes over the verdicts of old.
func (v *View) newFeasibility(old *feasibility, r *rules) *feasibility {
	s := &feasibility{rules: *r, classes: v.classesFrom, verdicts: make([]classVerdict, 0, len(v.classes))}
	s.rules.job, s.rules.group, s.rules.ports, s.rules.special, s.rules.volumes = nil, nil, nil, nil, nil
	if old != nil && old.classes == s.classes {
		s.verdicts = append(s.verdicts, old.verdicts...)
	}
	words := make(map[string]string)
	for _, k := range v.classes[len(s.verdicts):] {
		verdict := r.judge(k.node)
		if w, ok := words[verdict.reason]; ok {
			verdict.reason = w
		} else {
			words[verdict.reason] = verdict.reason
		}
		s.verdicts = append(s.verdicts, verdict)
	}
	for class := range s.verdicts {
		if k := &s.verdicts[class]; k.fits() {
			s.levels = addLevel(s.levels, k.affinity, int32(class))
		}
	}
	s.division = s.divide(v)
	return s
}

// addLevel adds a feasible class to the level of its affinity. Levels are ordered by
// affinity, highest first.
func addLevel(levels []affinityLevel, affinity float64, class int32) []affinityLevel {
	at, found := slices.BinarySearchFunc(levels, affinity, func(l affinityLevel, a float64) int { return cmp.Compare(a, l.affinity) })
	if !found {
		levels = slices.Insert(levels, at, affinityLevel{affinity: affinity})
	}
	levels[at].classes |= classBit(class)
	return levels
}

// judge returns the verdict on n's class.
func (r *rules) judge(n *api.Node) (v classVerdict) {
	v.inPool = r.inPool(n)
	v.within = v.inPool && r.inDatacenter(n)
	if !v.within {
		return v
	}
	if v.reason = r.classMismatch(n); v.reason != "" {
		return v
	}
	for i := range r.properties {
		if p := &r.properties[i]; !p.target.unique {
			if _, ok := p.target.of(n); !ok {
				v.reason = p.words
				return v
			}
		}
	}
	for _, a := range r.affinities {
		if !a.unique && a.holds(n) {
			v.affinity += a.weight
		}
	}
	return v
}

// metrics returns the metrics of the view's nodes as far as they depend on classes alone.
// The maps are shared.
func (s *feasibility) metrics(v *View) api.PlacementMetrics {
	if c := s.counted.Load(); c != nil && c.of == v.counts {
		return c.metrics
	}
	m := api.PlacementMetrics{NodePool: s.rules.pool, NodesAvailable: make(map[string]int)}
	for i, here := range v.counts.classes {
		k, n := &s.verdicts[i], v.classes[i].node
		if k.inPool {
			m.NodesInPool += int(here.all)
		}
		if !k.within || here.ready == 0 {
			continue
		}
		m.NodesEvaluated += int(here.ready)
		m.NodesAvailable[n.Datacenter] += int(here.ready)
		if k.reason != "" {
			m.NodesFiltered += int(here.ready)
			add(&m.ConstraintFiltered, k.reason, int(here.ready))
			if n.NodeClass != "" {
				add(&m.ClassFiltered, n.NodeClass, int(here.ready))
			}
		}
	}
	s.counted.Store(&count{v.counts, m})
	return m
}

// appendSignature appends everything that newRules reads from the job and the group.
// Groups with equal signatures have equal rules.
func appendSignature(b []byte, job *api.Job, group *api.Group, policy Policy) []byte {
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	number := func(n int) { b = binary.AppendVarint(b, int64(n)) }
	flag := func(set bool) {
		if set {
			number(1)
		} else {
			number(0)
		}
	}
	weight := func(w *int8) {
		if w == nil {
			number(1000)
		} else {
			number(int(*w))
		}
	}
	constraints := func(cs []*api.Constraint) {
		number(len(cs))
		for _, c := range cs {
			text(c.LTarget)
			text(c.Operand)
			text(c.RTarget)
		}
	}
	affinities := func(as []*api.Affinity) {
		number(len(as))
		for _, a := range as {
			text(a.LTarget)
			text(a.Operand)
			text(a.RTarget)
			weight(a.Weight)
		}
	}
	spreads := func(ss []*api.Spread) {
		number(len(ss))
		for _, s := range ss {
			text(s.Attribute)
			weight(s.Weight)
			number(len(s.Targets))
			for _, t := range s.Targets {
				text(t.Value)
				number(int(t.Percent))
			}
		}
	}
	text(job.Type)
	text(job.NodePool)
	number(len(job.Datacenters))
	for _, dc := range job.Datacenters {
		text(dc)
	}
	constraints(job.Constraints)
	constraints(group.Constraints)
	affinities(job.Affinities)
	affinities(group.Affinities)
	spreads(group.Spreads)
	spreads(job.Spreads)
	text(policy.ZoneAttribute)
	if len(group.Spreads)+len(job.Spreads) > 0 || policy.ZoneAttribute != "" {
		number(group.Size())
	}
	networks := func(ns []*api.Network) {
		for _, n := range ns {
			for _, ports := range [2][]api.Port{n.ReservedPorts, n.DynamicPorts} {
				for i := range ports {
					if !isOwnNetwork(ports[i].HostNetwork) {
						number(1)
						text(ports[i].HostNetwork)
					}
				}
			}
		}
		number(0)
	}
	networks(group.Networks)
	own := group.OwnNetwork()
	flag(own != nil)
	if own != nil {
		text(api.CNIName(own.Mode))
	}
	for _, p := range group.LowPorts() {
		text(p.Driver)
		text(p.Label)
		number(p.Number)
	}
	number(len(group.Tasks))
	for _, t := range group.Tasks {
		text(t.Driver)
		if api.ByDocker(t.Driver) {
			need := api.DockerNeedOf(group, t)
			text(need.ByContainer)
			text(need.ByDaemon)
			flag(need.Network)
		}
		if api.Unveils(t) {
			number(1)
		} else {
			number(0)
		}
		constraints(t.Constraints)
		affinities(t.Affinities)
		if t.Resources == nil {
			continue
		}
		networks(t.Resources.Networks)
		number(len(t.Resources.Devices))
		for _, d := range t.Resources.Devices {
			text(d.Name)
			if d.Count == nil {
				number(-1)
			} else {
				number(int(*d.Count))
			}
			constraints(d.Constraints)
			affinities(d.Affinities)
		}
	}
	return b
}
