// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/state"
)

// Traffic is the leader's knowledge about the requests to stacks.
type Traffic struct {
	term   string
	meter  *meter
	calls  calls
	client *http.Client
	room   chan struct{} // of requests to gates

	ctx      context.Context
	requests sync.WaitGroup

	mu     sync.Mutex
	shifts map[string]*watch // by id
	tidied time.Time
}

// tidyEvery is the time after which the figures of terminated stacks are forgotten.
const tidyEvery = time.Minute

// New returns the traffic of a term that is still unknown. Transport makes the requests to
// gates; nil: the usual one. Requests end with ctx; wait for them with Wait.
func New(ctx context.Context, transport http.RoundTripper) *Traffic {
	if transport == nil {
		transport = newTransport()
	}
	return &Traffic{
		term: api.NewID(), meter: newMeter(), client: newClient(transport), room: make(chan struct{}, maxGates),
		ctx: ctx, shifts: make(map[string]*watch), calls: calls{stacks: make(map[api.NamespacedID]map[useKey]time.Time)},
	}
}

// Wait waits for the end of all requests, after the end of the context.
func (t *Traffic) Wait() {
	t.requests.Wait()
	t.client.CloseIdleConnections()
}

// Take takes in a valid report, and returns the term.
func (t *Traffic) Take(snap *state.Snapshot, r *api.TrafficReport, now time.Time) string {
	known := func(id api.NamespacedID) bool { return isKnown(snap, id) }
	if t.meter.add(r, known, now) {
		t.calls.take(snap, r, now)
	}
	t.mu.Lock()
	tidy := now.Sub(t.tidied) > tidyEvery
	if tidy {
		t.tidied = now
	}
	t.mu.Unlock()
	if tidy {
		t.meter.keep(known)
	}
	return t.term
}

// Uses returns the undeclared callers of stacks in the last hour.
func (t *Traffic) Uses(snap *state.Snapshot, now time.Time) []lifecycle.Use {
	return t.calls.uses(func(id api.NamespacedID) bool { return isKnown(snap, id) }, now)
}

func isKnown(snap *state.Snapshot, id api.NamespacedID) bool {
	s := snap.Stack(id.Namespace, id.ID)
	return s != nil && s.Status != api.StackTerminated
}
