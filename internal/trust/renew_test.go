// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// A signer answers renewals, and notes when they came.
type signer struct {
	ca
	m Member

	mu    sync.Mutex
	slow  time.Duration // error of the clock
	err   error
	times []time.Time
	keys  [][]byte
}

// fail makes the next renewals fail; nil ends that.
func (s *signer) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// attempts returns the times of all renewals so far.
func (s *signer) attempts() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.times)
}

func (s *signer) ask(_ context.Context, csr []byte) (cert, roots []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, time.Now())
	s.keys = append(s.keys, must(pki.RequestKey(csr)))
	if s.err != nil {
		return nil, nil, s.err
	}
	return s.sign(csr, s.m, s.slow), s.CertPEM(), nil
}

// renewing starts the loop of a new member, and returns its store and signer.
func renewing(t *testing.T, dir string) (*Store, *signer) {
	t.Helper()
	a := &signer{ca: newCA(), m: member("n1", pki.RoleNode)}
	s := a.join(t, dir, a.m)
	s.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Renew(ctx, a.ask) }()
	t.Cleanup(func() { cancel(); <-done })
	return s, a
}

const days = 24 * time.Hour

func TestCertificatesAreRenewedBeforeTheyExpire(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := identityDir(t)
		start := time.Now()
		s, a := renewing(t, dir)
		for range 365 {
			time.Sleep(days)
			if left := time.Until(s.Expires()); left < 17*days {
				t.Fatalf("the certificate expires in %s", left)
			}
			if w := s.Warning(time.Now()); w != "" {
				t.Fatalf("a warning while all is well: %s", w)
			}
		}
		for i, at := range a.attempts() {
			if life := at.Sub(start); life < 45*days || life > 73*days {
				t.Errorf("renewal %d came after %s, want 45 to 72 days", i, life)
			}
			start = at
			if i > 0 && bytes.Equal(a.keys[i], a.keys[i-1]) {
				t.Error("a renewal kept the key")
			}
		}
		if n := len(a.attempts()); n < 5 || n > 8 {
			t.Errorf("%d renewals in a year, want 5 to 8", n)
		}
		again := must(Open(dir))
		if !again.Expires().Equal(s.Expires()) {
			t.Error("the renewed certificate was not stored")
		}
		m, _ := again.Member()
		if len(m.Servers) != 1 {
			t.Errorf("the servers were forgotten: %v", m.Servers)
		}
	})
}

func TestFailedRenewalsAreRepeatedWithGrowingDelays(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, a := renewing(t, identityDir(t))
		a.fail(errors.New("connection refused"))
		time.Sleep(80 * days)
		times := a.attempts()
		if len(times) < 10 {
			t.Fatalf("%d attempts", len(times))
		}
		var last time.Duration
		for i := 1; i < len(times); i++ {
			delay := times[i].Sub(times[i-1])
			if delay < 3*time.Second || delay > time.Hour+askTimeout {
				t.Fatalf("delay %d is %s, want 5 s to an hour", i, delay)
			}
			if i == 1 && delay > 6*time.Second || i == 4 && (delay < 25*time.Second || delay > 45*time.Second) {
				t.Errorf("delay %d is %s", i, delay)
			}
			last = delay
		}
		if last < 40*time.Minute {
			t.Errorf("the last delay is %s, want about an hour", last)
		}
		wantText(t, s.Warning(time.Now()), "expires in 10 days and could not be renewed: connection refused")
		time.Sleep(9*days + 23*time.Hour)
		wantText(t, s.Warning(time.Now()), "could not be renewed: connection refused")
		time.Sleep(4 * time.Hour)
		wantText(t, s.Warning(time.Now()), "certificate expired 3 hours ago and could not be renewed: connection refused")

		// An expired member renews soon after a server answers.
		a.fail(nil)
		at := time.Now()
		time.Sleep(2 * time.Minute)
		if w := s.Warning(time.Now()); w != "" || time.Until(s.Expires()) < 89*days {
			t.Errorf("%s after a server answers: %q, expires at %s", time.Since(at), w, s.Expires())
		}
	})
}

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("warning %q does not say %q", got, want)
	}
}

func TestShortFailuresCauseNoWarning(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, a := renewing(t, identityDir(t))
		a.fail(errors.New("no leader"))
		s.RenewNow()
		time.Sleep(30 * time.Minute)
		if w := s.Warning(time.Now()); w != "" || len(a.attempts()) < 3 {
			t.Errorf("warning %q after %d attempts in half an hour", w, len(a.attempts()))
		}
		time.Sleep(time.Hour)
		wantText(t, s.Warning(time.Now()), "certificate expires in 89 days and could not be renewed: no leader")
		n := len(a.attempts())
		a.fail(nil)
		s.RenewNow() // does not wait for the retry
		synctest.Wait()
		if got := len(a.attempts()); got != n+1 || s.Warning(time.Now()) != "" {
			t.Errorf("%d attempts, warning %q; want one attempt, and no warning", got-n, s.Warning(time.Now()))
		}
		time.Sleep(40 * days)
		if len(a.attempts()) != n+1 {
			t.Errorf("%d further attempts long before the renewal is due", len(a.attempts())-n-1)
		}
	})
}

func TestSlowClockOfAServerCausesNoFlood(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a := &signer{ca: newCA(), m: member("n1", pki.RoleNode)}
		time.Sleep(100 * days)
		s := a.join(t, identityDir(t), a.m)
		a.slow = 85 * days // its certificates are due when they are new
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); s.Renew(ctx, a.ask) }()
		s.RenewNow()
		time.Sleep(time.Hour)
		if n := len(a.attempts()); n < 2 || n > 62 {
			t.Errorf("%d renewals in an hour, want one a minute", n)
		}
		cancel()
		<-done
	})
}

func TestBadAnswersChangeNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := identityDir(t)
		c, foreign := newCA(), newCA()
		m := member("n1", pki.RoleNode)
		s := c.join(t, dir, m)
		before := contents(t, dir)
		for what, answer := range map[string]func(csr []byte) (cert, roots []byte, err error){
			"foreign": func(csr []byte) ([]byte, []byte, error) { return foreign.sign(csr, m, 0), c.CertPEM(), nil },
			"other member": func(csr []byte) ([]byte, []byte, error) {
				return c.sign(csr, member("n2", m.Role), 0), c.CertPEM(), nil
			},
			"other role": func(csr []byte) ([]byte, []byte, error) {
				return c.sign(csr, member("n1", pki.RoleServer), 0), c.CertPEM(), nil
			},
			"other key": func([]byte) ([]byte, []byte, error) {
				return c.sign(must(pki.NewRequest(must(pki.NewKey()), "n1")), m, 0), c.CertPEM(), nil
			},
			"other cluster": func(csr []byte) ([]byte, []byte, error) {
				return foreign.sign(csr, m, 0), foreign.CertPEM(), errors.New("refused")
			},
			"nothing": func([]byte) ([]byte, []byte, error) { return nil, nil, nil },
			"garbage": func([]byte) ([]byte, []byte, error) { return []byte("x"), []byte("y"), nil },
		} {
			if err := s.renewOnce(t.Context(), func(_ context.Context, csr []byte) ([]byte, []byte, error) { return answer(csr) }); err == nil {
				t.Errorf("%s: accepted", what)
			}
		}
		for name, text := range contents(t, dir) {
			if text != before[name] {
				t.Errorf("%s changed", name)
			}
		}
	})
}

func TestRenewalOfAnAgentThatJoinsLater(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := identityDir(t)
		a := &signer{ca: newCA(), m: member("n1", pki.RoleNode)}
		s := must(Open(dir))
		done := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { defer close(done); s.Renew(ctx, a.ask) }()
		time.Sleep(10 * days)
		csr, _, err := s.Prepare("n1")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Enter(a.m, a.sign(csr, a.m, 0), a.CertPEM()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(44 * days)
		if len(a.attempts()) != 0 {
			t.Errorf("renewed after %s", a.attempts()[0])
		}
		time.Sleep(30 * days)
		if len(a.attempts()) != 1 {
			t.Errorf("%d renewals in 74 days, want 1", len(a.attempts()))
		}
		cancel()
		<-done
	})
}

func TestRenewalEndsWithItsContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c := newCA()
		s := c.join(t, identityDir(t), member("n1", pki.RoleNode))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		asked := make(chan struct{})
		go func() {
			defer close(done)
			s.Renew(ctx, func(ctx context.Context, _ []byte) ([]byte, []byte, error) {
				close(asked)
				<-ctx.Done() // a server that never answers
				return nil, nil, ctx.Err()
			})
		}()
		s.RenewNow()
		<-asked
		cancel()
		<-done
		if w := s.Warning(time.Now()); w != "" {
			t.Errorf("an agent that stops warns: %s", w)
		}
	})
}

func TestIdentityThatAnotherProcessRenewedIsKept(t *testing.T) {
	dir, c := identityDir(t), newCA()
	m := member("n1", pki.RoleNode)
	mine := c.join(t, dir, m)
	theirs := must(Open(dir))
	key := must(pki.NewKey())
	theirs.setPending(key)
	if err := theirs.Enter(m, c.sign(must(pki.NewRequest(key, "n1")), m, 0), c.CertPEM()); err != nil {
		t.Fatal(err)
	}
	if err := mine.SetServers([]string{"10.0.0.9:4646"}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mine.current.Load().files[keyFile], key) || !bytes.Equal(must(os.ReadFile(filepath.Join(dir, keyFile))), key) {
		t.Error("the renewed key was overwritten, or is not used")
	}
}
