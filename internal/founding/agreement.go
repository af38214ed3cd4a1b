// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package founding

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/reeve-run/reeve/internal/secretfile"
)

// A Server is what a server tells the others about itself.
type Server struct {
	ID        string
	Instance  string // of the process: two machines with one id have different ones
	Name      string // of the machine
	Address   string // host:port at which the others reach it
	Expect    int    // number of servers that found the cluster; 0: it only joins
	InCluster bool   // reports whether it belongs to a cluster
	Promised  string `json:",omitempty"` // id of the candidate that has its promise
}

// A Request asks a server about itself.
type Request struct {
	// Members asks for a promise: ids of the servers with which the sender founds the cluster.
	Members []string `json:",omitempty"`
	// Withdrawn lists servers that promised to another one: they are no longer candidates.
	Withdrawn []string `json:",omitempty"`
}

// A promise is what a server has promised, on disk.
type promise struct {
	Candidate string
	Members   []Server `json:",omitempty"` // of the own set, if this server is the candidate
	Founded   bool     `json:",omitempty"` // reports whether all have promised
}

// An Agreement is the part of one server. Open returns one. Its methods may be called
// concurrently.
type Agreement struct {
	path string

	mu      sync.Mutex
	self    Server
	promise promise
}

// Open reads what the server has promised before from a file.
func Open(path string, self Server) (*Agreement, error) {
	a := &Agreement{path: path, self: self}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &a.promise)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, the promise of this server to the founder of its cluster: %w; if no server of the cluster has started yet, delete the file on all of them", path, err)
	}
	a.self.InCluster = a.self.InCluster || a.promise.Founded
	return a, nil
}

// Joined notes that the server belongs to a cluster.
func (a *Agreement) Joined() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.self.InCluster = true
}

// Self returns what the server tells about itself.
func (a *Agreement) Self() Server {
	a.mu.Lock()
	defer a.mu.Unlock()
	self := a.self
	self.Promised = a.promise.Candidate
	return self
}

// Answer answers the request of another server, whose id the caller has verified.
func (a *Agreement) Answer(from string, r Request) (Server, error) {
	if len(r.Members) > 0 {
		if err := a.grant(from, r); err != nil {
			return Server{}, err
		}
	}
	return a.Self(), nil
}

// grant promises to the candidate, unless another one has the promise.
func (a *Agreement) grant(candidate string, r Request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch had := a.promise.Candidate; {
	case a.self.InCluster, candidate == "", candidate == had:
		return nil
	case !slices.Contains(r.Members, a.self.ID), slices.Min(r.Members) != candidate, len(r.Members) < a.self.Expect:
		return nil
	case had != "" && candidate > had, had != "" && had != a.self.ID && !slices.Contains(r.Withdrawn, had):
		return nil
	}
	return a.keep(promise{Candidate: candidate})
}

// propose makes this server the candidate of a set, and reports whether it is.
func (a *Agreement) propose(members []Server) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.promise.Candidate != "" && a.promise.Candidate != a.self.ID {
		return false, nil
	}
	return true, a.keep(promise{Candidate: a.self.ID, Members: members})
}

// found notes that all servers of the set have promised, unless this server withdrew meanwhile.
func (a *Agreement) found(members []Server) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.promise.Candidate != a.self.ID {
		return nil
	}
	if err := a.keep(promise{Candidate: a.self.ID, Members: members, Founded: true}); err != nil {
		return err
	}
	a.self.InCluster = true
	return nil
}

// founded returns the servers of the cluster that this server founded; nil if it did not.
func (a *Agreement) founded() []Server {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.promise.Founded {
		return nil
	}
	return a.promise.Members
}

// keep writes a promise to the disk. The caller holds the lock.
func (a *Agreement) keep(p promise) error {
	text, err := json.Marshal(p)
	if err == nil {
		err = secretfile.Write(a.path, text)
	}
	if err != nil {
		return fmt.Errorf("write the promise to the founder of the cluster: %w", err)
	}
	a.promise = p
	return nil
}
