// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/variables"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/fakevars"
	"github.com/reeve-run/reeve/internal/testbed/output"
	"github.com/reeve-run/reeve/internal/testbed/testcert"
)

// A fixture is a store that follows variables in a bubble.
type fixture struct {
	*Store
	t    *testing.T
	vars *fakevars.Store
	ca   *testcert.Authority
	log  output.Text
}

func newFixture(t *testing.T, sources ...Source) *fixture {
	t.Helper()
	f := &fixture{t: t, vars: fakevars.New(), ca: testcert.New(t)}
	open := func(namespace string) (variables.Client, error) { return f.vars.In(namespace), nil }
	f.Store = New(sources, open, slog.New(slog.NewTextHandler(&f.log, nil)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

func (f *fixture) put(source Source, items map[string]string) {
	f.t.Helper()
	v := &api.Variable{VariableMetadata: api.VariableMetadata{Path: source.Variable}, Items: items}
	if _, err := f.vars.In(source.Namespace).Put(f.t.Context(), v); err != nil {
		f.t.Fatal(err)
	}
	bubble.Pass(2 * time.Second)
}

func itemsOf(p testcert.Pair) map[string]string {
	return map[string]string{ItemCertificate: string(p.Cert), ItemKey: string(p.Key)}
}

var (
	shop = Source{Variable: "certs/shop", Namespace: "default"}
	team = Source{Variable: "certs/team", Namespace: "team"}
)

func TestVariablesAreServedAndReplaced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFixture(t, shop)
		if f.For(asks("web.test")) != nil {
			t.Error("a certificate before the variable exists")
		}
		if p := f.Status(time.Now())[0].Problem; !strings.Contains(p, "not read yet") && !strings.Contains(p, "reeve var put") {
			t.Errorf("problem %q", p)
		}
		f.put(shop, itemsOf(f.ca.Issue(time.Now().Add(time.Hour), "web.test")))
		first := f.For(asks("web.test"))
		f.put(shop, itemsOf(f.ca.Issue(time.Now().Add(time.Hour), "web.test")))
		if second := f.For(asks("web.test")); first == nil || second == nil || bytes.Equal(first.Certificate[0], second.Certificate[0]) {
			t.Errorf("certificates %v, %v", first, second)
		}
		if s := f.Status(time.Now())[0]; s.Problem != "" || s.Source != "variable certs/shop" || s.Expires == 0 || !f.Expires().Equal(time.Unix(0, s.Expires)) {
			t.Errorf("status %+v, first expiry %s", s, f.Expires())
		}
	})
}

func TestUnusableVariablesAreRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFixture(t, shop)
		good := itemsOf(f.ca.Issue(time.Now().Add(240*time.Hour), "web.test"))
		other := itemsOf(f.ca.Issue(time.Now().Add(240*time.Hour), "other.test"))
		f.put(shop, good)
		first := f.For(asks("web.test"))
		if first == nil {
			t.Fatal("no certificate")
		}
		for _, test := range []struct {
			name   string
			damage func(items map[string]string)
			want   string
		}{
			{"no key", func(items map[string]string) { delete(items, ItemKey) }, `no item "key"`},
			{"no certificate", func(items map[string]string) { items[ItemCertificate] = "" }, `no item "certificate"`},
			{"swapped items", func(items map[string]string) {
				items[ItemKey], items[ItemCertificate] = items[ItemCertificate], items[ItemKey]
			}, "variable certs/shop: "},
			{"key of another certificate", func(items map[string]string) { items[ItemKey] = other[ItemKey] }, "private key does not match"},
			{"as large as a variable can be", func(items map[string]string) { items[ItemKey] = strings.Repeat("x", 60<<10) }, "variable certs/shop: "},
			{"expired", func(items map[string]string) {
				maps.Copy(items, itemsOf(f.ca.Issue(time.Now().Add(-time.Minute), "web.test")))
			}, "expired at"},
			{"a thousand names", func(items map[string]string) {
				maps.Copy(items, itemsOf(f.ca.Issue(time.Now().Add(time.Hour), manyNames()...)))
			}, "names"},
		} {
			bad := maps.Clone(good)
			test.damage(bad)
			f.put(shop, bad)
			status := f.Status(time.Now())[0]
			if !strings.Contains(status.Problem, test.want) || !strings.Contains(status.Problem, "reeve var put -namespace default certs/shop") || f.Unusable(time.Now()) != 1 {
				t.Errorf("%s: problem %q, want %q", test.name, status.Problem, test.want)
			}
			if got := f.For(asks("web.test")); got != first {
				t.Errorf("%s: the last good certificate is not kept", test.name)
			}
			for _, secret := range []string{bad[ItemKey], good[ItemKey]} {
				if line := middleOf(secret); line != "" && strings.Contains(f.log.String()+status.Problem, line) {
					t.Errorf("%s: the log or the problem contains the key", test.name)
				}
			}
			if logged := strings.Count(strings.ReplaceAll(f.log.String(), `\"`, `"`), test.want); logged == 0 {
				t.Errorf("%s: the log does not have the reason", test.name)
			}
			f.put(shop, good)
			if got := f.Unusable(time.Now()); got != 0 {
				t.Errorf("%s: %d problems after the repair", test.name, got)
			}
		}
		before := strings.Count(f.log.String(), "\n")
		f.vars.Fail(api.Errorf(api.CodeUnavailable, "no server answers"))
		bubble.Pass(time.Hour)
		if got := f.For(asks("web.test")); got != first || !strings.Contains(f.Status(time.Now())[0].Problem, "cannot be read: no server answers") {
			t.Errorf("without servers: %v, %+v", got, f.Status(time.Now())[0])
		}
		if n := strings.Count(f.log.String(), "\n") - before; n > 2 {
			t.Errorf("%d lines in the log in an hour without servers", n)
		}
		f.vars.Fail(nil)
		bubble.Pass(time.Minute)
		f.vars.Delete(shop.Namespace, shop.Variable)
		bubble.Pass(3 * time.Minute)
		if got := f.For(asks("web.test")); got != first || !strings.Contains(f.Status(time.Now())[0].Problem, "does not exist: store a new one with: reeve var put") {
			t.Errorf("deleted: %v, %+v", got, f.Status(time.Now())[0])
		}
	})
}

// middleOf returns a line of a PEM block's content.
func middleOf(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) < 3 {
		return ""
	}
	return lines[1]
}

func manyNames() (names []string) {
	for i := range maxNames + 1 {
		names = append(names, strings.Repeat("a", i/26+1)+string(rune('a'+i%26))+".test")
	}
	return names
}

// A variable of another team with a certificate for the same name does not displace the one that
// the configuration names first, in whichever order they arrive.
func TestTheFirstSourceOfANameWins(t *testing.T) {
	for _, order := range [][]Source{{shop, team}, {team, shop}} {
		bubble.Test(t, func(t *testing.T) {
			f := newFixture(t, shop, team)
			ours, theirs := f.ca.Issue(time.Now().Add(time.Hour), "web.test"), f.ca.Issue(time.Now().Add(100*time.Hour), "web.test", "team.test")
			pairs := map[Source]testcert.Pair{shop: ours, team: theirs}
			for _, source := range order {
				f.put(source, itemsOf(pairs[source]))
			}
			if got := f.For(asks("web.test")); got == nil || len(got.Leaf.DNSNames) != 1 {
				t.Errorf("the certificate for %v is served", got)
			}
			if f.For(asks("team.test")) == nil {
				t.Error("the name of the other team has no certificate")
			}
			bubble.Pass(2 * time.Hour)
			if got := f.For(asks("web.test")); got == nil || len(got.Leaf.DNSNames) != 2 {
				t.Errorf("the expired certificate for %v is served", got)
			}
		})
	}
}

func TestExpiryIsAnnounced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFixture(t, shop)
		f.put(shop, itemsOf(f.ca.Issue(time.Now().Add(9*24*time.Hour), "web.test"))) // valid for ten days, of which one is over
		if s := f.Status(time.Now())[0]; s.Warning != "" {
			t.Errorf("warning %q nine days before the expiry", s.Warning)
		}
		bubble.Pass(8*24*time.Hour + time.Hour)
		if s := f.Status(time.Now())[0]; !strings.Contains(s.Warning, "expires at") || s.Problem != "" {
			t.Errorf("status %+v within the last tenth of its life", s)
		}
		bubble.Pass(24 * time.Hour)
		if s := f.Status(time.Now())[0]; !strings.Contains(s.Problem, "expired at") {
			t.Errorf("status %+v after the expiry", s)
		}
		if n := strings.Count(f.log.String(), "needs attention"); n < 1 || n > 2 {
			t.Errorf("%d warnings in the log in two days", n)
		}
	})
}
