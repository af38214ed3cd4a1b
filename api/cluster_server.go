// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// States of a server, as the leader sees it.
const (
	ServerAlive   = "alive"
	ServerFailed  = "failed"  // does not answer
	ServerLeft    = "left"    // is no longer part of the replicated log
	ServerUnknown = "unknown" // the answering server does not lead
)

// ServerStatus is a server of the cluster in the leader's view.
type ServerStatus struct {
	ID         string
	Name       string
	Address    string // host:port
	Version    string
	Region     string
	Datacenter string
	Status     string // see ServerAlive
	Leader     bool
	Voter      bool
	Healthy    bool
	// StableSince is the time at which Healthy got its value.
	StableSince time.Time
	LastContact time.Duration // since its last answer
	LastTerm    uint64
	LastIndex   uint64
	Trailing    uint64 // entries that its log lacks
	Evaluations uint64 // that its workers have computed since it started
	Joined      int64  `json:",omitempty"` // Unix time in nanoseconds
	Expires     int64  `json:",omitempty"` // when its certificate ends: Unix time in nanoseconds
	Issued      int64  `json:",omitempty"` // when its certificate begins: Unix time in nanoseconds
}
