// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

const (
	secondID = "a10c0000-0000-4000-8000-000000000002"
	thirdID  = "a10c0000-0000-4000-8000-000000000003"
)

// suspectStore holds an allocation that served, and whose node is not heard of.
func suspectStore(t *testing.T) (*Store, string) {
	t.Helper()
	s, id := servingStore(t)
	routable := serving()
	routable.Routable = true
	report(t, s, 8, &api.Allocation{ID: id, ClientStatus: api.AllocClientRunning, Serving: routable})
	report(t, s, 9, &api.Allocation{ID: id, ClientStatus: api.AllocClientUnknown})
	if !s.Snapshot().Allocation(id).IsRoutable() {
		t.Fatal("a suspect allocation has lost its traffic already")
	}
	return s, id
}

// beside starts an allocation in the place of another one.
func beside(t *testing.T, s *Store, index uint64, old, id string) {
	t.Helper()
	a := s.Snapshot().Allocation(old).Copy()
	a.PreviousAllocation, a.NextAllocation, a.ID, a.ClientStatus, a.Serving, a.CreateTime = old, "", id, api.AllocClientPending, nil, 0
	must(t, s.Apply(index, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{a}, Time: 11}}}))
}

func TestTheEntryThatSaysTheReplacementIsUpTakesTheSuspectsTraffic(t *testing.T) {
	for name, up := range map[string]*api.Serving{
		"its node says whether it is up": {Up: true},
		"it is enough that it runs":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			s, id := suspectStore(t)
			beside(t, s, 10, id, secondID)
			if up != nil {
				report(t, s, 11, &api.Allocation{ID: secondID, ClientStatus: api.AllocClientRunning, Serving: &api.Serving{Reason: "starts"}})
				if !s.Snapshot().Allocation(id).IsRoutable() {
					t.Error("the suspect one has lost its traffic to one that is not up yet")
				}
			}
			report(t, s, 12, &api.Allocation{ID: secondID, ClientStatus: api.AllocClientRunning, Serving: up})
			a := s.Snapshot().Allocation(id)
			if a.IsRoutable() || a.ModifyIndex != 12 || a.Serving.Reason == "" || a.ClientStatus != api.AllocClientUnknown || a.IsServerTerminal() {
				t.Errorf("after its replacement is up at index 12 the suspect one is %s/%s, modified at %d, and serves %+v", a.DesiredStatus, a.ClientStatus, a.ModifyIndex, a.Serving)
			}
			report(t, s, 13, &api.Allocation{ID: secondID, ClientStatus: api.AllocClientRunning, Serving: up})
			if again := s.Snapshot().Allocation(id); again.ModifyIndex != 12 {
				t.Error("it is changed again by what was said already")
			}
			sameAfterRestore(t, s)
		})
	}
}

func TestTheReplacementOfAFailedReplacementTakesTheSuspectsTraffic(t *testing.T) {
	s, id := suspectStore(t)
	beside(t, s, 10, id, secondID)
	report(t, s, 11, &api.Allocation{ID: secondID, ClientStatus: api.AllocClientFailed})
	beside(t, s, 12, secondID, thirdID)
	if !s.Snapshot().Allocation(id).IsRoutable() {
		t.Error("the suspect one has lost its traffic to one that failed")
	}
	report(t, s, 13, &api.Allocation{ID: thirdID, ClientStatus: api.AllocClientRunning})
	if a := s.Snapshot().Allocation(id); a.IsRoutable() || a.ModifyIndex != 13 {
		t.Errorf("the suspect one still serves: %+v", a.Serving)
	}
}

func TestTheOneThatIsBackServesAgain(t *testing.T) {
	s, id := suspectStore(t)
	beside(t, s, 10, id, secondID)
	routable := serving()
	routable.Routable = true
	report(t, s, 11, &api.Allocation{ID: id, ClientStatus: api.AllocClientRunning, Serving: routable})
	report(t, s, 12, &api.Allocation{ID: secondID, ClientStatus: api.AllocClientRunning})
	if a := s.Snapshot().Allocation(id); !a.IsRoutable() || a.ModifyIndex != 11 {
		t.Errorf("one that is back loses its traffic to what was started meanwhile: %+v", a.Serving)
	}
}

func TestWhatIsGivenUpHasNoTraffic(t *testing.T) {
	for name, stop := range map[string]Stop{
		"lost":         {ClientStatus: api.AllocClientLost},
		"told to stop": {},
	} {
		s, id := suspectStore(t)
		stop.ID = id
		must(t, s.Apply(10, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Stop: []Stop{stop}, Time: 11}}}))
		if a := s.Snapshot().Allocation(id); a.IsRoutable() {
			t.Errorf("a suspect allocation that is %s has traffic", name)
		}
	}
}
