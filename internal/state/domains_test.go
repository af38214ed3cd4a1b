// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

func freshDomains(s *Store, now time.Time) (names []string) {
	for d := range s.Snapshot().Domains() {
		if d.IsFresh(now) {
			names = append(names, "\""+d.Name+"\"")
		}
	}
	return names
}

func TestFreshnessOfDomains(t *testing.T) {
	s, now := New(), time.Unix(1000, 0)
	check := func(step string, want ...string) {
		t.Helper()
		if got := freshDomains(s, now); !slices.Equal(got, want) {
			t.Errorf("%s: fresh are %v, want %v", step, got, want)
		}
	}
	check("before the cluster begins")
	must(t, s.Apply(1, []Command{&BeginCluster{ID: "c"}}))
	check("after it began", `""`)
	if errs := s.Apply(2, []Command{&BeginCluster{ID: "d"}}); api.CodeOf(errs[0]) != api.CodeConflict {
		t.Errorf("a cluster begins twice: %v", errs)
	}
	must(t, s.Apply(3, []Command{&PutDomain{Domain: "cf", FreshUntil: now.Add(20 * time.Second).UnixNano()}}))
	check("with a TTL", `""`, `"cf"`)
	now = now.Add(20 * time.Second)
	check("when that is over", `""`)
	must(t, s.Apply(4, []Command{&PutDomain{Domain: "cf"}}))
	check("marked for ever", `""`, `"cf"`)
	must(t, s.Apply(5, []Command{&EndFreshness{Domains: []string{"cf"}}}))
	check("ended", `""`)
	if errs := s.Apply(6, []Command{&EndFreshness{Domains: []string{"nobody"}}}); api.CodeOf(errs[0]) != api.CodeNotFound {
		t.Errorf("a domain ends that never was: %v", errs)
	}
	must(t, s.Apply(7, []Command{&PutDomain{Domain: "cf"}, &EndFreshness{All: true}}))
	check("all ended")
	sameAfterRestore(t, s)
}

// orphanStore is a cluster with a node and three domains: the first one as it
// began, one marked by its owner, and one that never was.
func orphanStore(t *testing.T) *Store {
	s := New()
	must(t, s.Apply(1, []Command{
		&BeginCluster{ID: "c"}, &PutDomain{Domain: "cf"},
		&RegisterNode{Node: &api.Node{ID: "n", Name: "node-1"}},
	}))
	return s
}

func stray(id, job, domain string) *api.Allocation {
	j := testJob(job)
	j.Domain, j.Version, j.CreateIndex = domain, 4, 70
	return &api.Allocation{
		ID: id, Namespace: "default", JobID: job, Group: "web", Name: job + ".web[0]", Job: j, NodeID: "n",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, CreateIndex: 71, DeploymentID: "d", EvalID: "e",
	}
}

func TestOrphansAreKeptWithTheirJob(t *testing.T) {
	s := orphanStore(t)
	ended := stray("d", "web", "")
	ended.ClientStatus = api.AllocClientFailed
	must(t, s.Apply(2, []Command{&AdoptAllocations{NodeID: "n", Time: 5, Allocations: []*api.Allocation{
		stray("a", "web", ""), stray("b", "web", ""), stray("c", "other", ""), ended,
	}}}))
	must(t, s.Apply(3, []Command{&AdoptAllocations{NodeID: "n", Time: 6, Allocations: []*api.Allocation{stray("a", "web", "")}}}))
	snap := s.Snapshot()
	a, b := snap.Allocation("a"), snap.Allocation("b")
	switch {
	case snap.AllocationCount() != 3:
		t.Fatalf("%d allocations are adopted, want 3", snap.AllocationCount())
	case !a.Orphan || a.Job.CreateIndex != 0 || a.Job.Version != 4 || a.CreateIndex != 2 || a.DeploymentID != "" || a.EvalID != "":
		t.Errorf("it is stored as %+v", a)
	case a.Job != b.Job:
		t.Error("two orphans of one version have two copies of it")
	case snap.Job("default", "web") != nil:
		t.Error("the orphan's job is among the registered ones")
	}
	sameAfterRestore(t, s)

	// The job of the same name is another one, whatever its version.
	must(t, s.Apply(4, []Command{&RegisterJob{Job: testJob("web")}}))
	c := a.Copy()
	c.Job, c.Orphan = nil, false
	must(t, s.Apply(5, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{c}, Time: 9}}}))
	if is := s.Snapshot().Allocation("a"); is.Orphan || is.Job != s.Snapshot().Job("default", "web") {
		t.Errorf("taken over, it is %+v", is)
	}
	if is := s.Snapshot().Allocation("b"); !is.Orphan || is.Job.CreateIndex != 0 {
		t.Errorf("the other is %+v", is)
	}
	sameAfterRestore(t, s)
	must(t, s.Apply(6, []Command{&Collect{Allocations: []string{"b", "c"}}}))
	sameAfterRestore(t, s)
}

func TestAnOrphanEndsFreshnessThatNobodyVouchedFor(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		domain  string
		rewound bool
		want    []string
	}{
		"in the first domain":      {"", false, []string{`"cf"`}},
		"in a domain of its owner": {"cf", false, []string{`""`, `"cf"`}},
		"in one never marked":      {"x", false, []string{`""`, `"cf"`}},
		"of this very cluster":     {"cf", true, nil},
	} {
		s := orphanStore(t)
		must(t, s.Apply(2, []Command{&AdoptAllocations{NodeID: "n", Rewound: c.rewound, Allocations: []*api.Allocation{stray("a", "web", c.domain)}}}))
		if got := freshDomains(s, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: fresh are %v, want %v", name, got, c.want)
		}
	}
	s := orphanStore(t)
	must(t, s.Apply(2, []Command{&PutDomain{Domain: ""}}))
	must(t, s.Apply(3, []Command{&AdoptAllocations{NodeID: "n", Allocations: []*api.Allocation{stray("a", "web", "")}}}))
	if got := freshDomains(s, now); len(got) != 2 {
		t.Errorf("after its owner marked it, fresh are %v", got)
	}
}

func TestWhatIsNoOrphanIsRefused(t *testing.T) {
	s := orphanStore(t)
	without := stray("a", "web", "")
	without.Job = nil
	nameless := stray("", "web", "")
	for name, c := range map[string]struct {
		node string
		a    *api.Allocation
		code api.ErrorCode
	}{
		"of an unknown node": {"m", stray("a", "web", ""), api.CodeNotFound},
		"without its job":    {"n", without, api.CodeInvalid},
		"without an id":      {"n", nameless, api.CodeInvalid},
	} {
		if errs := s.Apply(s.Index()+1, []Command{&AdoptAllocations{NodeID: c.node, Allocations: []*api.Allocation{c.a}}}); api.CodeOf(errs[0]) != c.code {
			t.Errorf("%s: %v", name, errs[0])
		}
	}
}
