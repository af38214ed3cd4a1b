// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"time"
)

// A ServiceRegistration is one allocation that provides a service.
type ServiceRegistration struct {
	ID          string // unique, and stable while the allocation and the service's name and port stay the same
	ServiceName string
	Namespace   string
	NodeID      string
	Datacenter  string
	JobID       string
	AllocID     string
	Tags        []string
	Address     string // an IP address
	Port        int
	CreateIndex uint64
	ModifyIndex uint64

	Meta     map[string]string `json:",omitempty"`
	Weight   int               `json:",omitempty"` // relative share of traffic; 0: 1
	Instance int               `json:",omitempty"` // index in its group
	Zone     string            `json:",omitempty"` // zone of the node
}

// ServiceListStub lists the names of a namespace's services.
type ServiceListStub struct {
	Namespace string
	Services  []*ServiceStub
}

// A ServiceStub is a service's name with the tags of all its providers.
type ServiceStub struct {
	ServiceName string
	Tags        []string
}

// A CatalogEntry holds the routing data of one routable allocation.
type CatalogEntry struct {
	AllocID   string
	Namespace string
	JobID     string
	Group     string
	Instance  int // index in its group
	NodeID    string
	NodeName  string
	Zone      string                 `json:",omitempty"` // zone of the node
	Services  []*ServiceRegistration `json:",omitempty"`
	Endpoints []*Endpoint            `json:",omitempty"` // targets of its group's routes
	// StackAddress is the address of the port that callers of a stack use, host:port; "" for
	// an allocation without one.
	StackAddress string `json:",omitempty"`
	Index        uint64 // log index of its last change
}

// An Endpoint is the address of a route's target in one allocation.
type Endpoint struct {
	Route    *Route         // canonical; shared
	Address  string         // host:port
	Exposure *StackExposure `json:",omitempty"` // the exposure of a stack that the route serves; nil for others
}

// A CatalogUpdate is one message of the catalog's stream. The first message is Complete:
// it holds all entries. A later Complete message replaces all previous data, because the
// reader was too slow to receive the changes.
//
// Servers that lost all state belong to another cluster and at first do not know what
// runs. The reader keeps its data about a node until Nodes lists the node. Servers whose
// data was restored from an older copy lack later changes: their updates are Rewound. The
// reader then keeps its data until the servers have had time to receive the changes again.
type CatalogUpdate struct {
	Index    uint64
	Complete bool            `json:",omitempty"`
	Cluster  string          `json:",omitempty"` // cluster of the servers, if Complete
	Timeline string          `json:",omitempty"` // timeline of Index, if Complete
	Rewound  bool            `json:",omitempty"` // reports whether the servers' history lacks the reader's last position
	Nodes    []string        `json:",omitempty"` // nodes that have reported their allocations: all of them if Complete, otherwise the new ones
	Entries  []*CatalogEntry `json:",omitempty"` // new or changed entries
	Removed  []string        `json:",omitempty"` // allocation ids
	Stacks   []*StackShare   `json:",omitempty"` // shares of stacks: all if Complete, otherwise the changed ones
}

// A StackShare describes a stack to routers and name servers: its part of the traffic of its
// unit's major version, and the facts that names of stacks are resolved by.
type StackShare struct {
	Namespace string
	Stack     string  // also the id of its job
	Share     float64 // from 0 to 1
	Removed   bool    `json:",omitempty"` // reports that the stack is terminated

	Status     string    `json:",omitempty"` // as users see it
	Target     bool      `json:",omitempty"` // reports whether it is the current target of its major version
	ShiftEnd   string    `json:",omitempty"` // one of the ShiftEnd constants if a running shift divides traffic; "": none
	Tags       []string  `json:",omitempty"` // of its version, in order
	Elsewhere  []string  `json:",omitempty"` // exposed hosts whose traffic another major version receives, in order
	DeployedAt time.Time `json:",omitzero"`
}

// Ends of a shift.
const (
	ShiftEndFrom = "from"
	ShiftEndTo   = "to"
)

// IsReady reports whether the stack may receive traffic of its unit.
func (s *StackShare) IsReady() bool {
	return s.Status == StackReady || s.Status == StackDeprecated
}

// IsComing reports whether the stack is on its way to traffic.
func (s *StackShare) IsComing() bool {
	return s.Status == StackPending || s.Status == StackDeploying || s.Status == StackWarming
}

// HostShare returns the part of the traffic of an exposed host that the stack receives.
func (s *StackShare) HostShare(host string) float64 {
	if _, elsewhere := slices.BinarySearch(s.Elsewhere, host); elsewhere {
		return 0
	}
	return s.Share
}
