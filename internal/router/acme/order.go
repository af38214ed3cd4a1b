// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"context"
	"errors"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/variables"
)

// Times of an order.
const (
	lockTTL      = 15 * time.Second
	lockRenewal  = 5 * time.Second
	lockTimeout  = 30 * time.Second
	orderTimeout = 5 * time.Minute
	endTimeout   = 10 * time.Second // for the last writes of an order
)

// errBusy means that another router orders, or that no order is due.
var errBusy = errors.New("another router orders")

// errLost is the cause of the end of an order whose lock ended.
var errLost = errors.New("the lock of the variable ended during the order")

// A lease is a locked variable.
type lease struct {
	domain *domain
	vars   variables.Client
	id     string
	record record
}

// order takes the lock of the domain's variable, obtains a certificate, and stores it or the
// failure. An error means that nothing was stored.
func (d *domain) order(ctx context.Context) error {
	l, err := d.lock(ctx)
	if err != nil {
		return err
	}
	defer l.release(ctx)
	if l.record.due(d.name, time.Now()).After(time.Now()) {
		return errBusy
	}
	c := &d.issuer.config
	c.Logger.Info("the router orders a certificate", "name", d.name, "authority", c.Directory, "attempt", l.record.attempts+1)
	limited, cancel := context.WithTimeout(ctx, orderTimeout)
	defer cancel()
	held, lost := context.WithCancelCause(limited)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		l.renew(held, lost)
	}()
	certPEM, keyPEM, err := d.issuer.authority.obtain(held, l.vars, d.name, l.present)
	cause := context.Cause(held)
	lost(nil)
	<-renewed
	var local *localError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(cause, errLost):
		return &localError{errLost}
	case errors.As(err, &local):
		return err
	}
	l.record.challenge = challenge{}
	if err != nil {
		l.record.attempts++
		l.record.failure = c.explain(d.name, err)
		l.record.retryAt = time.Now().Add(pauseAfter(err, l.record.attempts))
	} else {
		l.record = record{certificate: certPEM, key: keyPEM}
	}
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer stop()
	if err := l.store(ending); err != nil {
		return &localError{err}
	}
	return nil
}

// lock takes the lock. It fails with errBusy while another router holds it.
func (d *domain) lock(ctx context.Context) (*lease, error) {
	c := &d.issuer.config
	vars, err := c.Open(c.Namespace)
	if err != nil {
		return nil, &localError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	// Without a delay: the servers refuse writes of a holder that lost the lock.
	v, err := vars.Acquire(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: d.path, Lock: &api.VariableLock{TTL: lockTTL.String(), LockDelay: "0s"}}})
	switch {
	case api.CodeOf(err) == api.CodeConflict:
		return nil, errBusy
	case err != nil:
		return nil, &localError{err}
	}
	return &lease{domain: d, vars: vars, id: v.Lock.ID, record: recordOf(v.Items)}, nil
}

// renew extends the lock until the context ends. It calls lost once the lock may have ended.
func (l *lease) renew(ctx context.Context, lost context.CancelCauseFunc) {
	tick := time.NewTicker(lockRenewal)
	defer tick.Stop()
	for ends := time.Now().Add(lockTTL); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		asked := time.Now()
		call, cancel := context.WithTimeout(ctx, lockRenewal)
		_, err := l.vars.Renew(call, l.domain.path, l.id)
		cancel()
		switch {
		case err == nil:
			ends = asked.Add(lockTTL)
		case ctx.Err() != nil:
			return
		case api.CodeOf(err) == api.CodeConflict, api.CodeOf(err) == api.CodeNotFound, time.Now().After(ends):
			lost(errLost)
			return
		}
	}
}

// present shows a challenge to all routers.
func (l *lease) present(ctx context.Context, c challenge) error {
	l.record.challenge = c
	return l.store(ctx)
}

// store writes the record. The servers refuse it if the lock has ended.
func (l *lease) store(ctx context.Context) error {
	_, err := l.vars.Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: l.domain.path, Lock: &api.VariableLock{ID: l.id}}, Items: l.record.items()})
	return err
}

// release ends the lock, also when the router stops. An error means that the lock has ended or
// will end by itself.
func (l *lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	l.vars.Release(ctx, l.domain.path, l.id)
}
