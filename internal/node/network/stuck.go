// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// setStuck notes why a network cannot be removed; nil: it can, or was not tried. Those who wait for its
// ports are told, because it may take long, or until somebody repairs a plugin.
func (f *Fabric) setStuck(n *network, problem error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case problem != nil && n.problem == nil:
		close(n.stuck)
	case problem == nil && n.problem != nil:
		n.stuck = make(chan struct{})
	}
	n.problem = problem
}

// stuckNow returns a channel that is closed once the removal of a network has failed.
func (f *Fabric) stuckNow(n *network) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return n.stuck
}

// problemOf returns why a network cannot be removed.
func (f *Fabric) problemOf(n *network) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return n.problem
}

// blocked returns why a request cannot have what a network holds that cannot be removed.
func (f *Fabric) blocked(q Request, other *network) error {
	what := "the allocation's former network"
	if other.rec.Alloc != q.Alloc {
		p, _ := collision(q.Ports, other.rec.Ports)
		what = fmt.Sprintf("port %d of the node belongs to allocation %s, which has ended, but whose network", p.Host, api.ShortID(other.rec.Alloc))
	}
	return fmt.Errorf("%s cannot be removed (the agent tries again every minute): %w", what, f.problemOf(other))
}
