// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// signTimeout bounds one request for identities.
const signTimeout = 30 * time.Second

// A signer asks the servers for identities. While one request is under way, further ones gather, and
// become the next request: many tasks that start together cost few requests.
type signer struct {
	ctx context.Context // of the node
	ask func(context.Context, []*api.IdentityRequest) ([]*api.IdentityResponse, error)

	mu      sync.Mutex
	waiting []*signing
	asks    bool // a request is under way
}

// A signing is a task that waits for a token.
type signing struct {
	request *api.IdentityRequest
	ctx     context.Context
	done    chan struct{}
	signed  *api.IdentityResponse
	err     error
}

func newSigner(ctx context.Context, ask func(context.Context, []*api.IdentityRequest) ([]*api.IdentityResponse, error)) *signer {
	return &signer{ctx: ctx, ask: ask}
}

// sign returns the token of a task.
func (s *signer) sign(ctx context.Context, r *api.IdentityRequest) (*api.IdentityResponse, error) {
	w := &signing{request: r, ctx: ctx, done: make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	begin := !s.asks
	s.asks = true
	s.mu.Unlock()
	if begin {
		go s.run()
	}
	select {
	case <-w.done:
		return w.signed, w.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run asks until no task waits.
func (s *signer) run() {
	for batch := s.next(); len(batch) > 0; batch = s.next() {
		requests := make([]*api.IdentityRequest, len(batch))
		for i, w := range batch {
			requests[i] = w.request
		}
		ctx, cancel := context.WithTimeout(s.ctx, signTimeout)
		signed, err := s.ask(ctx, requests)
		cancel()
		for i, w := range batch {
			if w.err = err; err == nil {
				if w.signed = signed[i]; w.signed.Error != nil {
					w.signed, w.err = nil, w.signed.Error
				}
			}
			close(w.done)
		}
	}
}

// next returns the tasks of the next request; none if no task waits.
func (s *signer) next() (batch []*signing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.waiting) && len(batch) < api.MaxIdentities {
		if w := s.waiting[n]; w.ctx.Err() == nil {
			batch = append(batch, w)
		}
		n++
	}
	if s.waiting = s.waiting[n:]; len(batch) == 0 {
		s.waiting, s.asks = nil, false
	}
	return batch
}
