// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"time"
)

// Placement algorithms.
const (
	AlgorithmBinpack = "binpack" // fill nodes, so that others stay free for what is large
	AlgorithmSpread  = "spread"  // use nodes evenly
)

// SchedulerConfig is how the whole cluster schedules. It is kept in the state
// and changed at runtime.
type SchedulerConfig struct {
	Algorithm                     string           `json:"SchedulerAlgorithm"` // one of the Algorithm constants
	Preemption                    PreemptionConfig `json:"PreemptionConfig"`
	MemoryOversubscriptionEnabled bool             // tasks may use up to their memory_max
	RejectJobRegistration         bool             // only operators may register jobs
	PauseEvalBroker               bool             // evaluations are kept and not handed out

	// ZoneAttribute, if not empty, spreads the instances of every service that
	// has no spread of its own evenly over this attribute's values, as in
	// "${node.datacenter}" or "${meta.zone}".
	ZoneAttribute string
	// MaxStartingPerNode bounds how many allocations may be starting on a node
	// at once; 0: no bound.
	MaxStartingPerNode int
	// Rejections says what happens to nodes that keep refusing placements.
	Rejections RejectionConfig

	CreateIndex uint64
	ModifyIndex uint64
}

// PreemptionConfig says for which types of job allocations of lower priority
// are stopped to make room.
type PreemptionConfig struct {
	SystemSchedulerEnabled   bool
	SysBatchSchedulerEnabled bool
	BatchSchedulerEnabled    bool
	ServiceSchedulerEnabled  bool
}

// Enabled reports whether jobs of the type may preempt.
func (p PreemptionConfig) Enabled(jobType string) bool {
	switch jobType {
	case JobTypeSystem:
		return p.SystemSchedulerEnabled
	case JobTypeSysBatch:
		return p.SysBatchSchedulerEnabled
	case JobTypeBatch:
		return p.BatchSchedulerEnabled
	}
	return p.ServiceSchedulerEnabled
}

// RejectionConfig bounds how often a node may refuse what was placed on it.
type RejectionConfig struct {
	MarkIneligible bool          // beyond the threshold; else it is only reported
	NodeThreshold  int           // refusals
	NodeWindow     time.Duration // within which they count
}

// DefaultSchedulerConfig is what a new cluster starts with.
func DefaultSchedulerConfig() *SchedulerConfig {
	return &SchedulerConfig{
		Algorithm:  AlgorithmBinpack,
		Preemption: PreemptionConfig{SystemSchedulerEnabled: true},
		Rejections: RejectionConfig{NodeThreshold: 100, NodeWindow: 5 * time.Minute},
	}
}

// A NodePool is a set of nodes that jobs name. Every node is in one, and in
// NodePoolAll.
type NodePool struct {
	Name            string
	Description     string
	Meta            map[string]string
	SchedulerConfig *NodePoolSchedulerConfig `json:"SchedulerConfiguration"` // overrides the cluster's
	CreateIndex     uint64
	ModifyIndex     uint64
}

// NodePoolSchedulerConfig is what a pool does otherwise than the cluster; what
// is unset is the cluster's.
type NodePoolSchedulerConfig struct {
	Algorithm                     string `json:"SchedulerAlgorithm"`
	MemoryOversubscriptionEnabled *bool
}

// IsBuiltIn reports whether the pool can be neither changed nor deleted.
func (p *NodePool) IsBuiltIn() bool { return p.Name == NodePoolDefault || p.Name == NodePoolAll }

// Validate reports everything that is wrong with the configuration, as one
// *Error of CodeInvalid; nil when there is nothing.
func (s *SchedulerConfig) Validate() error {
	var c complaints
	checkAlgorithm(&c, s.Algorithm)
	if z := s.ZoneAttribute; z != "" && !isAttribute(z) {
		c.add(`ZoneAttribute: %q is not an attribute of a node such as "${node.datacenter}" or "${meta.zone}"`, z)
	}
	if s.MaxStartingPerNode < 0 {
		c.add("MaxStartingPerNode: %d is negative; 0 means that there is no bound", s.MaxStartingPerNode)
	}
	if r := s.Rejections; r.NodeThreshold < 0 {
		c.add("Rejections.NodeThreshold: %d is negative", r.NodeThreshold)
	} else if r.NodeWindow < 0 {
		c.add("Rejections.NodeWindow: %s is negative", r.NodeWindow)
	} else if r.MarkIneligible && (r.NodeThreshold == 0 || r.NodeWindow == 0) {
		c.add("Rejections.MarkIneligible needs a NodeThreshold and a NodeWindow above 0")
	}
	return c.err("the scheduler's configuration is not valid")
}

// Validate reports everything that is wrong with the pool, as one *Error of
// CodeInvalid; nil when there is nothing.
func (p *NodePool) Validate() error {
	var c complaints
	switch {
	case p.Name == "":
		c.add("Name is missing")
	case !isPoolName(p.Name):
		c.add("Name: %q must be of letters, digits, - and _, %d at most", p.Name, maxNameLength)
	case p.IsBuiltIn():
		c.add("Name: %q is built in and cannot be changed: make a pool of another name", p.Name)
	}
	if len(p.Description) > maxPoolDescription {
		c.add("Description: it has %d characters; %d at most", len(p.Description), maxPoolDescription)
	}
	if s := p.SchedulerConfig; s != nil && s.Algorithm != "" {
		checkAlgorithm(&c, s.Algorithm)
	}
	return c.err("the node pool is not valid")
}

const maxPoolDescription = 256

func checkAlgorithm(c *complaints, algorithm string) {
	if algorithm != AlgorithmBinpack && algorithm != AlgorithmSpread {
		c.add("SchedulerAlgorithm: %q is neither %q nor %q", algorithm, AlgorithmBinpack, AlgorithmSpread)
	}
}

// isAttribute reports whether s is one whole "${...}".
func isAttribute(s string) bool {
	name, ok := strings.CutPrefix(s, "${")
	name, closed := strings.CutSuffix(name, "}")
	return ok && closed && isName(name, "${}") && (name == "node.datacenter" || name == "node.class" || name == "node.pool" ||
		name == "node.region" || strings.HasPrefix(name, "attr.") || strings.HasPrefix(name, "meta."))
}

func isPoolName(s string) bool {
	return len(s) <= maxNameLength && isName(s, "") && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// SchedulerConfigResponse is the stored configuration.
type SchedulerConfigResponse struct {
	SchedulerConfig *SchedulerConfig
	Index           uint64
}

// SetSchedulerConfigRequest replaces the configuration. The settings that only
// Reeve has stay as they are when they are left out, so that clients that do
// not know them do not reset them.
type SetSchedulerConfigRequest struct {
	Algorithm                     string           `json:"SchedulerAlgorithm"` // "" is binpack
	Preemption                    PreemptionConfig `json:"PreemptionConfig"`
	MemoryOversubscriptionEnabled bool
	RejectJobRegistration         bool
	PauseEvalBroker               bool

	ZoneAttribute      *string
	MaxStartingPerNode *int
	Rejections         *RejectionConfig

	CreateIndex uint64 // ignored
	ModifyIndex uint64 // ignored: cas says which index must be stored
}

// Over is what the stored configuration becomes.
func (r *SetSchedulerConfigRequest) Over(stored *SchedulerConfig) *SchedulerConfig {
	c := *stored
	c.Algorithm, c.Preemption = r.Algorithm, r.Preemption
	setDefault(&c.Algorithm, AlgorithmBinpack)
	c.MemoryOversubscriptionEnabled = r.MemoryOversubscriptionEnabled
	c.RejectJobRegistration, c.PauseEvalBroker = r.RejectJobRegistration, r.PauseEvalBroker
	if r.ZoneAttribute != nil {
		c.ZoneAttribute = *r.ZoneAttribute
	}
	if r.MaxStartingPerNode != nil {
		c.MaxStartingPerNode = *r.MaxStartingPerNode
	}
	if r.Rejections != nil {
		c.Rejections = *r.Rejections
	}
	return &c
}

// SetSchedulerConfigResponse says whether the configuration was stored: it is
// not when it was changed since the index that the caller named.
type SetSchedulerConfigResponse struct {
	Updated bool
	Index   uint64
}
