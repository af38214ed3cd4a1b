// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package autopilot

import (
	"fmt"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A Server is one server of the log's configuration, as the leader sees it.
type Server struct {
	ID          string
	Voter       bool
	Leader      bool
	Contacted   bool // reports whether it answered since this leadership began
	LastContact time.Duration
	Trailing    uint64 // entries that its log lacks

	Healthy bool
	Since   time.Time // Healthy has its value since then
}

// A View is what a decision is based on.
type View struct {
	Now     time.Time
	Config  *api.AutopilotConfig
	Servers []Server
	Trouble string // why this leader cannot do its work; "" if it can
}

// A Verb is what to do about a server.
type Verb string

// Verbs.
const (
	Promote  Verb = "promote"
	Remove   Verb = "remove"
	Transfer Verb = "transfer"
)

// An Action is one decision with its reason.
type Action struct {
	Verb   Verb
	ID     string // of the server; of Transfer: the next leader
	Reason string
}

const (
	// quickPromotion is the time for which a server must be healthy while fewer than
	// enoughVoters vote: until then the cluster survives no failure.
	quickPromotion = time.Second
	enoughVoters   = 3
	// deadAfter is the silence after which a server may be removed if the others are better
	// off without it: a machine can start again in that time. forgottenAfter is the silence
	// after which a server is removed in any case.
	deadAfter      = 5 * time.Minute
	forgottenAfter = 72 * time.Hour
)

// Assess returns the servers with their health. previous is its result of before, or nil.
func Assess(previous, servers []Server, config *api.AutopilotConfig, now time.Time) []Server {
	assessed := slices.Clone(servers)
	for i := range assessed {
		s := &assessed[i]
		s.Healthy = s.Leader || s.Contacted && s.LastContact <= config.LastContactThreshold && s.Trailing <= config.MaxTrailingLogs
		s.Since = now
		if k := slices.IndexFunc(previous, func(p Server) bool { return p.ID == s.ID }); k >= 0 && previous[k].Healthy == s.Healthy {
			s.Since = previous[k].Since
		}
	}
	return assessed
}

// Tolerance returns the number of healthy voters that may fail without an outage.
func Tolerance(servers []Server) int {
	voters, healthy := count(servers)
	return max(0, healthy-quorum(voters))
}

func count(servers []Server) (voters, healthy int) {
	for _, s := range servers {
		if s.Voter {
			voters++
			if s.Healthy {
				healthy++
			}
		}
	}
	return voters, healthy
}

// quorum returns the number of votes that decide.
func quorum(voters int) int { return voters/2 + 1 }

// Decide returns what to do now, the most urgent first.
func Decide(v View) (actions []Action) {
	if v.Trouble != "" {
		if next, ok := successor(v.Servers); ok {
			return []Action{{Transfer, next, "the leader cannot do its work: " + v.Trouble}}
		}
	}
	actions = append(actions, promotions(v)...)
	if v.Config.CleanupDeadServers {
		actions = append(actions, removals(v)...)
	}
	return actions
}

// successor returns the healthy voter with the most complete log.
func successor(servers []Server) (id string, ok bool) {
	least := uint64(0)
	for _, s := range servers {
		if s.Voter && s.Healthy && !s.Leader && (!ok || s.Trailing < least) {
			id, least, ok = s.ID, s.Trailing, true
		}
	}
	return id, ok
}

// promotions returns the servers that are ready to vote.
func promotions(v View) (actions []Action) {
	voters, _ := count(v.Servers)
	for _, s := range v.Servers {
		if s.Voter || !s.Healthy {
			continue
		}
		wait := v.Config.ServerStabilizationTime
		if voters < enoughVoters {
			wait = min(wait, quickPromotion)
		}
		if stable := v.Now.Sub(s.Since); stable >= wait {
			actions = append(actions, Action{Promote, s.ID, fmt.Sprintf("healthy for %s", stable.Round(time.Second))})
			voters++
		}
	}
	return actions
}

// removals returns the dead servers that the cluster is better off without. The others keep
// their quorum after each single removal.
func removals(v View) (actions []Action) {
	voters, healthy := count(v.Servers)
	var dead []Server
	deadVoters := 0
	for _, s := range v.Servers {
		if s.Healthy || s.Leader || silence(s, v.Now) < deadAfter {
			continue
		}
		dead = append(dead, s)
		if s.Voter {
			deadVoters++
		}
	}
	gain := healthy-quorum(voters-deadVoters) > healthy-quorum(voters)
	for _, s := range dead {
		silent := silence(s, v.Now)
		forgotten := silent >= forgottenAfter
		if !forgotten && (!s.Voter || !gain) {
			continue
		}
		if s.Voter {
			if voters-1 < int(v.Config.MinQuorum) || healthy < quorum(voters-1) || healthy < quorum(voters) {
				continue
			}
			voters--
		}
		actions = append(actions, Action{Remove, s.ID, fmt.Sprintf("no answer for %s", silent.Round(time.Second))})
	}
	return actions
}

// silence returns for how long a server has not answered.
func silence(s Server, now time.Time) time.Duration {
	if s.LastContact > 0 && !s.Healthy {
		// A server that answers, but lags, is not silent.
		return s.LastContact
	}
	return now.Sub(s.Since)
}
