// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// servingStore holds one allocation that serves.
func servingStore(t testing.TB) (*Store, string) {
	s := New()
	a := crashed()
	a.Job, a.NodeID = nil, "n"
	must(t, s.Apply(5, []Command{
		&RegisterNode{Node: &api.Node{ID: "n", Name: "node-1", Status: "ready"}},
		&RegisterJob{Job: testJob("web")},
	}))
	must(t, s.Apply(6, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{a}, Time: 10}}}))
	report(t, s, 7, &api.Allocation{ID: a.ID, ClientStatus: api.AllocClientRunning, Serving: serving()})
	return s, a.ID
}

func report(t testing.TB, s *Store, index uint64, updates ...*api.Allocation) {
	t.Helper()
	must(t, s.Apply(index, []Command{&UpdateAllocations{NodeID: "n", Allocations: updates, Time: int64(index)}}))
}

func TestServingIsKeptAsTheNodeSaysIt(t *testing.T) {
	s, id := servingStore(t)
	first := s.Snapshot().Allocation(id)
	if diff := cmp.Diff(serving(), first.Serving); diff != "" {
		t.Fatalf("it is stored as something else (-reported +stored):\n%s", diff)
	}
	if first.Crashes == nil || first.Crashes.Count != 2 {
		t.Errorf("what its placement says of crashes is %+v", first.Crashes)
	}

	report(t, s, 8, &api.Allocation{ID: id, ClientStatus: api.AllocClientRunning, Serving: serving()})
	again := s.Snapshot().Allocation(id)
	if again.Serving != first.Serving {
		t.Error("a report that says the same is kept as another object")
	}

	lost := serving()
	lost.Routable, lost.Since = true, 20
	report(t, s, 9, &api.Allocation{ID: id, ClientStatus: api.AllocClientRunning, Serving: lost})
	flipped := s.Snapshot().Allocation(id)
	if !flipped.IsRoutable() || flipped.Serving.Services[0] != first.Serving.Services[0] {
		t.Error("a report that changes whether it is routable copies the services, too, or does not change it")
	}

	for i, sent := range []int{4, 4, 5} {
		warming := *lost
		warming.Warm = &api.WarmProgress{Total: 9, Sent: sent}
		report(t, s, uint64(10+i), &api.Allocation{ID: id, ClientStatus: api.AllocClientRunning, Serving: &warming})
		if got := s.Snapshot().Allocation(id).Serving.Warm; got == nil || got.Sent != sent {
			t.Errorf("the warm-up is stored as %+v, want %d requests", got, sent)
		}
	}
	flipped = s.Snapshot().Allocation(id)

	report(t, s, 13, &api.Allocation{ID: id, ClientStatus: api.AllocClientRunning})
	if s.Snapshot().Allocation(id).Serving != flipped.Serving {
		t.Error("a report that does not mention it changes it")
	}
	sameAfterRestore(t, s)
}

func TestWhatEndedDoesNotServeUnlessItIsLost(t *testing.T) {
	for status, serves := range map[string]bool{
		api.AllocClientComplete: false, api.AllocClientFailed: false, api.AllocClientLost: true, api.AllocClientUnknown: true,
	} {
		s, id := servingStore(t)
		report(t, s, 8, &api.Allocation{ID: id, ClientStatus: status})
		if a := s.Snapshot().Allocation(id); (a.Serving != nil) != serves {
			t.Errorf("of an allocation that is %s is stored %+v", status, a.Serving)
		}
	}
}

func TestAnUpdateInPlaceKeepsServing(t *testing.T) {
	s, id := servingStore(t)
	a := s.Snapshot().Allocation(id).Copy()
	was := a.Serving
	a.Serving, a.Crashes = nil, nil
	must(t, s.Apply(8, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{a}, Time: 11}}}))
	if is := s.Snapshot().Allocation(id); is.Serving != was || is.Crashes == nil {
		t.Errorf("it serves %+v and crashed %+v after its update", is.Serving, is.Crashes)
	}
}

// sameAfterRestore writes the state and reads it again.
func sameAfterRestore(t *testing.T, s *Store) {
	t.Helper()
	var file bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(&file)
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "a snapshot is read as something else", s.Snapshot(), restored.Snapshot())
}

func TestCrashesGoOnWithTheInstance(t *testing.T) {
	const second, third = "a10c0000-0000-4000-8000-000000000002", "a10c0000-0000-4000-8000-000000000003"
	s, first := servingStore(t)
	report(t, s, 8, &api.Allocation{ID: first, ClientStatus: api.AllocClientFailed, Crashes: &api.Crashes{Count: 3, Total: 4, Reason: "x", At: 5, Next: 9}})
	replace := func(index uint64, old, id string) *api.Crashes {
		t.Helper()
		a := s.Snapshot().Allocation(old).Copy()
		a.PreviousAllocation, a.ID, a.ClientStatus, a.Crashes, a.CreateTime = old, id, api.AllocClientPending, nil, 0
		must(t, s.Apply(index, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{a}, Time: 11}}}))
		return s.Snapshot().Allocation(id).Crashes
	}
	want := &api.Crashes{Count: 3, Total: 4, Reason: "x", At: 5}
	if diff := cmp.Diff(want, replace(9, first, second)); diff != "" {
		t.Errorf("the replacement of one that failed (-want +got):\n%s", diff)
	}
	must(t, s.Apply(10, []Command{&RegisterJob{Job: func() *api.Job { j := testJob("web"); j.Priority++; return j }()}}))
	must(t, s.Apply(11, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web")}}}))
	a := s.Snapshot().Allocation(second).Copy()
	a.PreviousAllocation, a.ID, a.Job, a.Crashes = second, third, s.Snapshot().Job("default", "web"), nil
	must(t, s.Apply(12, []Command{&CommitPlacement{&Placement{Job: a.Job, Place: []*api.Allocation{a}, Time: 12}}}))
	if c := s.Snapshot().Allocation(third).Crashes; c != nil {
		t.Errorf("another version of the job begins with %+v", c)
	}
	sameAfterRestore(t, s)
}
