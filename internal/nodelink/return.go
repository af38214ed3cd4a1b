// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/reeve-run/reeve/api"
)

// returnAfter is the least time after which a node leaves a healthy server for the one that it
// prefers. The most is twice as long: the nodes of a server that was away return one by one. It
// is also the least time between two such moves, so that a server that keeps failing costs its
// nodes little.
const returnAfter = 3 * time.Minute

// errReturns ends a connection whose node returns to the server that it prefers.
var errReturns = api.Errorf(api.CodeUnavailable, "the node returns to the server that it prefers")

// returnToPreferred ends a session when the server that the node prefers accepts the node again.
func (c *Client) returnToPreferred(ctx context.Context, s *session, nodeID string, told api.Position) {
	for {
		pause := time.NewTimer(returnAfter + rand.N(returnAfter))
		select {
		case <-pause.C:
		case <-s.done:
		case <-ctx.Done():
		}
		pause.Stop()
		if s.failure() != nil || ctx.Err() != nil {
			return
		}
		servers := c.Servers()
		if len(servers) == 0 || servers[0] == s.address || !c.accepts(ctx, servers[0], nodeID, told) {
			continue
		}
		c.mu.Lock()
		delete(c.failed, servers[0])
		c.mu.Unlock()
		s.close(errReturns)
		return
	}
}

// accepts reports whether a server accepts the node, which takes a leader that the server
// reaches. The present connection continues meanwhile.
func (c *Client) accepts(ctx context.Context, address, nodeID string, told api.Position) bool {
	trial, err := c.greet(ctx, address, nodeID, told)
	if err != nil {
		return false
	}
	trial.close(errReturns)
	return true
}
