// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/coalesce"
)

// Leaders that hang.
//
// A server whose process is stopped, or whose machine hangs, keeps its connections. A request that was
// forwarded to it would wait until the connection counts as dead, for about 10 s. The other
// servers elect another leader long before. So a server looks who leads while it waits for an answer.
// When another server leads, it repeats a request that changes nothing. A write may have been
// made, and a server that lost an election usually tells: so the write is given up only if
// the server does not even answer a question that needs no leader.

// questionPath is the route of that question. The answer does not matter.
const questionPath = "/v1/status/leader"

// questionTimeout bounds the question.
const questionTimeout = 2 * time.Second

var (
	errOtherLeads = errors.New("another server leads now")
	errHangs      = errors.New("another server leads now, and this one does not answer at all")
)

// A vigil watches over a request that was forwarded to the leader, until the head of its answer arrives.
type vigil struct {
	*delivery
	leader     string // its address
	repeatable bool
	ctx        context.Context // of the request at the leader
	cancel     context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	pause time.Duration
	over  bool
}

// keepVigil returns the context for a request to the leader. The caller calls end when the request returns.
func (d *delivery) keepVigil(r *http.Request, leader string) *vigil {
	v := &vigil{delivery: d, leader: leader, repeatable: isRepeatable(r), pause: leaderLook}
	v.ctx, v.cancel = context.WithCancelCause(r.Context())
	v.mu.Lock()
	defer v.mu.Unlock()
	v.timer = time.AfterFunc(v.pause, v.look)
	return v
}

// end ends the vigil, and returns the reason why it gave the request up; nil if it did not.
// The context of an answered request lasts until the caller has the whole answer.
func (v *vigil) end() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	v.timer.Stop()
	if cause := context.Cause(v.ctx); cause == errOtherLeads || cause == errHangs {
		return cause
	}
	return nil
}

// look gives the request up if another server leads, or looks again later.
func (v *vigil) look() {
	if now, known := v.Leader(); v.leads() || known && now != v.leader {
		switch {
		case v.repeatable:
			v.giveUp(errOtherLeads)
			return
		case !v.replies():
			v.giveUp(errHangs)
			return
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.over {
		v.pause = min(2*v.pause, maxLeaderPause)
		v.timer.Reset(v.pause)
	}
}

// replies reports whether the server to which the request was sent answers questions. Requests to
// one server share a question: a hundred at once would be a load of their own.
func (v *vigil) replies() bool {
	group, _ := v.questions.LoadOrStore(v.leader, coalesce.New(func(ctx context.Context) (bool, error) {
		return v.question(ctx, v.leader), nil
	}))
	replied, err := group.(*coalesce.Group[bool]).Do(v.ctx)
	return replied || err != nil // after the end of the request the answer does not matter
}

// question reports whether a server answers a question.
func (h *Handler) question(ctx context.Context, server string) bool {
	ctx, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	transport, scheme := h.outbound()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+server+questionPath, nil)
	if err != nil {
		return true
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return true
}

// giveUp cancels the request unless it has an answer.
func (v *vigil) giveUp(cause error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.over {
		v.cancel(cause)
	}
}
