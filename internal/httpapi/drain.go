// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// writes counts the requests in flight that may change something, without streams.
type writes struct {
	mu    sync.Mutex
	count int
	over  bool          // no other write may begin
	idle  chan struct{} // closed when the count becomes 0; nil if nobody waits
}

func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Upgrade") == ""
}

// begin reports whether a write may begin.
func (w *writes) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	w.count++
	return true
}

func (w *writes) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count--; w.count == 0 && w.idle != nil {
		close(w.idle)
		w.idle, w.over = nil, true
	}
}

// stop ends the beginning of writes.
func (w *writes) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

// Drain returns when no write is in flight, or with the context: a server that handed
// leadership over ends only then, so that no client has to guess the fate of its request. From
// that moment on, the handler does nothing with a write; servers send theirs to another one.
func (h *Handler) Drain(ctx context.Context) {
	h.writes.mu.Lock()
	if h.writes.count == 0 {
		h.writes.over = true
		h.writes.mu.Unlock()
		return
	}
	if h.writes.idle == nil {
		h.writes.idle = make(chan struct{})
	}
	idle := h.writes.idle
	h.writes.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
		h.writes.stop()
	}
}

// errEnding returns the error of a write that reaches an agent at its end.
func errEnding() error {
	return api.Errorf(api.CodeUnavailable, "this agent is shutting down and did nothing with the request: send it to another server, or here again once the agent runs")
}
