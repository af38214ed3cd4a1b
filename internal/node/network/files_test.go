// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestResolverText(t *testing.T) {
	for _, c := range []struct {
		name string
		dns  *api.DNS
		want string
	}{
		{"of the node", nil, "nameserver 172.26.64.1\nsearch corp.example\noptions edns0\n"},
		{"of the job", &api.DNS{Servers: []string{"192.0.2.53", "2001:db8::53"}, Searches: []string{"a.example", "b.example"}, Options: []string{"ndots:2"}},
			"nameserver 192.0.2.53\nnameserver 2001:db8::53\nsearch a.example b.example\noptions ndots:2\n"},
		{"partly of the job", &api.DNS{Searches: []string{"a.example"}}, "nameserver 172.26.64.1\nsearch a.example\noptions edns0\n"},
		// Values that passed no validation, as in a record of another version.
		{"hostile", &api.DNS{Servers: []string{"1.1.1.1\nnameserver 6.6.6.6"}, Searches: []string{"x\nnameserver 6.6.6.6", "ok.example"}, Options: []string{"a b", "#", ""}},
			"search ok.example\n"},
	} {
		if got := resolverText(c.dns, []string{"172.26.64.1"}, []string{"corp.example"}, []string{"edns0"}); got != c.want {
			t.Errorf("%s: %s", c.name, cmp.Diff(c.want, got))
		}
	}
}

func TestParseResolvers(t *testing.T) {
	got := parseResolvers("# comment\nnameserver 127.0.0.53 ; stub\nnameserver nonsense\nnameserver\nsearch a b\ndomain c\noptions edns0 trust-ad\noptions rotate\n")
	want := Resolvers{Servers: []string{"127.0.0.53"}, Searches: []string{"c"}, Options: []string{"edns0", "trust-ad", "rotate"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCollision(t *testing.T) {
	a := Port{Host: 80}
	one, two := Port{Host: 80, IP: netipAddr("10.0.0.1")}, Port{Host: 80, IP: netipAddr("10.0.0.2")}
	shared := Port{Host: 80, Shared: true}
	for _, c := range []struct {
		a, b Port
		want bool
	}{{a, a, true}, {a, one, true}, {one, one, true}, {one, two, false}, {a, shared, false}, {a, Port{Host: 81}, false}} {
		if _, got := collision([]Port{c.a}, []Port{c.b}); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
		if _, got := collision([]Port{c.b}, []Port{c.a}); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.b, c.a, got, c.want)
		}
	}
}

func TestDecodeRecordRejectsDamage(t *testing.T) {
	for _, text := range []string{
		"", "{}", "null", `{"Alloc":"../../etc","Mode":"none"}`, `{"Alloc":"a/b","Mode":"none"}`, `{"Alloc":"a","Mode":"host"}`, `{"Alloc":"a","Mode":"bridge"}`,
	} {
		if r, err := decodeRecord([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}
