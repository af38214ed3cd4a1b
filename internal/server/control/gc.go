// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/internal/state"
)

// Thresholds say how long things are kept after they ended. A zero threshold
// keeps nothing that is not needed.
type Thresholds struct {
	Interval   time.Duration // period in which all objects are examined
	Evaluation time.Duration // and allocations
	BatchEval  time.Duration // the same for batch jobs
	Deployment time.Duration
	Job        time.Duration // dead jobs, with all that is left of them
	Node       time.Duration // nodes that are down
	Restart    time.Duration // of jobs
}

// DefaultThresholds are what a server uses.
var DefaultThresholds = Thresholds{
	Interval: 5 * time.Minute, Evaluation: time.Hour, BatchEval: 24 * time.Hour,
	Deployment: time.Hour, Job: 4 * time.Hour, Node: 24 * time.Hour, Restart: 4 * time.Hour,
}

// A pass must be short: it shares the processors with the scheduler, and what
// it collects is one log entry, which holds up other writes while it is
// applied. So a pass looks at no more than passLooks objects and collects no
// more than passCollects; a sweep over everything is as many passes as that
// takes, spread over the interval.
const (
	passLooks    = 4096
	passCollects = 512
	passPause    = 20 * time.Millisecond // while there is more to collect
)

// gc collects what nobody needs any more. All that it keeps is how far its
// sweep is; a new leader begins another.
type gc struct {
	t  Thresholds
	at Position
}

// NewGC returns the controller that collects. It has one key.
func NewGC(t Thresholds) Controller { return &gc{t: t} }

func (*gc) Name() string                        { return "gc" }
func (*gc) All(*state.Snapshot) []string        { return []string{"all"} }
func (*gc) Touched(*state.Change, func(string)) {}

func (g *gc) Act(snap *state.Snapshot, _ string, now time.Time) ([]state.Command, time.Time) {
	cmd, next, swept := Collect(snap, now, g.t, g.at)
	g.at = next
	if cmd != nil {
		return []state.Command{cmd}, now.Add(passPause)
	}
	if swept {
		g.at = Position{}
	}
	return nil, now.Add(max(g.t.Interval/time.Duration(passes(snap)), passPause))
}

// passes is about how many a sweep takes.
func passes(snap *state.Snapshot) int {
	looks := 0
	for _, t := range sweepOrder {
		looks += int(snap.Slots(t))
	}
	return looks/passLooks + 1
}
