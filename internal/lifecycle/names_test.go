// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

func TestNamesAreSplitAtTheirLabels(t *testing.T) {
	for text, want := range map[string]string{
		"1.inventory.dev":               "1|inventory|dev",
		"1-2.inventory.sandbox.dev":     "1-2|inventory|sandbox.dev, dev",
		"canary.inventory.a.b.c":        "canary|inventory|a.b.c, b.c, c",
		"1.inventory":                   "",
		"1":                             "",
		"":                              "",
		".inventory.dev":                "",
		"1..dev":                        "",
		"1.inventory.":                  "",
		"1.inventory..dev":              "",
		"1.inventory.dev.":              "",
		"1.inventory.a..b":              "",
		"_inventory._tcp.1-2.dev":       "_inventory|_tcp|1-2.dev, dev",
		strings.Repeat("1.", 127) + "1": "1|1|",
	} {
		name, ok := lifecycle.ParseName(text)
		got := ""
		if ok {
			got = name.Selector + "|" + name.Unit + "|" + strings.Join(slices.Collect(name.Namespaces), ", ")
		}
		if strings.HasSuffix(want, "|") && ok && strings.HasPrefix(got, want) {
			continue
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSelectorsAreVersionsOrTags(t *testing.T) {
	for label, want := range map[string]string{
		"1": "1.0.0 1", "1-2": "1.2.0 2", "1-2-0": "1.2.0 3", "0-0-1": "0.0.1 3", "2147483647": "2147483647.0.0 1", "canary": "tag canary", "v1-2": "tag v1-2",
		"": "", "1-": "", "-1": "", "1--2": "", "01": "", "1-02": "", "1-2-3-4": "", "1-2-x": "", "2147483648": "", "99999999999999999999": "", "1a": "",
		"+1": "", "1-+2": "", "١": "", "Canary": "", "can_ary": "", "a--b": "", strings.Repeat("a", 64): "",
	} {
		s, ok := lifecycle.ParseSelector(label)
		got := ""
		switch {
		case ok && s.Numbers == 0:
			got = "tag " + s.Tag
		case ok:
			got = fmt.Sprint(s.Version, " ", s.Numbers)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
}

// roster describes the stacks of a unit as the catalog of a server does.
func (f *fleet) roster(namespace, unit string) *lifecycle.Roster {
	x := f.index()
	var shares []*api.StackShare
	for _, s := range f.in.Stacks {
		if s.Namespace != namespace || s.Unit != unit {
			continue
		}
		share := &api.StackShare{Namespace: namespace, Stack: s.Name, Status: x.StatusOf(s), Tags: x.TagsOf(s), DeployedAt: s.DeployedAt}
		if s.IsRoutable() {
			share.Share, share.Target, share.ShiftEnd = x.ShareOf(s), x.IsTarget(s), x.ShiftEndOf(s)
		}
		shares = append(shares, share)
	}
	rand.Shuffle(len(shares), func(i, j int) { shares[i], shares[j] = shares[j], shares[i] })
	return lifecycle.NewRoster(namespace, unit, shares)
}

// Routers and name servers resolve names as the servers resolve dependencies.
func TestARosterResolvesAsTheIndexDoes(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		f := newFleet(t)
		for range 1 + random.IntN(6) {
			s := f.stack(fmt.Sprintf("inventory %d.%d.%d", 1+random.IntN(2), random.IntN(3), random.IntN(2)))
			if random.IntN(4) == 0 {
				s.Status = []string{api.StackWarming, api.StackGarbage, api.StackPending}[random.IntN(3)]
			}
		}
		if random.IntN(2) == 0 {
			f.deprecate("inventory", fmt.Sprintf("1.%d", random.IntN(3)))
		}
		from, to := f.in.Stacks[0], f.in.Stacks[len(f.in.Stacks)-1]
		if random.IntN(2) == 0 && from != to && from.Version.Major == to.Version.Major {
			f.shift(from, to, float64(random.IntN(11))/10)
		}
		if random.IntN(2) == 0 {
			f.unit("inventory").Targets = map[uint32]string{from.Version.Major: from.Name}
		}
		roster, index := f.roster("dev", "inventory"), f.index()
		for major := range uint32(4) {
			for minor := range uint32(4) {
				want := api.FeatureVersion{Major: major, Minor: minor}
				target := index.Resolve("dev", "inventory", want)
				expected := []string{}
				if target.Next != nil {
					expected = append(expected, fmt.Sprint(target.Next.Name, target.Share))
				}
				if target.Stack != nil {
					expected = append(expected, fmt.Sprint(target.Stack.Name, 1-target.Share))
				}
				got := []string{}
				choices, _ := roster.Resolve(want)
				for _, c := range choices {
					got = append(got, fmt.Sprint(c.Stack.Stack, c.Share))
				}
				if diff := cmp.Diff(expected, got); diff != "" {
					t.Fatalf("seed %d: inventory@%s (-index +roster):\n%s", seed, want, diff)
				}
			}
		}
	}
}

func TestARosterFindsVersionsAndTags(t *testing.T) {
	f := newFleet(t)
	f.stack("inventory 1.0.0")
	f.stack("inventory 1.2.0", status(api.StackGarbage))
	older := f.stack("inventory 1.2.0")
	f.stack("inventory 1.2.0", status(api.StackWarming))
	f.unit("inventory").Tags = map[string]api.StackVersion{"canary": older.Version}
	f.in.Units = append(f.in.Units, &api.Unit{Namespace: api.AnyNamespace, Name: "inventory", Tags: map[string]api.StackVersion{
		"canary": {Major: 1}, "stable": {Major: 1},
	}})
	r := f.roster("dev", "inventory")
	names := func(list []*api.StackShare) (all []string) {
		for _, s := range list {
			all = append(all, s.Stack[len("inventory--"):]+" "+s.Status)
		}
		return all
	}
	exact := []string{"1-2-0--hash0002 ready", "1-2-0--hash0003 warming", "1-2-0--hash0001 garbage"}
	if diff := cmp.Diff(exact, names(r.Exact(older.Version))); diff != "" {
		t.Errorf("stacks of 1.2.0 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(exact, names(r.Tagged("canary"))); diff != "" {
		t.Errorf("stacks of the tag (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1-0-0--hash0000 ready"}, names(r.Tagged("stable"))); diff != "" {
		t.Errorf("stacks of a tag of all namespaces (-want +got):\n%s", diff)
	}
	if r.Tagged("other") != nil || r.Exact(api.StackVersion{Major: 9}) != nil {
		t.Error("a tag or version that does not exist has stacks")
	}
	if want := "1.2.0 (warming, tagged canary), 1.2.0 (ready, tagged canary), 1.2.0 (garbage, tagged canary), 1.0.0 (ready, tagged stable)"; r.String() != want {
		t.Errorf("%s\nwant %s", r, want)
	}
}

// A tag keeps its stack, and is an edge of the graph.
func TestATagIsACaller(t *testing.T) {
	f := newFleet(t)
	old := f.stack("inventory 1.0.0", idle(0))
	f.stack("inventory 1.1.0")
	f.unit("inventory").Tags = map[string]api.StackVersion{"canary": old.Version, "blue": old.Version}
	var edges []string
	for _, e := range f.index().Edges(f.now) {
		edges = append(edges, fmt.Sprintf("%s %s to %s", e.Kind, e.From, e.To.ID))
	}
	if diff := cmp.Diff([]string{"tag blue to " + old.Name, "tag canary to " + old.Name}, edges); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
	if got := f.index().Callers(old); !slices.Equal(got, []string{"blue", "canary"}) {
		t.Errorf("callers: %v", got)
	}
	f.run(2 * api.DefaultInitialTTL)
	f.wantStatus(old, api.StackReady)
	f.unit("inventory").Tags = nil
	f.run(2 * api.DefaultInitialTTL)
	f.wantStatus(old, api.StackGarbage)
}
