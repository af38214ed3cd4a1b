// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"time"
)

// Pauses between attempts to reach a leader.
const (
	minLeaderPause = 10 * time.Millisecond
	maxLeaderPause = 250 * time.Millisecond
)

// leadershipLook is the interval at which a request that waits for a leader looks who leads. It
// costs no request, and is short because the request waits for the rest of it.
const leadershipLook = 2 * time.Millisecond

// A leadership is what this server knows about who leads.
type leadership struct {
	here  bool   // reports whether this server leads
	addr  string // of another leader
	known bool   // reports whether addr is known
}

func (h *Handler) leadership() leadership {
	l := leadership{here: h.leads()}
	if !l.here {
		l.addr, l.known = h.Leader()
	}
	return l
}

// awaitOther returns when the leadership differs from the seen one, and after the pause at the
// latest: a leader that refuses requests may lead on. It returns the error of a context that ends.
func (h *Handler) awaitOther(ctx context.Context, seen leadership, pause time.Duration) error {
	over := time.NewTimer(pause)
	defer over.Stop()
	look := time.NewTicker(leadershipLook)
	defer look.Stop()
	for h.leadership() == seen {
		select {
		case <-look.C:
		case <-over.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}
