// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
)

// Bounds of requests.
const (
	maxWait       = 5 * time.Second  // of a poll
	maxDeliveries = 256              // that a poll gets
	maxHeld       = 1024             // deliveries that a server holds
	silence       = 10 * time.Second // after which a server loses its deliveries
	lookEvery     = time.Second      // for silent servers
)

// LeaderEnv holds the dependencies of a Leader.
type LeaderEnv struct {
	Store   *state.Store
	Broker  *broker.Broker
	Applier *applier.Applier
	Logger  *slog.Logger
	// Refused is called for every refusal of the applier. Refusals of placements of different
	// servers are no sign of a fault, as those of the leader's own workers are.
	Refused func(placement.Refusal)
}

// A Leader lends deliveries to other servers, for one term. Any goroutine may call its methods.
type Leader struct {
	env LeaderEnv
	ctx context.Context // of the term

	mu      sync.Mutex
	lessees map[string]*lessee // by id of the server
}

// lessee is a server that holds deliveries.
type lessee struct {
	session  string
	heard    time.Time
	polls    int // under way
	computed uint64
	held     map[uint64]*loan // by token
}

// loan is a delivery that another server holds.
type loan struct {
	*broker.Delivery
	busy bool // reports whether its result is being committed
}

// NewLeader returns the leader's side for the term that ends with ctx. Call Run to start it.
func NewLeader(ctx context.Context, env LeaderEnv) *Leader {
	return &Leader{env: env, ctx: ctx, lessees: map[string]*lessee{}}
}

// Run takes deliveries from silent servers until the term ends.
func (l *Leader) Run() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			l.takeBack(now)
		case <-l.ctx.Done():
			return
		}
	}
}

func (l *Leader) takeBack(now time.Time) {
	l.mu.Lock()
	var lost []*broker.Delivery
	for server, le := range l.lessees {
		if le.polls > 0 || now.Sub(le.heard) <= silence {
			continue
		}
		delete(l.lessees, server)
		for _, d := range le.held {
			if !d.busy {
				d.Failure = fmt.Sprintf("server %s, whose worker evaluated it, did not answer for %s", api.ShortID(server), silence)
				lost = append(lost, d.Delivery)
			}
		}
		if len(le.held) > 0 {
			l.env.Logger.Warn("evaluations are taken back from a silent server", "server", server, "evaluations", len(le.held))
		}
	}
	l.mu.Unlock()
	for _, d := range lost {
		l.env.Broker.Nack(d)
	}
}

// Computed returns the number of evaluations that another server has computed since it started,
// as of its last poll.
func (l *Leader) Computed(server string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if le := l.lessees[server]; le != nil {
		return le.computed
	}
	return 0
}

// Poll answers the poll of another server.
func (l *Leader) Poll(ctx context.Context, server string, body []byte) ([]byte, error) {
	var m Poll
	if err := m.UnmarshalVT(body); err != nil {
		return nil, invalid(err)
	}
	if len(m.Holds) > maxHeld {
		return nil, invalid(fmt.Errorf("a server holds at most %d deliveries, not %d", maxHeld, len(m.Holds)))
	}
	l.renew(server, &m)
	defer l.hangUp(server, m.Session)
	limit := min(int(m.Limit), maxDeliveries, maxHeld-len(m.Holds))
	if limit <= 0 {
		return new(Polled).MarshalVT()
	}
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(m.WaitMs)*time.Millisecond, maxWait))
	defer cancel()
	list, err := l.env.Broker.DequeueSpare(ctx, broker.Types(m.Types)&broker.AllTypes, limit)
	if err != nil && l.ctx.Err() != nil {
		return nil, l.ctx.Err()
	}
	return l.lend(server, m.Session, list).MarshalVT()
}

// renew takes back the deliveries that the server does not hold, and extends its lease of the
// others.
func (l *Leader) renew(server string, m *Poll) {
	holds := make(map[uint64]bool, len(m.Holds))
	for _, token := range m.Holds {
		holds[token] = true
	}
	l.mu.Lock()
	le := l.lessees[server]
	if le == nil {
		le = &lessee{held: map[uint64]*loan{}}
		l.lessees[server] = le
	}
	var back []*broker.Delivery
	for token, d := range le.held {
		if !d.busy && (le.session != m.Session || !holds[token]) {
			delete(le.held, token)
			back = append(back, d.Delivery)
		}
	}
	le.session, le.heard, le.computed = m.Session, time.Now(), m.Computed
	le.polls++
	l.mu.Unlock()
	for _, d := range back {
		l.env.Broker.Return(d)
	}
}

// hangUp records the end of a poll.
func (l *Leader) hangUp(server, session string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if le := l.lessees[server]; le != nil {
		le.polls = max(le.polls-1, 0)
		if le.session == session {
			le.heard = time.Now()
		}
	}
}

// lend gives deliveries to a server.
func (l *Leader) lend(server, session string, list []*broker.Delivery) *Polled {
	m := &Polled{}
	l.mu.Lock()
	defer l.mu.Unlock()
	le := l.lessees[server]
	for _, d := range list {
		if le == nil || le.session != session {
			l.env.Broker.Return(d) // another process of the server polls
			continue
		}
		token := rand.Uint64()
		le.held[token] = &loan{Delivery: d}
		m.Deliveries = append(m.Deliveries, encodeDelivery(token, d))
	}
	return m
}

func invalid(err error) error {
	return api.Errorf(api.CodeInvalid, "the request of another server is damaged: %v; do all servers run compatible versions?", err)
}
