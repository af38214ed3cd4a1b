// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"time"
)

// Placement algorithms.
const (
	AlgorithmBinpack = "binpack" // fill nodes, so that others stay free for large instances
	AlgorithmSpread  = "spread"  // spread load evenly over nodes
)

// SchedulerConfig is the configuration of the cluster's scheduler. It is part of the state
// and can be changed at runtime.
type SchedulerConfig struct {
	Algorithm                     string           `json:"SchedulerAlgorithm"` // one of the Algorithm constants
	Preemption                    PreemptionConfig `json:"PreemptionConfig"`
	MemoryOversubscriptionEnabled bool             // tasks may use up to their memory_max
	RejectJobRegistration         bool             // only operators may register jobs
	PauseEvalBroker               bool             // evaluations are queued but not delivered

	// ZoneAttribute, if not empty, is the attribute over whose values the instances of
	// every service without its own spread are spread evenly, as in "${node.datacenter}"
	// or "${meta.zone}".
	ZoneAttribute string
	// MaxStartingPerNode is the maximum number of concurrently starting allocations per
	// node; 0: no limit.
	MaxStartingPerNode int
	// Rejections configures the handling of nodes that keep rejecting placements.
	Rejections RejectionConfig

	CreateIndex uint64
	ModifyIndex uint64
}

// PreemptionConfig determines the job types that may stop allocations of lower priority to
// make room.
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

// RejectionConfig limits a node's rejections of allocations.
type RejectionConfig struct {
	MarkIneligible bool          // mark the node ineligible beyond the threshold; otherwise only report it
	NodeThreshold  int           // number of rejections
	NodeWindow     time.Duration // time window in which rejections count
}

// DefaultSchedulerConfig returns the configuration of a new cluster.
func DefaultSchedulerConfig() *SchedulerConfig {
	return &SchedulerConfig{
		Algorithm:  AlgorithmBinpack,
		Preemption: PreemptionConfig{SystemSchedulerEnabled: true},
		Rejections: RejectionConfig{NodeThreshold: 100, NodeWindow: 5 * time.Minute},
	}
}

// A NodePool is a set of nodes that jobs refer to by name. Every node is in one pool, and
// in NodePoolAll.
type NodePool struct {
	Name            string
	Description     string
	Meta            map[string]string
	SchedulerConfig *NodePoolSchedulerConfig `json:"SchedulerConfiguration"` // overrides the cluster's
	CreateIndex     uint64
	ModifyIndex     uint64
}

// NodePoolSchedulerConfig overrides the cluster's configuration for a pool. Unset fields
// take the cluster's value.
type NodePoolSchedulerConfig struct {
	Algorithm                     string `json:"SchedulerAlgorithm"`
	MemoryOversubscriptionEnabled *bool
}

// IsBuiltIn reports whether the pool can be neither changed nor deleted.
func (p *NodePool) IsBuiltIn() bool { return p.Name == NodePoolDefault || p.Name == NodePoolAll }

// Validate returns an *Error of CodeInvalid that lists everything that is wrong with the
// configuration, or nil.
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

// Validate returns an *Error of CodeInvalid that lists everything that is wrong with the
// pool, or nil.
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

// isAttribute reports whether s is exactly one "${...}".
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

// SetSchedulerConfigRequest replaces the configuration. Settings that only Reeve has stay
// unchanged if they are unset, so that clients that do not know them do not reset them.
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
	ModifyIndex uint64 // ignored: the cas parameter holds the index to compare
}

// Over returns the configuration that results from applying the request to the stored one.
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

// SetSchedulerConfigResponse reports whether the configuration was stored. It was not if
// it changed since the index that the caller named.
type SetSchedulerConfigResponse struct {
	Updated bool
	Index   uint64
}
