// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package login

import (
	"container/list"
	"sync"
	"time"
)

const (
	pendingFor  = 10 * time.Minute // time for a user to log in at the provider
	pendingMost = 10_000           // logins that are remembered
)

// A pending login waits for its user to return from the provider.
type pending struct {
	state       string // random, which the provider returns
	method      string
	redirectURI string
	clientNonce string // of the program that began the login
	nonce       string // random, which the identity token must contain
	verifier    string // random, whose hash the provider knows (PKCE)
	ends        time.Time
}

// Requests remembers the logins that began in a browser. A flood forgets the oldest ones; the limit of each
// address keeps one address from that.
type Requests struct {
	mu    sync.Mutex
	known map[string]*list.Element // by state
	order list.List                // of *pending, oldest first
}

// add remembers a login.
func (r *Requests) add(p *pending, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for first := r.order.Front(); first != nil; first = r.order.Front() {
		if oldest := first.Value.(*pending); now.Before(oldest.ends) && r.order.Len() < pendingMost {
			break
		}
		r.forget(first)
	}
	if r.known == nil {
		r.known = map[string]*list.Element{}
	}
	r.known[p.state] = r.order.PushBack(p)
}

// take returns and forgets the login of a state; nil if it is not known, or ended.
func (r *Requests) take(state string, now time.Time) *pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.known[state]
	if !ok {
		return nil
	}
	p := r.forget(found)
	if !now.Before(p.ends) {
		return nil
	}
	return p
}

// forget removes a login. The caller holds mu.
func (r *Requests) forget(e *list.Element) *pending {
	p := r.order.Remove(e).(*pending)
	delete(r.known, p.state)
	return p
}
