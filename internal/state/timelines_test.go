// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestHistoryHasWhatItsTimelinesHave(t *testing.T) {
	s := New()
	if errs := s.Apply(1, []Command{&BeginTimeline{ID: "early"}}); api.CodeOf(errs[0]) != api.CodeConflict {
		t.Errorf("a timeline begins before the cluster: %v", errs)
	}
	must(t, s.Apply(2, []Command{&BeginCluster{ID: "c"}}))
	if errs := s.Apply(3, []Command{&BeginTimeline{}}); api.CodeOf(errs[0]) != api.CodeInvalid {
		t.Errorf("a timeline without an ID begins: %v", errs)
	}
	if got := s.Snapshot().Timeline(); got != "" {
		t.Errorf("on timeline %q before the first", got)
	}
	must(t, s.Apply(10, []Command{&BeginTimeline{ID: "a"}}))
	must(t, s.Apply(20, []Command{&BeginTimeline{ID: "b"}}))
	for _, c := range []struct {
		at   api.Position
		want bool
	}{
		{api.Position{Timeline: "a", Index: 15}, true},
		{api.Position{Timeline: "a", Index: 19}, true},
		{api.Position{Timeline: "a", Index: 20}, false}, // that leader wrote more than is here
		{api.Position{Timeline: "b", Index: 20}, true},
		{api.Position{Timeline: "b", Index: 9}, true},    // told on b of what was before
		{api.Position{Timeline: "b", Index: 1000}, true}, // this is only behind
		{api.Position{Timeline: "x", Index: 15}, false},
		{api.Position{Timeline: "early", Index: 1}, false},
		{api.Position{Index: 15}, true}, // who does not say is believed
	} {
		if got := !s.Snapshot().Lacks(c.at); got != c.want {
			t.Errorf("%+v is in the history: %t", c.at, got)
		}
	}
	sameAfterRestore(t, s)
}

func TestTimelinesThatAreKeptAreBounded(t *testing.T) {
	s := New()
	must(t, s.Apply(1, []Command{&BeginCluster{ID: "c"}}))
	last := uint64(keepTimelines + 50)
	for i := uint64(2); i <= last; i++ {
		must(t, s.Apply(i, []Command{&BeginTimeline{ID: fmt.Sprint("t", i)}}))
	}
	snap := s.Snapshot()
	if n := len(snap.cluster.timelines); n != keepTimelines || snap.Timeline() != fmt.Sprint("t", last) {
		t.Errorf("%d are kept, and this is %s", n, snap.Timeline())
	}
	oldest := last - keepTimelines + 1
	if snap.Lacks(api.Position{Timeline: fmt.Sprint("t", oldest), Index: oldest}) || !snap.Lacks(api.Position{Timeline: fmt.Sprint("t", oldest-1), Index: oldest - 1}) {
		t.Error("the oldest are not what was dropped")
	}
}
