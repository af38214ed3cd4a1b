// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// TestPolicies holds the cases that Nelson's own tests fix for its policies.
func TestPolicies(t *testing.T) {
	for _, test := range []struct {
		name, policy string
		versions     string
		deprecated   string
		callers      string // versions that a caller depends on
		want         string
	}{
		{"latest keeps the newest", api.RetainLatest, "3.1.0 3.1.1 4.1.0 4.1.1", "", "", "4.1.1"},
		{"latest skips a deprecated newest", api.RetainLatest, "3.1.0 3.1.1 4.1.0 4.2.0", "4.2", "", "4.1.0"},
		{"latest keeps equals", api.RetainLatest, "3.1.0 4.1.1 4.1.1", "", "", "4.1.1 4.1.1"},
		{"two majors", api.RetainTwoMajor, "3.1.0 3.1.1 4.1.0 4.1.1", "", "", "3.1.1 4.1.1"},
		{"two majors of which both are deprecated", api.RetainTwoMajor, "3.1.1 4.1.1", "3.1 4.1", "", ""},
		{"two majors twice", api.RetainTwoMajor, "3.1.0 3.1.0 4.1.0 4.1.0", "", "", "3.1.0 3.1.0 4.1.0 4.1.0"},
		{"two features with one in the newest major", api.RetainTwoFeature, "3.0.0 3.1.0 3.1.1 4.1.0", "", "", "4.1.0"},
		{"two features", api.RetainTwoFeature, "3.0.0 3.1.0 3.1.1", "", "", "3.0.0 3.1.1"},
		{"two features with equals", api.RetainTwoFeature, "3.0.0 3.1.0 3.1.1 3.1.1", "", "", "3.0.0 3.1.1 3.1.1"},
		{"two features deprecated", api.RetainTwoFeature, "3.0.0 3.1.1", "3.0 3.1", "", ""},
		{"until deprecated", api.RetainUntilDeprecated, "3.0.0 3.1.1", "3.0", "", "3.1.1"},
		{"always", api.RetainAlways, "3.0.0 3.1.1", "3.0", "", "3.0.0 3.1.1"},
		{"active keeps what is called", api.RetainActive, "1.0.0 2.0.0", "", "1.0", "1.0.0"},
		{"active keeps a deprecated stack with callers", api.RetainActive, "1.0.0", "1.0", "1.0", "1.0.0"},
		{"every policy keeps what is called", api.RetainLatest, "1.0.0 2.0.0", "", "1.0", "1.0.0 2.0.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFleet(t)
			for v := range strings.FieldsSeq(test.versions) {
				f.stack("job "+v, policy(test.policy), idle(0))
			}
			for v := range strings.FieldsSeq(test.deprecated) {
				f.deprecate("job", v)
			}
			for v := range strings.FieldsSeq(test.callers) {
				f.stack("caller 1.0.0", depends("job", v))
			}
			var kept []string
			for _, d := range f.index().SweepStacks(lifecycle.Sweeping{Now: f.now}).Decisions {
				if d.Stack.Unit == "job" && d.Verdict.Kept {
					kept = append(kept, d.Stack.Version.String())
				}
			}
			if want := strings.Fields(test.want); !slices.Equal(kept, want) {
				t.Errorf("kept %v, want %v", kept, want)
			}
		})
	}
}

// TestRoutingOfTheFixture resolves the dependencies of Nelson's test fixture, apart from the
// edges from a parent namespace into its children, which Reeve does not draw.
func TestRoutingOfTheFixture(t *testing.T) {
	f := newFleet(t)
	expose := func(s *api.Stack) { s.Spec.Expose = []*api.StackExposure{{Host: "lb.example.com"}} }
	worker := func(s *api.Stack) { s.Shape = api.ShapeWorker }
	f.stack("conductor 1.1.1", depends("foo", "1.10"), depends("ab", "2.2"), depends("db", "1.2"), depends("search", "2.2"), expose)
	f.stack("ab 2.2.1", depends("inventory", "1.2"))
	f.stack("ab 2.2.2", depends("inventory", "1.2"))
	from, to := f.stack("inventory 1.2.2"), f.stack("inventory 1.2.3")
	f.stack("foo 1.10.100")
	f.stack("foo 2.0.0")
	f.stack("search 1.1.0")
	f.stack("search 2.2.2")
	f.stack("search 2.2.2")
	f.stack("db 1.2.3", func(s *api.Stack) { s.Shape = api.ShapeExternal })
	f.stack("job 3.0.0", worker)
	f.stack("dev/sandbox:service-c 6.2.0")
	f.stack("dev/sandbox/rodrigo:service-c 6.2.1", depends("foo", "1.10"))
	f.stack("dev/sandbox:service-b 6.1.0", depends("service-c", "6.2"))
	f.deprecate("search", "1.1")
	f.shift(from, to, 0.25)

	var got []string
	for _, e := range f.index().Edges(f.now) {
		unit := e.From
		if u, v, _, ok := api.ParseStackName(e.From); ok {
			unit = u + " " + v.String()
		}
		to, v, hash, _ := api.ParseStackName(e.To.ID)
		got = append(got, unit+" -> "+e.To.Namespace+" "+to+" "+v.String()+" "+hash)
	}
	want := []string{
		"conductor 1.1.1 -> dev ab 2.2.2 hash0002",
		"lb.example.com -> dev conductor 1.1.1 hash0000",
		"conductor 1.1.1 -> dev db 1.2.3 hash0010",
		"conductor 1.1.1 -> dev foo 1.10.100 hash0005",
		"service-c 6.2.1 -> dev foo 1.10.100 hash0005",
		"ab 2.2.1 -> dev inventory 1.2.2 hash0003",
		"ab 2.2.2 -> dev inventory 1.2.2 hash0003",
		"ab 2.2.1 -> dev inventory 1.2.3 hash0004",
		"ab 2.2.2 -> dev inventory 1.2.3 hash0004",
		"conductor 1.1.1 -> dev search 2.2.2 hash0009",
		"service-b 6.1.0 -> dev/sandbox service-c 6.2.0 hash0012",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

func TestTheNewestPeriodicStackFires(t *testing.T) {
	for _, test := range []struct{ policy, versions, want string }{
		{api.RetainLatest, "1.9.0 2.0.0 2.1.0", "2.1.0"},
		{api.RetainTwoMajor, "1.8.0 1.9.0 2.0.0 2.1.0", "1.9.0 2.1.0"},
		{api.RetainTwoFeature, "2.0.0 2.0.1 2.1.0", "2.0.1 2.1.0"},
	} {
		f := newFleet(t)
		for v := range strings.FieldsSeq(test.versions) {
			f.stack("report "+v, policy(test.policy), func(s *api.Stack) { s.Shape = api.ShapePeriodic })
		}
		f.stack("report 3.0.0", policy(test.policy), status(api.StackWarming))
		var fires []string
		for _, s := range f.in.Stacks {
			if f.index().Fires(s) {
				fires = append(fires, s.Version.String())
			}
		}
		if got := strings.Join(fires, " "); got != test.want {
			t.Errorf("%s of %s: %s fires, want %s", test.policy, test.versions, got, test.want)
		}
	}
}
