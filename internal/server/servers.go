// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/autopilot"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/state"
)

// ServerID returns the id of this server in the replicated log.
func (s *Server) ServerID() string {
	if s.replica == nil {
		return s.cfg.Name
	}
	return s.replica.ServerID()
}

// Servers returns the servers of the cluster, ordered by name. Only the leader knows their
// health.
func (s *Server) Servers() []*api.ServerStatus {
	snap, term := s.store.Snapshot(), s.term.Load()
	var list []*api.ServerStatus
	if s.cfg.Transport == nil {
		list = append(list, &api.ServerStatus{
			ID: s.ServerID(), Name: s.cfg.Name, Address: s.cfg.Addr, Version: s.cfg.Version, Status: api.ServerAlive,
			Leader: term != nil, Voter: true, Healthy: term != nil, LastIndex: snap.Index(), Evaluations: s.meters.computed.Load(),
		})
		return list
	}
	peers, _ := s.replica.Servers()
	leader := s.replica.Leader()
	var assessed []autopilot.Server
	var health map[string]replica.Health
	if term != nil {
		assessed, health = term.autopilot.Servers(), s.replica.PeerHealth()
	}
	for _, p := range peers {
		m := &api.ServerStatus{ID: p.ID, Address: p.Address, Voter: p.Voter, Leader: p.ID == leader, Status: api.ServerUnknown}
		if term != nil {
			m.Evaluations = term.computed(s, m)
		}
		if h, ok := health[p.ID]; ok {
			m.LastContact, m.LastTerm, m.LastIndex, m.Trailing = h.LastContact, h.LastTerm, h.LastIndex, h.Trailing
			m.Status = api.ServerAlive
			if h.LastContact >= failedAfter {
				m.Status = api.ServerFailed
			}
		}
		for _, a := range assessed {
			if a.ID == p.ID {
				m.Healthy, m.StableSince = a.Healthy, a.Since
			}
		}
		list = append(list, m)
	}
	for stored := range snap.Servers() {
		i := slices.IndexFunc(list, func(m *api.ServerStatus) bool { return m.ID == stored.ID })
		if i < 0 {
			i = len(list)
			list = append(list, &api.ServerStatus{ID: stored.ID, Status: api.ServerLeft})
		}
		m := list[i]
		m.Name, m.Address, m.Version, m.Region, m.Datacenter = stored.Name, stored.Address, stored.Version, stored.Region, stored.Datacenter
		m.Joined, m.Expires, m.Issued = stored.Joined, stored.Expires, stored.Issued
	}
	slices.SortFunc(list, func(a, b *api.ServerStatus) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}

// WasRemoved reports whether another server refused this one because it was removed.
func (s *Server) WasRemoved() bool { return s.replica != nil && s.replica.WasRemoved() }

// failedAfter is the silence after which a server is shown as failed.
const failedAfter = 2 * time.Second

// FailureTolerance returns the number of servers that may fail without an outage.
func (s *Server) FailureTolerance() int {
	if t := s.term.Load(); t != nil && t.autopilot != nil {
		return autopilot.Tolerance(t.autopilot.Servers())
	}
	return 0
}

// RaftIndex returns the index of the replicated log's configuration.
func (s *Server) RaftIndex() uint64 {
	if s.replica == nil {
		return 1
	}
	return s.replica.ConfigurationIndex()
}

// SetAutopilot stores the configuration of what the leader does about servers. If enforce is
// not nil and differs from the stored modify index, it returns CodeConflict.
func (s *Server) SetAutopilot(ctx context.Context, config *api.AutopilotConfig, enforce *uint64) (uint64, error) {
	if err := config.Validate(); err != nil {
		return 0, err
	}
	return s.propose(ctx, state.PutAutopilot(config, enforce))
}

// FindServer returns the server with the id, an unambiguous beginning of the id, the name or the
// address.
func (s *Server) FindServer(ref string) (*api.ServerStatus, error) {
	var found []*api.ServerStatus
	for _, m := range s.Servers() {
		if m.ID == ref {
			return m, nil
		}
		if ref != "" && (m.Name == ref || m.Address == ref || len(ref) >= 4 && len(m.ID) > len(ref) && m.ID[:len(ref)] == ref) {
			found = append(found, m)
		}
	}
	switch len(found) {
	case 0:
		return nil, api.Errorf(api.CodeNotFound, "server %q not found: see reeve server list for ids, names and addresses", ref)
	case 1:
		return found[0], nil
	}
	return nil, api.Errorf(api.CodeConflict, "%d servers match %q: use a full id from reeve server list", len(found), ref)
}

// changeable returns the server, if this server can change the cluster's servers.
func (s *Server) changeable(ref string) (*api.ServerStatus, error) {
	if !s.IsLeader() {
		return nil, errNoLeader
	}
	m, err := s.FindServer(ref)
	if err == nil && s.cfg.Transport == nil {
		err = api.Errorf(api.CodeConflict, "this server is not part of a cluster: it has no other servers to change")
	}
	return m, err
}

// Promote makes a server a voter without waiting until it is stable.
func (s *Server) Promote(ctx context.Context, ref string) error {
	m, err := s.changeable(ref)
	if err != nil {
		return err
	}
	if m.Voter {
		return nil
	}
	if m.Status != api.ServerAlive {
		return api.Errorf(api.CodeConflict, "server %s is %s: it must answer before it votes", m.ID, m.Status)
	}
	return s.replica.AddVoter(ctx, m.ID, m.Address)
}

// Leave removes a server from the replicated log. It stays a member, and may join again.
func (s *Server) Leave(ctx context.Context, ref string) error {
	m, err := s.departing(ref)
	if err != nil || m.Status == api.ServerLeft {
		return err
	}
	return s.replica.Remove(ctx, m.ID)
}

// Remove removes a server from the replicated log, and excludes it permanently.
func (s *Server) Remove(ctx context.Context, ref, reason string) error {
	m, err := s.departing(ref)
	if err != nil {
		return err
	}
	if m.Status != api.ServerLeft {
		if err := s.replica.Remove(ctx, m.ID); err != nil {
			return err
		}
	}
	_, err = s.propose(ctx, &state.RevokeMember{ID: m.ID, Member: m.Name, Reason: cmp.Or(reason, "removed by an operator"), Time: time.Now().UnixNano()})
	return err
}

// departing returns a server that may go: the others must decide without it.
func (s *Server) departing(ref string) (*api.ServerStatus, error) {
	m, err := s.changeable(ref)
	if err != nil {
		return nil, err
	}
	if m.ID == s.ServerID() {
		return nil, api.Errorf(api.CodeConflict, "server %s leads: transfer leadership first, with reeve server transfer", m.ID)
	}
	if !m.Voter {
		return m, nil
	}
	voters, alive := 0, 0
	for _, other := range s.Servers() {
		if other.Voter && other.ID != m.ID {
			voters++
			if other.Status == api.ServerAlive {
				alive++
			}
		}
	}
	if alive < voters/2+1 {
		return nil, api.Errorf(api.CodeConflict, "without server %s only %d of %d voters would answer, which is no majority: start the failed servers first", m.ID, alive, voters)
	}
	return m, nil
}

// TransferLeadership hands leadership to a server; to the one with the most complete log if
// ref is "".
func (s *Server) TransferLeadership(ctx context.Context, ref string) (from, to *api.ServerStatus, err error) {
	if s.cfg.Transport == nil {
		return nil, nil, api.Errorf(api.CodeConflict, "this server is not part of a cluster: leadership has no other server to go to")
	}
	if !s.IsLeader() {
		return nil, nil, errNoLeader
	}
	if from, err = s.FindServer(s.ServerID()); err != nil {
		return nil, nil, err
	}
	id := ""
	if ref != "" {
		if to, err = s.FindServer(ref); err != nil {
			return nil, nil, err
		}
		if id = to.ID; id == from.ID {
			return from, to, nil
		}
	}
	if err := s.replica.Transfer(ctx, id); err != nil {
		return nil, nil, err
	}
	if to == nil {
		wait, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if s.replica.AwaitOther(wait) == nil {
			to, _ = s.FindServer(s.replica.Leader())
		}
	}
	return from, to, nil
}

// newAutopilot returns the autopilot of a term.
func (s *Server) newAutopilot() *autopilot.Autopilot {
	return autopilot.New(autopilot.Env{
		Logger: s.cfg.Logger,
		Config: s.autopilotConfig,
		Servers: func() (list []autopilot.Server) {
			peers, _ := s.replica.Servers()
			health := s.replica.PeerHealth()
			for _, p := range peers {
				h := health[p.ID]
				list = append(list, autopilot.Server{
					ID: p.ID, Voter: p.Voter, Leader: p.ID == s.ServerID(),
					Contacted: h.Contacted, LastContact: h.LastContact, Trailing: h.Trailing,
				})
			}
			return list
		},
		Trouble: func() string {
			if why, writable := s.journal.Degraded(); !writable {
				return why
			}
			return ""
		},
		Act: s.actOn,
	})
}

// autopilotConfig returns the settings of the autopilot. The contact with a healthy server may be
// as old as its heartbeats are rare, which are ten per election timeout.
func (s *Server) autopilotConfig() *api.AutopilotConfig {
	config := s.store.Snapshot().Autopilot()
	if rare := cmp.Or(s.cfg.ElectionTimeout, replica.DefaultElectionTimeout) / 2; rare > config.LastContactThreshold {
		other := *config
		other.LastContactThreshold = rare
		return &other
	}
	return config
}

// actOn performs a decision of the autopilot.
func (s *Server) actOn(ctx context.Context, a autopilot.Action) error {
	switch a.Verb {
	case autopilot.Promote:
		peers, err := s.replica.Servers()
		for _, p := range peers {
			if p.ID == a.ID {
				return s.replica.AddVoter(ctx, p.ID, p.Address)
			}
		}
		return err
	case autopilot.Remove:
		return s.replica.Remove(ctx, a.ID)
	default:
		return s.replica.Transfer(ctx, a.ID)
	}
}
