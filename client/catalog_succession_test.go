// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// traffic is a reader of the catalog, behind a succession.
type traffic struct {
	*testing.T
	s   succession
	to  map[string]bool
	now time.Time
}

func entries(ids ...string) (all []*api.CatalogEntry) {
	for _, id := range ids {
		_, node, _ := strings.Cut(id, "@")
		all = append(all, &api.CatalogEntry{AllocID: id, NodeID: node})
	}
	return all
}

func (r *traffic) tell(when string, u *api.CatalogUpdate, want ...string) {
	r.Helper()
	if u = r.s.next(u, r.now); u != nil {
		if u.Complete {
			r.to = map[string]bool{}
		}
		for _, e := range u.Entries {
			r.to[e.AllocID] = true
		}
		for _, id := range u.Removed {
			delete(r.to, id)
		}
	}
	var got []string
	for id := range r.to {
		got = append(got, id)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.Errorf("%s: traffic goes to %v, want %v", when, got, want)
	}
}

func TestTrafficStaysWhileServersBeginAnew(t *testing.T) {
	r := &traffic{T: t, now: time.Unix(1000, 0)}
	r.tell("at first", &api.CatalogUpdate{Index: 900, Complete: true, Cluster: "old", Nodes: []string{"n", "m"}, Entries: entries("a@n", "b@n", "c@m")}, "a@n", "b@n", "c@m")
	r.tell("one more", &api.CatalogUpdate{Index: 901, Entries: entries("d@m", "e@gone")}, "a@n", "b@n", "c@m", "d@m", "e@gone")
	r.tell("servers that do not lead yet", &api.CatalogUpdate{Index: 1, Complete: true}, "a@n", "b@n", "c@m", "d@m", "e@gone")
	r.tell("they begin", &api.CatalogUpdate{Index: 2, Complete: true, Cluster: "new"}, "a@n", "b@n", "c@m", "d@m", "e@gone")
	r.tell("one is adopted", &api.CatalogUpdate{Index: 3, Entries: entries("a@n")}, "a@n", "b@n", "c@m", "d@m", "e@gone")
	r.tell("that was all of its node", &api.CatalogUpdate{Index: 4, Nodes: []string{"n"}}, "a@n", "c@m", "d@m", "e@gone")
	r.tell("the stream breaks once more", &api.CatalogUpdate{Index: 5, Complete: true, Cluster: "new", Nodes: []string{"n"}, Entries: entries("a@n", "c@m")}, "a@n", "c@m", "d@m", "e@gone")
	r.tell("an adopted one ends", &api.CatalogUpdate{Index: 6, Removed: []string{"c@m"}}, "a@n", "d@m", "e@gone")
	r.tell("a node comes without it", &api.CatalogUpdate{Index: 7, Nodes: []string{"m"}}, "a@n", "e@gone")
	r.now = r.now.Add(heldFor - time.Second)
	r.tell("a sign of life", &api.CatalogUpdate{}, "a@n", "e@gone")
	r.now = r.now.Add(time.Second)
	r.tell("its node did not come back in time", &api.CatalogUpdate{}, "a@n")
}

func TestTheSameServersAreBelieved(t *testing.T) {
	r := &traffic{T: t}
	r.tell("at first", &api.CatalogUpdate{Index: 9, Complete: true, Cluster: "one", Nodes: []string{"n"}, Entries: entries("a@n", "b@n")}, "a@n", "b@n")
	r.tell("after a break", &api.CatalogUpdate{Index: 12, Complete: true, Cluster: "one", Entries: entries("b@n")}, "b@n")
}

func TestTrafficStaysWhileServersOnAnOlderCopyHearOfIt(t *testing.T) {
	r := &traffic{T: t, now: time.Unix(1000, 0)}
	at := func(timeline string, index uint64) {
		t.Helper()
		if want := (api.Position{Timeline: timeline, Index: index}); r.s.position != want {
			t.Errorf("told up to %+v, want %+v", r.s.position, want)
		}
	}
	r.tell("at first", &api.CatalogUpdate{Index: 90, Complete: true, Cluster: "one", Timeline: "a", Nodes: []string{"n"}, Entries: entries("a@n", "b@n", "c@n")}, "a@n", "b@n", "c@n")
	at("a", 90)
	r.tell("one ends", &api.CatalogUpdate{Index: 91, Removed: []string{"c@n"}}, "a@n", "b@n")
	at("a", 91)
	back := &api.CatalogUpdate{Index: 95, Complete: true, Cluster: "one", Timeline: "b", Rewound: true, Nodes: []string{"n"}, Entries: entries("a@n")}
	r.tell("they believe to have heard its node", back, "a@n", "b@n")
	at("b", 95)
	r.tell("the node comes", &api.CatalogUpdate{Index: 96, Nodes: []string{"n"}}, "a@n", "b@n")
	r.tell("it offers what it runs", &api.CatalogUpdate{Index: 97, Entries: entries("b@n")}, "a@n", "b@n")
	r.tell("which ends", &api.CatalogUpdate{Index: 98, Removed: []string{"b@n"}}, "a@n")

	r.tell("they go back once more", &api.CatalogUpdate{Index: 95, Complete: true, Cluster: "one", Timeline: "c", Rewound: true}, "a@n")
	r.now = r.now.Add(heldRewound - time.Second)
	r.tell("a sign of life", &api.CatalogUpdate{}, "a@n")
	r.now = r.now.Add(time.Second)
	r.tell("nobody runs it any more", &api.CatalogUpdate{})

	r.tell("they begin anew", &api.CatalogUpdate{Index: 3, Complete: true, Cluster: "two", Timeline: "d", Rewound: true, Entries: entries("x@m")}, "x@m")
	r.tell("and again", &api.CatalogUpdate{Index: 2, Complete: true, Cluster: "three", Timeline: "e", Rewound: true, Nodes: []string{"n"}}, "x@m")
	r.tell("the node without it", &api.CatalogUpdate{Index: 4, Nodes: []string{"m"}})
}
