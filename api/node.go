// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"strings"
	"time"
)

// Node statuses.
const (
	NodeStatusInit         = "initializing"
	NodeStatusReady        = "ready"
	NodeStatusDown         = "down"
	NodeStatusDisconnected = "disconnected"
)

// Whether new allocations may be placed on a node.
const (
	NodeEligible   = "eligible"
	NodeIneligible = "ineligible"
)

// A Node is a machine with an agent.
type Node struct {
	ID                    string
	Datacenter            string
	Name                  string
	HTTPAddr              string // host:port of its agent
	TLSEnabled            bool
	Attributes            map[string]string
	Resources             *NodeResources `json:"NodeResources"`
	Reserved              *NodeReserved  `json:"ReservedResources"`
	Links                 map[string]string
	Meta                  map[string]string
	NodeClass             string
	NodePool              string
	CgroupParent          string
	Drain                 bool
	DrainStrategy         *DrainStrategy
	SchedulingEligibility string
	Status                string
	StatusDescription     string
	StatusUpdatedAt       int64 // Unix seconds
	// SilentSince is set while the node is silent but not marked down, because too many
	// nodes fell silent together (Unix seconds). The node takes no new allocations.
	SilentSince  int64 `json:",omitempty"`
	Events       []*NodeEvent
	Drivers      map[string]*DriverStatus
	HostVolumes  map[string]*HostVolumeInfo
	HostNetworks map[string]*HostNetwork
	LastDrain    *DrainRecord
	LastCluster  string `json:",omitempty"` // id of the node's previous cluster, at registration; not stored
	// Introduction is what binds a node that joined with an introduction token; nil: nothing.
	Introduction  *NodeIntroduction `json:",omitempty"`
	ComputedClass string            // hash of everything that constraints can see; nodes with equal hashes are equivalent
	CreateIndex   uint64
	ModifyIndex   uint64
}

// IsReady reports whether allocations may be placed on the node now.
func (n *Node) IsReady() bool {
	return n.Status == NodeStatusReady && n.SilentSince == 0 && n.SchedulingEligibility != NodeIneligible && n.DrainStrategy == nil
}

// Pool returns the name of the node's pool.
func (n *Node) Pool() string {
	if n.NodePool == "" {
		return NodePoolDefault
	}
	return n.NodePool
}

// Zone returns the node's value of the cluster's zone attribute, as in the scheduler's
// configuration ("${meta.rack}"). If that is the datacenter or unset, the zone is the
// node's meta "zone", or else its datacenter. The zone of a nil node is "".
func (n *Node) Zone(attribute string) string {
	if n == nil {
		return ""
	}
	attribute = strings.TrimSuffix(strings.TrimPrefix(attribute, "${"), "}")
	switch kind, name, _ := strings.Cut(attribute, "."); {
	case kind == "meta":
		return n.Meta[name]
	case kind == "attr":
		return n.Attributes[name]
	case attribute == "node.class":
		return n.NodeClass
	case attribute == "node.pool":
		return n.Pool()
	}
	return cmp.Or(n.Meta["zone"], n.Datacenter)
}

// IsGone reports whether the node's allocations are lost.
func (n *Node) IsGone() bool { return n == nil || n.Status == NodeStatusDown }

// IsPast reports whether the drain's deadline has passed.
func (d *DrainStrategy) IsPast(now time.Time) bool {
	return !d.ForceDeadline.IsZero() && !now.Before(d.ForceDeadline)
}

// Copy returns a shallow copy: its fields may be set, but the values that they point to
// are shared.
func (n *Node) Copy() *Node {
	c := *n
	return &c
}

// DriverStatus reports whether a node can run tasks of a driver.
type DriverStatus struct {
	Attributes        map[string]string
	Detected          bool
	Healthy           bool
	HealthDescription string
	UpdateTime        time.Time
}

// HostNetworkDefault is the node's own address. Ports are published on it unless they
// request another host network.
const HostNetworkDefault = "default"

// A HostNetwork is a named address of a node.
type HostNetwork struct {
	Name          string
	CIDR          string
	Interface     string
	Address       string // address of the node, on which ports are bound
	ReservedPorts string // "22,80,8000-8100": never assigned on this address
}

// A NodeEvent is one event of a node.
type NodeEvent struct {
	Message     string
	Subsystem   string
	Details     map[string]string
	Timestamp   time.Time
	CreateIndex uint64
}

// DrainStrategy describes a node's drain.
type DrainStrategy struct {
	DrainSpec
	ForceDeadline time.Time
	StartedAt     time.Time
}

// Statuses of a DrainRecord.
const (
	DrainStatusDraining = "draining"
	DrainStatusComplete = "complete" // every allocation that had to leave the node has ended
	DrainStatusCanceled = "canceled"
)

// DrainSpec holds an operator's settings of a drain.
type DrainSpec struct {
	Deadline         time.Duration // 0: none; negative: immediately
	IgnoreSystemJobs bool
}

// DrainRecord describes a node's last drain.
type DrainRecord struct {
	StartedAt  time.Time
	UpdatedAt  time.Time
	Status     string // one of the DrainStatus constants
	AccessorID string
	Meta       map[string]string
}

// NodeListStub is a node in list responses.
type NodeListStub struct {
	Address               string
	ID                    string
	Attributes            map[string]string `json:",omitempty"`
	Datacenter            string
	Name                  string
	NodeClass             string
	NodePool              string
	Version               string
	Drain                 bool
	SchedulingEligibility string
	Status                string
	StatusDescription     string
	SilentSince           int64 `json:",omitempty"` // as in Node
	Drivers               map[string]*DriverStatus
	NodeResources         *NodeResources `json:",omitempty"`
	ReservedResources     *NodeReserved  `json:",omitempty"`
	LastDrain             *DrainRecord
	CreateIndex           uint64
	ModifyIndex           uint64
}

// NodeAttrVersion is the attribute with the version of a node's agent.
const NodeAttrVersion = "reeve.version"

// Stub returns the node for list responses.
func (n *Node) Stub() *NodeListStub {
	return &NodeListStub{
		Address: n.HTTPAddr, ID: n.ID, Datacenter: n.Datacenter, Name: n.Name,
		NodeClass: n.NodeClass, NodePool: n.NodePool, Version: n.Attributes[NodeAttrVersion],
		Drain: n.DrainStrategy != nil, SchedulingEligibility: n.SchedulingEligibility,
		Status: n.Status, StatusDescription: n.StatusDescription, SilentSince: n.SilentSince, Drivers: n.Drivers,
		LastDrain: n.LastDrain, CreateIndex: n.CreateIndex, ModifyIndex: n.ModifyIndex,
	}
}

// HasToLeave reports whether a drain of the node waits for the allocation to end.
func (n *Node) HasToLeave(a *Allocation) bool {
	return !a.IsClientTerminal() && (n.DrainStrategy == nil || !n.DrainStrategy.IgnoreSystemJobs || !a.IsSystem())
}

// DriverWarning returns the name of the attribute of nodes that says what a working driver lacks. It is
// no part of a node's class, because it may name files of the node.
func DriverWarning(driver string) string { return UniquePrefix + "driver." + driver + ".warning" }

// AttributeCgroupParent is the attribute of a node with the parent of all its tasks'
// control groups.
const AttributeCgroupParent = "unique.cgroup.parent"
