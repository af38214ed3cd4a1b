// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
)

// Times of the renewal.
const (
	minRetry   = 5 * time.Second // delay after the first failure; it doubles with each
	maxRetry   = time.Hour
	lateRetry  = time.Minute // maximum delay when the certificate expires soon, and minimum time between renewals
	askTimeout = time.Minute
	checkClock = time.Hour // maximum sleep: the clock may jump, and a machine may be suspended
)

// A renewal is the progress of the renewals of a certificate.
type renewal struct {
	poke chan struct{} // wakes the loop

	mu      *sync.Mutex
	asked   bool      // reports whether RenewNow was called, and Renew has not seen it
	failing time.Time // beginning of the failures; zero if the last renewal succeeded
	cause   error     // of the last failure
}

func newRenewal() renewal { return renewal{poke: make(chan struct{}, 1), mu: new(sync.Mutex)} }

func (r *renewal) wake() {
	select {
	case r.poke <- struct{}{}:
	default: // it will wake already
	}
}

// sleep sleeps for a time, or for a part of it; false if the context ended.
func (r *renewal) sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(min(d, checkClock))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-r.poke:
	}
	return ctx.Err() == nil
}

// takeRequest reports whether RenewNow was called since it was last called itself.
func (r *renewal) takeRequest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = false
	return asked
}

// record notes the result of a renewal, for Warning.
func (r *renewal) record(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cause = err
	switch {
	case err == nil:
		r.failing = time.Time{}
	case r.failing.IsZero():
		r.failing = time.Now()
	}
}

// RenewNow makes Renew ask for a certificate immediately: when the cluster has a new root.
func (s *Store) RenewNow() {
	s.renewal.mu.Lock()
	s.renewal.asked = true
	s.renewal.mu.Unlock()
	s.renewal.wake()
}

// Renew renews the certificate until the context ends. ask sends a certificate signing
// request to a server, and returns the certificate and the roots. Every renewal has a new key.
// A certificate is renewed between 50 and 80 % of its life, or when RenewNow is called.
// Failures are retried after 5 seconds to an hour.
func (s *Store) Renew(ctx context.Context, ask func(ctx context.Context, csrPEM []byte) (certPEM, rootsPEM []byte, err error)) {
	spread := rand.Float64()
	var wanted bool // RenewNow was called
	var failures int
	var retry time.Time
	for {
		if s.renewal.takeRequest() {
			wanted, retry = true, time.Time{}
		}
		if now, due := time.Now(), s.due(spread, wanted, retry); now.Before(due) {
			if !s.renewal.sleep(ctx, due.Sub(now)) {
				return
			}
			continue
		}
		err := s.renewOnce(ctx, ask)
		if ctx.Err() != nil {
			return
		}
		s.renewal.record(err)
		if err == nil {
			if s.Renewed != nil {
				s.Renewed(ctx)
			}
			// The pause is for a new certificate that is due already, as a server with a slow
			// clock signs it.
			wanted, failures, retry, spread = false, 0, time.Now().Add(lateRetry), rand.Float64()
			continue
		}
		delay := s.retryDelay(failures)
		failures, retry = failures+1, time.Now().Add(delay)
		level := slog.LevelWarn
		if s.Warning(time.Now()) != "" {
			level = slog.LevelError
		}
		s.logger().Log(ctx, level, "certificate was not renewed", "error", err, "expires", s.Expires(), "retry", delay)
	}
}

// due returns the time of the next renewal; a far one without a certificate.
func (s *Store) due(spread float64, wanted bool, retry time.Time) time.Time {
	st := s.current.Load()
	switch {
	case !st.joined():
		return time.Now().Add(checkClock)
	case wanted:
		return retry
	}
	due := pki.RenewAt(st.identity.NotBefore, st.identity.NotAfter, spread)
	if retry.After(due) {
		return retry
	}
	return due
}

// retryDelay returns the delay after a failure that follows n others. It is random in part,
// because a fleet loses its servers together.
func (s *Store) retryDelay(n int) time.Duration {
	most := min(maxRetry, max(lateRetry, time.Until(s.Expires())/4))
	delay := minRetry << min(n, 16)
	return min(delay, most)*3/4 + rand.N(min(delay, most)/4+1)
}

func (s *Store) renewOnce(ctx context.Context, ask func(context.Context, []byte) ([]byte, []byte, error)) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	m, _ := s.Member()
	m.Servers = nil // keep those that are known when the answer arrives
	key, err := pki.NewKey()
	if err != nil {
		return err
	}
	csr, err := pki.NewRequest(key, m.ID)
	if err != nil {
		return err
	}
	s.setPending(key)
	defer s.setPending(nil)
	cert, roots, err := ask(ctx, csr)
	if err != nil {
		return err
	}
	if len(cert) == 0 {
		return errors.New("the server returned no certificate")
	}
	return s.Enter(m, cert, roots)
}

func (s *Store) setPending(key []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = key
}
