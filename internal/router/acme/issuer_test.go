// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	protocol "github.com/mholt/acmez/v3/acme"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/certs"
	"github.com/reeve-run/reeve/internal/router/variables"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/fakevars"
	"github.com/reeve-run/reeve/internal/testbed/output"
	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

const shop = "shop.example.com"

// A fakeAuthority signs certificates for its domains.
type fakeAuthority struct {
	ca     *testcert.Authority
	life   time.Duration
	during func(ctx context.Context) // called after the challenge is presented; set before the routers start

	mu     sync.Mutex // guards the fields below
	orders map[string]int
	err    error
}

// counts returns the number of orders by domain.
func (a *fakeAuthority) counts() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.orders)
}

// refuse makes the next orders fail; nil ends that.
func (a *fakeAuthority) refuse(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
}

func (a *fakeAuthority) obtain(ctx context.Context, _ variables.Client, domain string, present func(context.Context, challenge) error) (string, string, error) {
	a.mu.Lock()
	a.orders[domain]++
	failure := a.err
	a.mu.Unlock()
	if err := present(ctx, challenge{HTTP01, "token", "answer"}); err != nil {
		return "", "", &localError{err}
	}
	if a.during != nil {
		a.during(ctx)
	}
	if failure != nil || ctx.Err() != nil {
		return "", "", errors.Join(failure, ctx.Err())
	}
	p := a.ca.Issue(time.Now().Add(a.life), domain)
	return string(p.Cert), string(p.Key), nil
}

// A fleet is several routers with one cluster and one authority.
type fleet struct {
	t         *testing.T
	vars      *fakevars.Store
	authority *fakeAuthority
	config    Config
	log       output.Text
}

func newFleet(t *testing.T, domains ...string) *fleet {
	return &fleet{t: t, vars: fakevars.New(), authority: &fakeAuthority{ca: testcert.New(t), life: 30 * time.Hour, orders: map[string]int{}},
		config: Config{Domains: domains, Agreed: true, Directory: DefaultDirectory, Prefix: DefaultPrefix, Namespace: "default"}}
}

// A member is one router.
type member struct {
	*Issuer
	store *certs.Store

	stop func()
}

func (f *fleet) start() *member {
	f.t.Helper()
	log := slog.New(slog.NewTextHandler(&f.log, nil))
	m := &member{store: certs.New(nil, nil, log)}
	c := f.config
	c.Open = func(namespace string) (variables.Client, error) { return f.vars.In(namespace), nil }
	c.Store, c.Logger = m.store, log
	var err error
	if m.Issuer, err = New(c); err != nil {
		f.t.Fatal(err)
	}
	m.authority = f.authority
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Run(ctx)
	}()
	m.stop = func() { cancel(); <-done }
	f.t.Cleanup(m.stop)
	return m
}

func (m *member) serves(name string) bool {
	return m.store.For(&tls.ClientHelloInfo{ServerName: name, SupportedVersions: []uint16{tls.VersionTLS13}}) != nil
}

func (m *member) problem() string {
	all := m.store.Status(time.Now())
	if len(all) == 0 {
		return ""
	}
	return all[0].Problem
}

func TestSeveralRoutersOrderOnceAndServeTheResult(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop, "api.example.com")
		a, b, c := f.start(), f.start(), f.start()
		bubble.Pass(10 * time.Second)
		for _, m := range []*member{a, b, c} {
			if !m.serves(shop) || !m.serves("api.example.com") || m.problem() != "" {
				t.Errorf("a router does not serve: %+v", m.store.Status(time.Now()))
			}
		}
		if f.authority.counts()[shop] != 1 || f.authority.counts()["api.example.com"] != 1 {
			t.Errorf("orders: %v", f.authority.counts())
		}
		// The certificate began 24 hours ago and ends in 30: it is renewed after 36 of the 54 hours.
		bubble.Pass(29 * time.Hour)
		if f.authority.counts()[shop] < 2 || !a.serves(shop) || !c.serves(shop) || a.problem() != "" {
			t.Errorf("no renewal: orders %v, %+v", f.authority.counts(), a.store.Status(time.Now()))
		}
		if n := f.authority.counts()[shop]; n > 4 {
			t.Errorf("%d orders in 29 hours", n)
		}
	})
}

func TestEveryRouterAnswersTheChallenge(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop)
		routers := make(chan []*member, 1)
		f.authority.during = func(context.Context) {
			all := <-routers
			time.Sleep(settleTime)
			for _, m := range all {
				for _, q := range []struct{ host, token, want string }{
					{shop, "token", "answer"}, {shop, "other", ""}, {shop, "", ""}, {"api.example.com", "token", ""}, {"", "token", ""}, {shop, "../token", ""},
				} {
					if got := m.HTTPAnswer(q.host, q.token); got != q.want {
						t.Errorf("answer to %+v: %q", q, got)
					}
				}
			}
		}
		a, b := f.start(), f.start()
		routers <- []*member{a, b}
		bubble.Pass(10 * time.Second)
		if asked := f.authority.counts()[shop]; asked != 1 || a.HTTPAnswer(shop, "token") != "" || b.HTTPAnswer(shop, "token") != "" {
			t.Errorf("%d orders; the challenge is answered after the order: %q", asked, a.HTTPAnswer(shop, "token"))
		}
	})
}

func TestFailuresArePausedByAllRouters(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop)
		f.authority.refuse(protocol.Problem{Type: protocol.ProblemTypeConnection, Detail: "connection refused\x1b[31m" + strings.Repeat("x", 5000)})
		a, b := f.start(), f.start()
		bubble.Pass(59 * time.Minute)
		if n := f.authority.counts()[shop]; n != 3 { // at 0, 10 and 40 minutes
			t.Errorf("%d orders in an hour of failures", n)
		}
		for _, m := range []*member{a, b} {
			p := m.problem()
			for _, want := range []string{"ACME for " + shop, "connection refused", "port 80", "the next attempt is at", "reeve var put -namespace default -merge acme/acme-v02_api_letsenc-"} {
				if !strings.Contains(p, want) {
					t.Errorf("problem %q does not contain %q", p, want)
				}
			}
			if strings.Contains(p, "\x1b") || len(p) > 2000 {
				t.Errorf("the text of the authority is not bounded: %d bytes", len(p))
			}
		}
		if !strings.Contains(f.log.String(), "connection refused") {
			t.Errorf("the log does not have the cause:\n%s", f.log.String())
		}
		// An operator repairs the cause, and asks for an attempt.
		f.authority.refuse(nil)
		vars := f.vars.In("default")
		v, _, err := vars.Get(t.Context(), f.config.pathOf(shop), nil)
		if err != nil {
			t.Fatal(err)
		}
		v.Items[itemRetry] = "now"
		if _, err := vars.Put(t.Context(), &api.Variable{VariableMetadata: api.VariableMetadata{Path: v.Path}, Items: v.Items}); err != nil {
			t.Fatal(err)
		}
		bubble.Pass(5 * time.Second)
		if f.authority.counts()[shop] != 4 || !a.serves(shop) || !b.serves(shop) || a.problem() != "" {
			t.Errorf("after the repair: %v, %q", f.authority.counts(), a.problem())
		}
		// A failed renewal keeps the certificate.
		f.authority.refuse(protocol.Problem{Type: protocol.ProblemTypeRateLimited, Detail: "too many"})
		bubble.Pass(20 * time.Hour)
		if !a.serves(shop) || !strings.Contains(a.problem(), "too many") || f.authority.counts()[shop] < 5 {
			t.Errorf("after a failed renewal: %v, %q", f.authority.counts(), a.problem())
		}
	})
}

func TestARouterThatStopsReleasesItsOrder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop)
		first := true
		f.authority.during = func(ctx context.Context) {
			if first {
				first = false
				<-ctx.Done()
			}
		}
		a := f.start()
		bubble.Pass(time.Second)
		b := f.start()
		bubble.Pass(time.Minute)
		if b.serves(shop) || f.authority.counts()[shop] != 1 {
			t.Errorf("two orders at a time: %v", f.authority.counts())
		}
		a.stop()
		bubble.Pass(5 * time.Second)
		if !b.serves(shop) || f.authority.counts()[shop] != 2 {
			t.Errorf("the other router did not order: %v, %q", f.authority.counts(), b.problem())
		}
	})
}

// A router that is paused or cut off during an order loses the lock. Another router orders, and
// the first one cannot overwrite the result.
func TestALostLockIsFenced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop)
		resume := make(chan struct{})
		first := true
		f.authority.during = func(context.Context) {
			if first {
				first = false
				<-resume // it ignores the end of the context, as a paused process does
			}
		}
		a := f.start()
		bubble.Pass(time.Second)
		v, _, err := f.vars.In("default").Get(t.Context(), f.config.pathOf(shop), nil)
		if err != nil || v.Lock == nil {
			t.Fatalf("the variable is not locked: %v", err)
		}
		if _, err := f.vars.In("default").Release(t.Context(), v.Path, v.Lock.ID); err != nil { // as if its TTL had passed
			t.Fatal(err)
		}
		b := f.start()
		bubble.Pass(10 * time.Second)
		if !b.serves(shop) || f.authority.counts()[shop] != 2 {
			t.Fatalf("the second router did not order: %v, %q", f.authority.counts(), b.problem())
		}
		before, _, _ := f.vars.In("default").Get(t.Context(), v.Path, nil)
		close(resume)
		bubble.Pass(time.Minute)
		after, _, _ := f.vars.In("default").Get(t.Context(), v.Path, nil)
		if after.Items[certs.ItemCertificate] != before.Items[certs.ItemCertificate] || after.ModifyIndex != before.ModifyIndex || f.authority.counts()[shop] != 2 {
			t.Errorf("the late order changed the variable: index %d, then %d; orders %v", before.ModifyIndex, after.ModifyIndex, f.authority.counts())
		}
		if !a.serves(shop) || a.problem() != "" {
			t.Errorf("the late router does not serve the result: %q", a.problem())
		}
	})
}

func TestForeignCertificatesInAVariableAreNotServed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop)
		a := f.start()
		bubble.Pass(5 * time.Second)
		f.authority.refuse(protocol.Problem{Type: protocol.ProblemTypeRateLimited}) // the content stays
		for _, names := range [][]string{{"bank.example.com"}, {shop, "bank.example.com"}, {"*.example.com"}} {
			before := f.authority.counts()[shop]
			p := f.authority.ca.Issue(time.Now().Add(time.Hour), names...)
			v := &api.Variable{VariableMetadata: api.VariableMetadata{Path: f.config.pathOf(shop)}, Items: map[string]string{certs.ItemCertificate: string(p.Cert), certs.ItemKey: string(p.Key)}}
			if _, err := f.vars.In("default").Put(t.Context(), v); err != nil {
				t.Fatal(err)
			}
			bubble.Pass(5 * time.Second)
			if a.serves("bank.example.com") || a.serves("x.example.com") || !a.serves(shop) {
				t.Errorf("%v: the certificate is served", names)
			}
			if f.authority.counts()[shop] != before+1 {
				t.Errorf("%v: %d orders, want one more than %d", names, f.authority.counts()[shop], before)
			}
		}
	})
}

func TestHostsOfRoutesAreBoundedByPatterns(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop)
		f.config.RouteHosts = []string{"*.apps.example.com"}
		a := f.start()
		synctest.Wait()
		hosts := []string{"a.apps.example.com", "a.b.apps.example.com", "*.apps.example.com", "evil.com", "..apps.example.com", "x_y.apps.example.com", "", "apps.example.com", "../../etc.apps.example.com"}
		a.SetHosts(hosts)
		bubble.Pass(10 * time.Second)
		if len(f.authority.counts()) != 2 || f.authority.counts()["a.apps.example.com"] != 1 {
			t.Errorf("orders: %v", f.authority.counts())
		}
		a.SetHosts(nil)
		synctest.Wait()
		if a.serves("a.apps.example.com") || !a.serves(shop) {
			t.Error("the certificate of a host without a route is served")
		}
		a.SetHosts(hosts[:1])
		bubble.Pass(10 * time.Second)
		if !a.serves("a.apps.example.com") || f.authority.counts()["a.apps.example.com"] != 1 {
			t.Errorf("the stored certificate was not used again: %v", f.authority.counts())
		}
		var many []string
		for i := range 3 * MaxDomains {
			many = append(many, fmt.Sprintf("h%d.apps.example.com", i))
		}
		a.SetHosts(many)
		bubble.Pass(time.Hour)
		if n := len(f.authority.counts()); n != MaxDomains+1 { // with a.apps
			t.Errorf("orders for %d domains", n)
		}
		if all := a.store.Status(time.Now()); !strings.Contains(all[len(all)-1].Problem, "201 hosts of routes get no certificate") && !strings.Contains(fmt.Sprint(problemsOf(a)), "201 hosts") {
			t.Errorf("problems %v", problemsOf(a))
		}
		a.SetHosts(nil)
		if n := len(a.store.Status(time.Now())); n != 1 {
			t.Errorf("%d sources are left", n)
		}
	})
}

func problemsOf(m *member) (all []string) {
	for _, c := range m.store.Status(time.Now()) {
		if c.Problem != "" {
			all = append(all, c.Problem)
		}
	}
	return all
}

func TestWithoutRightsTheReasonIsReported(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFleet(t, shop)
		f.vars.Fail(api.Errorf(api.CodeForbidden, "token \"router\" may not write"))
		a := f.start()
		bubble.Pass(time.Hour)
		if !strings.Contains(a.problem(), "may not write") || len(f.authority.counts()) != 0 {
			t.Errorf("problem %q, orders %v", a.problem(), f.authority.counts())
		}
		f.vars.Fail(nil)
		bubble.Pass(30 * time.Second)
		if !a.serves(shop) {
			t.Errorf("problem %q", a.problem())
		}
	})
}
