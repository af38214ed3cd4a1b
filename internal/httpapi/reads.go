// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Reads on every server.
//
// A server answers a read from its own state. Before the answer, it asks the leader for a read
// index: the end of the leader's state, once a majority has confirmed that the leader still
// leads. It answers when its own state has reached that index. So the answer contains every
// write acknowledged before the read began, whichever server answers, and a server that is cut
// off answers nothing. Reads that wait share one question: see package coalesce. A route that
// shows what only the leader has in memory is answered by the leader: see route.Leads.

const (
	// readIndexPath is the route on which a leader answers the question.
	readIndexPath = "/v1/server/read-index"
	// refreshTimeout bounds one question and the time until this server has caught up. A
	// longer one is asked again, because the leader may hang.
	refreshTimeout = 3 * time.Second
	// leaderLook is the interval at which a server that waits for a leader's answer looks
	// whether another server leads.
	leaderLook = 50 * time.Millisecond
)

// silence is the time without a leader after which a server ends its streams, so that their clients
// connect to a server that has one.
const silence = 15 * time.Second

// errOlderLeader means that the leader runs an earlier version, which has no read index.
var errOlderLeader = errors.New("the leader has no read index")

// isRead reports whether the request changes nothing.
func (c *call) isRead() bool { return c.route.Method == http.MethodGet || c.route.Reads }

// isStaleRead reports whether the caller accepts the data of any server.
func (c *call) isStaleRead() bool {
	return c.isRead() && (plantedStaleReads || c.r.URL.Query().Has("stale"))
}

// isCurrentRead reports whether the answer must contain every write that was acknowledged before
// the request, although other servers may know of newer writes than this one.
func (c *call) isCurrentRead() bool {
	return c.isRead() && c.Server != nil && c.Leader != nil && !c.route.Local && !c.route.AnyServer && !c.isStaleRead()
}

// canAnswer returns nil once this server may answer the request from its state.
func (c *call) canAnswer(ctx context.Context) error {
	if c.route.Leads {
		_, err := c.readIndex(ctx)
		return err
	}
	return c.refresh(ctx)
}

// refresh returns once the state of this server contains every write that was acknowledged before
// the call.
func (h *Handler) refresh(ctx context.Context) error {
	defer h.refreshed.Add(1)
	if h.leads() {
		_, err := h.readIndex(ctx) // the log shares confirmations itself
		return err
	}
	_, err := h.refreshes.Do(ctx)
	return err
}

// refreshAll does refresh for all reads that wait.
func (h *Handler) refreshAll(ctx context.Context) (struct{}, error) {
	none := struct{}{}
	leader, known := h.Leader()
	if !known {
		return none, h.errNoLeader()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, refreshTimeout, fmt.Errorf("the leader at %s does not answer, or this server lags behind it", leader))
	defer cancel()
	defer h.cancelWithLeader(leader, cancel)()
	index, err := h.askReadIndex(ctx, leader)
	if err == nil {
		err = h.catchUp(ctx, index)
	}
	if err != nil && ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	return none, err
}

// cancelWithLeader calls cancel when another server leads. The caller calls stop when it waits no
// longer.
func (h *Handler) cancelWithLeader(leader string, cancel func()) (stop func()) {
	done := make(chan struct{})
	var look func()
	look = func() {
		select {
		case <-done:
			return
		default:
		}
		if now, known := h.Leader(); h.leads() || known && now != leader {
			cancel()
			return
		}
		time.AfterFunc(leaderLook, look)
	}
	first := time.AfterFunc(leaderLook, look)
	return func() {
		first.Stop()
		close(done)
	}
}

// askReadIndex asks the leader for a read index.
func (h *Handler) askReadIndex(ctx context.Context, leader string) (uint64, error) {
	transport, scheme := h.outbound()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+leader+readIndexPath, nil)
	if err != nil {
		return 0, err
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return 0, unreachable(leader, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	switch {
	case err != nil:
		return 0, unreachable(leader, err)
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed:
		return 0, errOlderLeader
	case resp.StatusCode != http.StatusOK:
		return 0, api.Errorf(api.CodeUnavailable, "the server at %s does not confirm that it leads: %s", leader, api.Printable(strings.TrimSpace(string(text)), 1000))
	}
	var answer api.ReadIndex
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, api.Errorf(api.CodeUnavailable, "the server at %s answers with an unreadable read index: %v", leader, err)
	}
	return answer.Index, nil
}

// getReadIndex answers another server.
func getReadIndex(c *call) error {
	if !c.leads() {
		c.w.Header().Set(notLeaderHeader, c.self())
		return api.Errorf(api.CodeUnavailable, "this server does not lead")
	}
	index, err := c.readIndex(c.r.Context())
	if err != nil {
		return err
	}
	return c.writeJSON(http.StatusOK, api.ReadIndex{Index: index})
}

// awaitCurrent waits until this server may answer the request. It reports true if it forwarded the
// request instead.
func (c *call) awaitCurrent(patience time.Duration) (forwarded bool, err error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), patience)
	defer cancel()
	last := fmt.Errorf("no answer of the leader within %s", patience)
	for pause := minLeaderPause; ; pause = min(2*pause, maxLeaderPause) {
		err := c.canAnswer(ctx)
		switch {
		case err == nil:
			return false, nil
		case errors.Is(err, errOlderLeader) && c.forward():
			return true, nil
		case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
			last = err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false, api.Errorf(api.CodeUnavailable, "this server cannot confirm that its state is current: %v; see `reeve server list`, or read with ?stale from any server", last)
		}
		if c.forwards() && c.forward() { // this server does not lead any more
			return true, nil
		}
	}
}

// confirmAgain waits until this server may answer a query that waited for changes until a time. The
// server may have been cut off meanwhile. It reports true if it forwarded the request instead.
func (c *call) confirmAgain(until time.Time) (forwarded bool, err error) {
	c.route = c.route.fromAnyServer()
	return c.awaitCurrent(max(c.patience, time.Until(until)))
}

// checkContact returns an error if a stream of this server can have no news because the server has
// heard of no leader for a while.
func (c *call) checkContact() error {
	if c.Server == nil || c.Leader == nil || c.route.Leads || c.isStaleRead() {
		return nil
	}
	if silent := c.lastContact(); silent > silence {
		return api.Errorf(api.CodeUnavailable, "this server has heard of no leader for %s: connect to another server", silent.Round(time.Second))
	}
	return nil
}
