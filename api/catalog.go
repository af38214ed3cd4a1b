// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A ServiceRegistration is one allocation that offers a service.
type ServiceRegistration struct {
	ID          string // unique, and the same as long as the allocation and the service's name and port are
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
	Weight   int               `json:",omitempty"` // of its share of traffic; 0: 1
	Instance int               `json:",omitempty"` // index in its group
	Zone     string            `json:",omitempty"` // of the node
}

// ServiceListStub lists the names of a namespace's services.
type ServiceListStub struct {
	Namespace string
	Services  []*ServiceStub
}

// ServiceStub is a service's name with the tags of all that offer it.
type ServiceStub struct {
	ServiceName string
	Tags        []string
}

// A CatalogEntry is all that traffic needs to know of one routable allocation.
type CatalogEntry struct {
	AllocID   string
	Namespace string
	JobID     string
	Group     string
	Instance  int // index in its group
	NodeID    string
	NodeName  string
	Zone      string                 `json:",omitempty"` // of the node
	Services  []*ServiceRegistration `json:",omitempty"`
	Endpoints []*Endpoint            `json:",omitempty"` // for its group's routes
	Index     uint64                 // log index of its last change
}

// An Endpoint is where a route leads for one allocation.
type Endpoint struct {
	Route   *Route // canonical; shared
	Address string // host:port
}

// A CatalogUpdate is one message of the catalog's stream. The first one is
// Complete: it holds all entries. A later one with Complete set replaces all
// that came before, because the reader was too slow for what lay between.
//
// Servers that lost everything are of another cluster, and know at first nothing
// of what runs. What a reader knows of a node then holds until the node is among
// Nodes. Those whose data was put back to an older copy do not know what came
// after it: they are Rewound. What a reader knows holds then until they have had
// the time to hear it again.
type CatalogUpdate struct {
	Index    uint64
	Complete bool            `json:",omitempty"`
	Cluster  string          `json:",omitempty"` // that the servers are of, if Complete
	Timeline string          `json:",omitempty"` // that Index is of, if Complete
	Rewound  bool            `json:",omitempty"` // the servers' history does not have the position up to which the reader was told
	Nodes    []string        `json:",omitempty"` // that have said what they run: all of them if Complete, or else those that came
	Entries  []*CatalogEntry `json:",omitempty"` // new or changed
	Removed  []string        `json:",omitempty"` // allocation ids
}
