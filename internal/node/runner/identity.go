// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Pauses between two attempts to get an identity.
const (
	identityRetry     = time.Second
	identityRetryMost = 30 * time.Second
	// adoptedSpread is the time over which an agent renews identities that were due while none ran.
	adoptedSpread = 10 * time.Second
)

// shown returns the identities that a task gets to see.
func shownIdentities(s *api.Task) (shown []*api.Identity) {
	for _, i := range s.AllIdentities() {
		if i.Env || i.HasFile() {
			shown = append(shown, i)
		}
	}
	return shown
}

// obtainIdentities writes the files of the task's identities, and returns their variables. It waits for
// the servers as long as ctx lasts: servers that are away fail no task.
func (t *task) obtainIdentities(ctx context.Context, a *api.Allocation, s *api.Task, owner allocdir.Owner) (env []string, err error) {
	shown := shownIdentities(s)
	if len(shown) == 0 {
		return nil, nil
	}
	if t.r.host.Identity == nil {
		return nil, fmt.Errorf("this node cannot sign identities")
	}
	renewals := map[string]time.Time{}
	for _, i := range shown {
		token, err := t.signedIdentity(ctx, a, s, i)
		if err != nil {
			return nil, err
		}
		if err := t.present(a, s, i, token.Token, owner); err != nil {
			return nil, err
		}
		if i.Env {
			env = append(env, i.EnvName()+"="+token.Token)
		}
		renewals[i.Label()] = renewal(i, time.Now())
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.renewals = renewals
	return env, nil
}

// renewal returns when an identity that was signed now is renewed: after half of its life, or a little
// earlier, so that those of many tasks spread.
func renewal(i *api.Identity, now time.Time) time.Time {
	if i.TTL <= 0 {
		return time.Time{}
	}
	return now.Add(i.TTL/2 - rand.N(i.TTL/20+1))
}

// signedIdentity asks the servers until they sign, and tells the task's user what it waits for.
func (t *task) signedIdentity(ctx context.Context, a *api.Allocation, s *api.Task, i *api.Identity) (*api.IdentityResponse, error) {
	for pause := identityRetry; ; pause = min(2*pause, identityRetryMost) {
		token, err := t.r.host.Identity(ctx, &api.IdentityRequest{AllocID: a.ID, Task: s.Name, Identity: i.Label()})
		if err == nil || ctx.Err() != nil {
			return token, err
		}
		if pause == identityRetry {
			t.say("Waits for its identity %q: %v", i.Label(), err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// say adds an event to the task.
func (t *task) say(format string, args ...any) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.addEvent(message(format, args...))
	t.r.host.Changed(t.r, true)
}

// present writes the file of an identity, if it has one.
func (t *task) present(a *api.Allocation, s *api.Task, i *api.Identity, token string, owner allocdir.Owner) error {
	if !i.HasFile() {
		return nil
	}
	return t.r.host.Dirs.WriteToken(a.ID, s.Name, i.FilePath(), token, owner)
}

// keepIdentities renews the identities of a run until stop is called.
func (t *task) keepIdentities(ctx context.Context, h driver.Handle) (stop func()) {
	r := t.r
	r.mu.Lock()
	alloc, spec := r.alloc, t.spec
	due := map[*api.Identity]time.Time{}
	for _, i := range shownIdentities(spec) {
		if i.TTL <= 0 {
			continue
		}
		at := t.renewals[i.Label()]
		if time.Until(at) < 0 { // also if the run has no record
			at = time.Now().Add(rand.N(min(adoptedSpread, i.TTL/4)))
		}
		due[i] = at
	}
	r.mu.Unlock()
	if len(due) == 0 || r.host.Identity == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			i := earliest(due)
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(due[i])):
			}
			due[i] = t.renewIdentity(ctx, alloc, spec, i, h)
			t.noteRenewal(i, due[i])
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// noteRenewal records when an identity is renewed next, for a later agent.
func (t *task) noteRenewal(i *api.Identity, at time.Time) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	next := maps.Clone(t.renewals)
	if next == nil {
		next = map[string]time.Time{}
	}
	next[i.Label()] = at
	t.renewals = next
	t.r.save()
}

func earliest(due map[*api.Identity]time.Time) (first *api.Identity) {
	for i, at := range due {
		if first == nil || at.Before(due[first]) {
			first = i
		}
	}
	return first
}

// renewIdentity replaces an identity, and tells the task as its job file says. It returns when to renew
// it next.
func (t *task) renewIdentity(ctx context.Context, a *api.Allocation, s *api.Task, i *api.Identity, h driver.Handle) time.Time {
	token, err := t.signedIdentity(ctx, a, s, i)
	if err == nil {
		var owner allocdir.Owner
		if owner, err = t.secretsOwner(a, s); err == nil {
			err = t.present(a, s, i, token.Token, owner)
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			t.say("Its identity %q was not renewed: %v", i.Label(), err)
		}
		return time.Now().Add(identityRetryMost)
	}
	switch i.ChangeMode {
	case api.IdentityChangeSignal:
		if err := h.Signal(ctx, i.ChangeSignal); err != nil && ctx.Err() == nil {
			t.say("Its identity %q was renewed, and signal %s failed: %v", i.Label(), i.ChangeSignal, err)
		}
	case api.IdentityChangeRestart:
		r := t.r
		r.mu.Lock()
		defer r.mu.Unlock()
		if t.requestRestart(&request{Words: "Its identity was renewed"}) {
			t.addEvent(event(api.EventRestartSignaled, "Its identity was renewed"))
			r.advance()
			r.save()
			r.host.Changed(r, true)
		}
	}
	return renewal(i, time.Now())
}
