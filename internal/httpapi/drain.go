// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"sync"
)

// writes counts the requests in flight that may change something, without streams.
type writes struct {
	mu    sync.Mutex
	count int
	idle  chan struct{} // closed when the count becomes 0; nil if nobody waits
}

func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("Upgrade") == ""
}

func (w *writes) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
}

func (w *writes) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count--; w.count == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// Drain returns when no write is in flight, or with the context: a server that handed
// leadership over ends only then, so that no client has to guess the fate of its request.
func (h *Handler) Drain(ctx context.Context) {
	h.writes.mu.Lock()
	if h.writes.count == 0 {
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
	}
}
