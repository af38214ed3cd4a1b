// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/certs"
	"github.com/reeve-run/reeve/internal/router/variables"
)

// A domain is one domain with its variable.
type domain struct {
	issuer  *Issuer
	name    string
	path    string
	feed    *certs.Feed
	stop    func()
	changed chan struct{} // receives an element when the fields below change

	mu     sync.Mutex // guards the fields below
	known  bool       // reports whether the variable was read, or does not exist
	locked bool       // reports whether a router orders
	record record
	local  error // why this router could not order, although it should
}

// watch follows the variable of the domain.
func (d *domain) watch(ctx context.Context) {
	c := &d.issuer.config
	variables.Follow(ctx, c.Open, c.Namespace, d.path, func(v *api.Variable, err error) {
		if err != nil && api.CodeOf(err) != api.CodeNotFound {
			d.receive(nil, fmt.Errorf("variable %s cannot be read: %w", d.path, err))
			return
		}
		d.receive(v, nil)
	})
}

// receive uses the content of the variable; nil: it does not exist. An error leaves the last
// content in use.
func (d *domain) receive(v *api.Variable, err error) {
	d.mu.Lock()
	d.known = err == nil
	if err == nil {
		d.record, d.locked = record{}, false
		if v != nil {
			d.record, d.locked = recordOf(v.Items), v.Lock != nil
		}
	}
	current := challenge{}
	if d.locked {
		current = d.record.challenge // one without an order is a remainder
	}
	d.mu.Unlock()
	d.issuer.answer(d.name, current)
	d.offer(err)
	d.wake()
}

func (d *domain) wake() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

// offer passes the certificate to the store of the router, with the newest trouble.
func (d *domain) offer(err error) {
	d.mu.Lock()
	if d.known && d.record.due(d.name, time.Now()).After(time.Now()) {
		d.local = nil // another router was able to order
	}
	r, local := d.record, d.local
	d.mu.Unlock()
	switch {
	case err != nil:
	case local != nil:
		err = local
	case r.failure != "":
		next := "the next attempt is due"
		if at := r.due(d.name, time.Now()); at.After(time.Now()) {
			next = fmt.Sprintf("the next attempt is at %s; %s", at.UTC().Format(time.RFC3339), d.issuer.config.hint(d.name))
		}
		err = fmt.Errorf("ACME for %s: %s; %s", d.name, api.Printable(r.failure, 1000), next)
	case r.certificate == "":
		err = fmt.Errorf("ACME for %s: %w", d.name, certs.ErrPending)
	}
	d.feed.Offer(d.name, r.certificate, r.key, err)
}

const (
	localPause  = 15 * time.Second // after a failure to use the variables
	longestNap  = time.Hour        // between two looks at the time, which may be set
	unknownTime = 365 * 24 * time.Hour
)

// keep orders when it is time, until the context ends.
func (d *domain) keep(ctx context.Context) {
	var notBefore time.Time
	for {
		now := time.Now()
		wait := d.untilDue(now)
		if early := notBefore.Sub(now); early > wait {
			wait = early
		}
		if wait <= 0 {
			notBefore = time.Now().Add(d.attempt(ctx))
			continue
		}
		timer := time.NewTimer(min(wait, longestNap))
		select {
		case <-ctx.Done():
		case <-d.changed:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// untilDue returns the time until this router should order.
func (d *domain) untilDue(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.known || d.locked {
		return unknownTime // a change of the variable ends the wait
	}
	return d.record.due(d.name, now).Sub(now)
}

// attempt orders once, and returns the pause before the next attempt of this router.
func (d *domain) attempt(ctx context.Context) time.Duration {
	select {
	case d.issuer.orders <- struct{}{}:
		defer func() { <-d.issuer.orders }()
	case <-ctx.Done():
		return 0
	}
	if d.untilDue(time.Now()) > 0 { // another router was faster while this one waited
		return 0
	}
	err := d.order(ctx)
	var local *localError
	switch {
	case ctx.Err() != nil:
		return 0
	case err == nil, errors.Is(err, errBusy):
		err = nil
	case errors.As(err, &local):
		err = fmt.Errorf("ACME for %s: %w", d.name, err)
	}
	d.mu.Lock()
	d.local = err
	d.mu.Unlock()
	d.offer(nil)
	if err != nil {
		return localPause
	}
	return time.Second // until the result comes back by the variable
}
