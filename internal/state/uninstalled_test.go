// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// purge has a job with these allocations run, purged at 100 and gone at 110.
func purge(s *tester, allocations ...string) {
	s.t.Helper()
	s.do(&RegisterJob{Job: testJob("web")})
	var stops []Stop
	var ends []*api.Allocation
	for _, id := range allocations {
		s.place(s.allocation(id, ""))
		stops = append(stops, Stop{ID: id, Description: "purged"})
		ends = append(ends, &api.Allocation{ID: id, ClientStatus: api.AllocClientComplete})
	}
	s.do(&DeregisterJob{Namespace: "default", ID: "web", Purge: true, Time: 100})
	s.do(&CommitPlacement{&Placement{Stop: stops, Time: 101}})
	s.do(&UpdateAllocations{Allocations: ends, Time: 105})
	s.do(&CommitPlacement{&Placement{Job: s.job("web"), Deregister: true, Time: 110}})
	if s.Snapshot().Job("default", "web") != nil {
		s.t.Fatal("the purged job is still there")
	}
}

func TestPurgedJobIsRemembered(t *testing.T) {
	s := newTester(t)
	purge(s, "a", "b")
	want := &api.Uninstalled{
		Namespace: "default", JobID: "web", JobVersion: 1, EndedAt: 110, Allocations: 2, CreateIndex: s.Index(), ModifyIndex: s.Index(),
		Killed: []*api.UninstalledAllocation{{ID: "a", Group: "web", EndedAt: 105}, {ID: "b", Group: "web", EndedAt: 105}},
	}
	if diff := cmp.Diff(want, s.Snapshot().Uninstalled("default", "web")); diff != "" {
		t.Errorf("what is remembered (-want +got):\n%s", diff)
	}
	restored, err := Restore(newPipe(s.Snapshot()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, restored.Snapshot().Uninstalled("default", "web")); diff != "" {
		t.Errorf("what is remembered after a snapshot (-want +got):\n%s", diff)
	}
	for namespace, want := range map[string]int{"*": 1, "default": 1, "defaul": 0, "other": 0} {
		if got := len(slices.Collect(s.Snapshot().UninstalledJobs(namespace))); got != want {
			t.Errorf("%d jobs are remembered in namespace %q, want %d", got, namespace, want)
		}
	}
}

func TestPurgeOfWhatDoesNotRunIsRemembered(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterJob{Job: testJob("web")})
	s.place(s.allocation("a", ""))
	s.do(&UpdateAllocations{Allocations: []*api.Allocation{{ID: "a", ClientStatus: api.AllocClientComplete}}, Time: 50})
	s.do(&DeregisterJob{Namespace: "default", ID: "web", Purge: true, Time: 100})
	want := &api.Uninstalled{Namespace: "default", JobID: "web", EndedAt: 100, Killed: []*api.UninstalledAllocation{}, CreateIndex: s.Index(), ModifyIndex: s.Index()}
	if diff := cmp.Diff(want, s.Snapshot().Uninstalled("default", "web")); diff != "" {
		t.Errorf("what is remembered (-want +got):\n%s", diff)
	}
}

func TestUninstallIsForgottenWhenTheJobIsRegisteredAgain(t *testing.T) {
	s := newTester(t)
	purge(s, "a")
	s.do(&RegisterJob{Job: testJob("web")})
	if u := s.Snapshot().Uninstalled("default", "web"); u != nil {
		t.Errorf("%+v is remembered of a job that is there", u)
	}
}

// TestUninstallIsForgottenByWhoHasSeenIt has a job purged twice: what was to be
// forgotten of the first purge must not take the second with it.
func TestUninstallIsForgottenByWhoHasSeenIt(t *testing.T) {
	s := newTester(t)
	purge(s, "a")
	first := s.Snapshot().Uninstalled("default", "web")
	purge(s, "b")
	second := s.Snapshot().Uninstalled("default", "web")
	s.refuse(api.CodeConflict, "modify index", ForgetUninstalled(first))
	if got := s.Snapshot().Uninstalled("default", "web"); got != second {
		t.Errorf("remembered is %+v, want the second purge", got)
	}
	s.do(ForgetUninstalled(second))
	if got := s.Snapshot().Uninstalled("default", "web"); got != nil {
		t.Errorf("%+v is still remembered", got)
	}
}

func TestUninstallOfALargeJobIsBounded(t *testing.T) {
	s := newTester(t)
	const many = uninstalledKills + 50
	var ids []string
	for i := range many {
		ids = append(ids, fmt.Sprintf("a%04d", many-i))
	}
	purge(s, ids...)
	u := s.Snapshot().Uninstalled("default", "web")
	if u.Allocations != many || len(u.Killed) != uninstalledKills {
		t.Fatalf("%d allocations and %d of them by name, want %d and %d", u.Allocations, len(u.Killed), many, uninstalledKills)
	}
	for i, k := range u.Killed {
		if want := fmt.Sprintf("a%04d", i+1); k.ID != want {
			t.Fatalf("allocation %d is %s, want %s: the first by name and id", i, k.ID, want)
		}
	}
}
