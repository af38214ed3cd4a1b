// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

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
