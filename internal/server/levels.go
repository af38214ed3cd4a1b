// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// levelCheck is the interval at which a leader looks whether all servers know the newest
// feature level, while one does not.
const levelCheck = time.Second

// checkLevel returns an error if servers of the cluster cannot apply a command yet.
func (s *Server) checkLevel(commands []state.Command) error {
	if s.leveled.Load() {
		return nil
	}
	level := s.store.Snapshot().Level()
	if level >= state.Level {
		s.leveled.Store(true) // levels only rise
		return nil
	}
	for _, c := range commands {
		if needs, does := state.Needs(c); needs > level {
			return s.notYet(does)
		}
	}
	return nil
}

// notYet is the error of a change that needs a higher feature level.
func (s *Server) notYet(does string) error {
	var names []string
	for _, old := range s.outdated(s.store.Snapshot()) {
		names = append(names, running(old.Name, old.Version))
	}
	if len(names) == 0 {
		return api.Errorf(api.CodeUnavailable, "cannot %s yet: the cluster is about to finish its upgrade; try again in a moment", does)
	}
	return api.Errorf(api.CodeConflict, "cannot %s yet: %s, which cannot apply that; upgrade it, or remove it with: reeve server remove", does, strings.Join(names, ", and "))
}

// outdated returns the servers of the log that did not announce the newest feature level.
func (s *Server) outdated(v *state.Snapshot) []*api.Server {
	if s.cfg.Member == nil {
		return nil // the only server, or servers of one process
	}
	peers, _ := s.group().Servers()
	var old []*api.Server
	for _, p := range peers {
		known := v.Server(p.ID)
		switch {
		case p.ID == s.ServerID():
		case known == nil:
			old = append(old, &api.Server{ID: p.ID, Name: api.ShortID(p.ID)})
		case known.Level < state.Level:
			old = append(old, known)
		}
	}
	return old
}

// raiseLevel raises the feature level once all servers know the newest one.
func (s *Server) raiseLevel(ctx context.Context) {
	tick := time.NewTicker(levelCheck)
	defer tick.Stop()
	for {
		if raised, err := s.tryRaise(ctx); raised {
			return
		} else if err != nil && ctx.Err() == nil {
			s.cfg.Logger.Warn("cannot raise the feature level", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (s *Server) tryRaise(ctx context.Context) (raised bool, err error) {
	s.admission.Lock() // no server of an earlier version joins in between
	defer s.admission.Unlock()
	v := s.store.Snapshot()
	if v.Level() >= state.Level {
		return true, nil
	}
	if len(s.outdated(v)) > 0 {
		return false, nil
	}
	if _, err := s.propose(ctx, s.newestLevel()); err != nil {
		return false, err
	}
	s.cfg.Logger.Info("raised the feature level: servers of earlier versions can no longer read the log", "level", state.Level, "version", s.cfg.Version)
	return true, nil
}

func (s *Server) newestLevel() *state.RaiseLevel {
	return &state.RaiseLevel{Level: state.Level, Version: s.cfg.Version}
}

// checkServerLevel refuses a server that cannot read the log. The caller holds admission.
func (s *Server) checkServerLevel(name, version string, level int) error {
	if own := s.store.Snapshot().Level(); max(level, 1) < own {
		return api.Errorf(api.CodeConflict, "%s, which cannot read the log of this cluster (feature level %d): install the version of the other servers, and start it again", running(name, version), own)
	}
	return nil
}

func running(name, version string) string {
	return fmt.Sprintf("server %s runs Reeve %s", name, cmp.Or(version, "of an unknown version"))
}
