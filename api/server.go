// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Server is one server of a cluster that has a certificate authority.
type Server struct {
	ID         string // of its certificate, and in the replicated log
	Name       string // of its machine
	Address    string // host:port at which all members reach it
	Version    string // of its agent
	Region     string
	Datacenter string
	Joined     int64 // Unix time in nanoseconds
	Expires    int64 `json:",omitempty"` // when its certificate ends: Unix time in nanoseconds
	Issued     int64 `json:",omitempty"` // when its certificate begins: Unix time in nanoseconds
	Level      int   `json:",omitempty"` // highest feature level that it can apply; 0: it announced none
	// SealKey is the server's public key for secrets, and SealedKey the cluster's key, which only
	// this server can open. Only servers read them.
	SealKey   []byte `json:",omitempty"`
	SealedKey []byte `json:",omitempty"`

	CreateIndex uint64
	ModifyIndex uint64
}

// Shown returns the server without its keys.
func (s *Server) Shown() *Server {
	shown := *s
	shown.SealKey, shown.SealedKey = nil, nil
	return &shown
}

// A Revocation excludes a member from the cluster: its certificate is no longer accepted.
type Revocation struct {
	ID     string // of the member
	Name   string // of its machine, if it was known
	Time   int64  // Unix time in nanoseconds
	Reason string

	CreateIndex uint64
	ModifyIndex uint64
}

// ReadIndex is the leader's answer to a server that is to answer a read.
type ReadIndex struct {
	Index uint64 // in the log, up to which the server must have applied it
}
