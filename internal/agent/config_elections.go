// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/replica"
)

// Bounds of the election timeout. Below the first one, an ordinary pause of a process causes an
// election; above the second one, the followers cannot notice within a minute that the leader
// is gone.
const (
	minElectionTimeout     = 50 * time.Millisecond
	maxElectionTimeout     = 30 * time.Second
	defaultElectionTimeout = replica.DefaultElectionTimeout
	maxRaftMultiplier      = 10
)

// setElections sets the election timeout from a file, in one of its two forms.
func (s *Server) setElections(path string, f *fileServer) error {
	if f.RaftMultiplier < 0 || f.RaftMultiplier > maxRaftMultiplier {
		return api.Errorf(api.CodeInvalid, "%s: server: raft_multiplier = %d: must be 1 to %d; it multiplies the election timeout of %s", path, f.RaftMultiplier, maxRaftMultiplier, defaultElectionTimeout)
	}
	if f.RaftMultiplier > 0 {
		s.ElectionTimeout = time.Duration(f.RaftMultiplier) * defaultElectionTimeout
	}
	if f.ElectionTimeout == "" {
		return nil
	}
	if f.RaftMultiplier > 0 {
		return api.Errorf(api.CodeInvalid, "%s: server: election_timeout and raft_multiplier set the same time: remove one of them", path)
	}
	d, err := time.ParseDuration(f.ElectionTimeout)
	if err != nil || d < minElectionTimeout || d > maxElectionTimeout {
		return api.Errorf(api.CodeInvalid, "%s: server: election_timeout = %q: must be a duration from %s to %s, such as \"500ms\"", path, f.ElectionTimeout, minElectionTimeout, maxElectionTimeout)
	}
	s.ElectionTimeout = d
	return nil
}
