// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package founding

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Env is how an agreement reaches the other servers.
type Env struct {
	Hosts    func(ctx context.Context) []string // addresses at which servers may be
	Ask      func(ctx context.Context, address string, r Request) (Server, error)
	Interval time.Duration // between two rounds
	Logger   *slog.Logger
}

// A round is what one round of questions found out.
type round struct {
	servers map[string]Server // by address
	silent  []string          // addresses without an answer, with the reason
	self    bool              // reports whether this server answered itself
}

// repeatAfter is the time after which an unchanged message is logged again.
const repeatAfter = 30 * time.Second

// Run asks the other servers until this one knows its part. It returns the servers of a new
// cluster if this server founds it, and nil if it joins one.
func (a *Agreement) Run(ctx context.Context, env Env) ([]Server, error) {
	var logged string
	var at time.Time
	for {
		if members := a.founded(); members != nil {
			return members, nil
		}
		if self := a.Self(); self.InCluster || self.Promised != "" && self.Promised != self.ID {
			return nil, nil
		}
		members, wait, err := a.attempt(ctx, env)
		if err != nil || members != nil {
			return members, err
		}
		if a.Self().InCluster {
			continue // it founded one, or found one
		}
		if wait != "" && (wait != logged || time.Since(at) >= repeatAfter) {
			logged, at = wait, time.Now()
			env.Logger.Info("waiting for the servers that found the cluster", "reason", wait)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(env.Interval):
		}
	}
}

// attempt asks all servers once. It returns the servers of the new cluster if this server founds
// it, or why it waits.
func (a *Agreement) attempt(ctx context.Context, env Env) (members []Server, wait string, err error) {
	hosts := env.Hosts(ctx)
	found := a.look(ctx, env, hosts, Request{})
	members, wait, err = a.assess(found, len(hosts))
	if err != nil || wait != "" || members == nil {
		return nil, wait, err
	}
	if ok, err := a.propose(members); !ok || err != nil {
		return nil, "", err
	}
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ID
	}
	var withdrawn []string
	for _, s := range found.servers {
		if s.Promised != "" && s.Promised != s.ID {
			withdrawn = append(withdrawn, s.ID)
		}
	}
	promised := a.look(ctx, env, hosts, Request{Members: ids, Withdrawn: withdrawn})
	for _, m := range members {
		if m.ID == a.self.ID {
			continue
		}
		answer, ok := byID(promised, m.ID)
		switch {
		case !ok:
			return nil, fmt.Sprintf("server %s at %s has not promised to join yet: %s", m.Name, m.Address, strings.Join(promised.silent, "; ")), nil
		case answer.Promised != a.self.ID:
			return nil, fmt.Sprintf("server %s at %s promised to join the cluster of server %s: if that server is lost permanently, delete founding.promise in the data directories of all servers", m.Name, m.Address, answer.Promised), nil
		}
	}
	return nil, "", a.found(members)
}

func byID(r round, id string) (Server, bool) {
	for _, s := range r.servers {
		if s.ID == id {
			return s, true
		}
	}
	return Server{}, false
}

// look asks every address once, concurrently.
func (a *Agreement) look(ctx context.Context, env Env, hosts []string, r Request) round {
	type answer struct {
		address string
		server  Server
		err     error
	}
	answers := make(chan answer, len(hosts))
	for _, address := range hosts {
		go func() {
			s, err := env.Ask(ctx, address, r)
			answers <- answer{address, s, err}
		}()
	}
	found := round{servers: map[string]Server{}}
	for range hosts {
		switch got := <-answers; {
		case got.err != nil:
			found.silent = append(found.silent, fmt.Sprintf("%s: %v", got.address, got.err))
		case got.server.Instance == a.self.Instance:
			found.self = true
		default:
			found.servers[got.address] = got.server
		}
	}
	slices.Sort(found.silent)
	return found
}

// assess returns the servers with which this server founds the cluster, or why it waits. Neither
// means that another server is the candidate, or that a cluster exists.
func (a *Agreement) assess(found round, hosts int) (members []Server, wait string, err error) {
	self := a.Self()
	known := map[string]Server{self.ID: self}
	for address, s := range found.servers {
		if other, ok := known[s.ID]; ok && other.Instance != s.Instance {
			return nil, "", api.Errorf(api.CodeConflict, "the servers at %s and %s have one identity, %q: give each machine a certificate with its own common name, and its own data directory", cmp.Or(other.Address, "this machine"), address, s.ID)
		}
		switch {
		case s.InCluster:
			a.Joined()
			return nil, "", nil
		case s.Expect == 0:
			continue // it joins the cluster
		case s.Expect != self.Expect:
			return nil, fmt.Sprintf("server %s at %s has bootstrap_expect = %d, and this server %d: set the same number on all servers", s.Name, address, s.Expect, self.Expect), nil
		}
		known[s.ID] = s
	}
	if !found.self {
		hosts++ // it is not in the list, or its own question was lost
	}
	if hosts >= 2*self.Expect && self.Expect > 1 {
		err := api.Errorf(api.CodeInvalid, "server_join names %d servers, of which two groups of bootstrap_expect = %d could each found a cluster: set bootstrap_expect to at least %d", hosts, self.Expect, hosts/2+1)
		if found.self {
			return nil, "", err
		}
		return nil, err.Message, nil
	}
	if len(known) < self.Expect {
		text := fmt.Sprintf("found %d of %d servers", len(known), self.Expect)
		if len(found.silent) > 0 {
			text += "; " + strings.Join(found.silent, "; ")
		}
		return nil, text, nil
	}
	for _, s := range known {
		members = append(members, s)
	}
	slices.SortFunc(members, func(x, y Server) int { return cmp.Compare(x.ID, y.ID) })
	if members[0].ID != self.ID {
		return nil, "server " + members[0].Name + " at " + members[0].Address + " founds the cluster", nil
	}
	return members, "", nil
}
