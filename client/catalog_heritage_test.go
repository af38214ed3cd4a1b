// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// A divided is a reader of the catalog that notes the shares of stacks, behind a succession.
type divided struct {
	*testing.T
	s      succession
	shares map[string]float64
	now    time.Time
}

// tell passes an update on, and compares the shares that the reader has then.
func (d *divided) tell(when string, u *api.CatalogUpdate, want ...string) {
	d.Helper()
	if u = d.s.next(u, d.now); u != nil {
		if u.Complete {
			d.shares = map[string]float64{}
		}
		for _, s := range u.Stacks {
			d.shares[s.Stack] = s.Share
			if s.Removed {
				delete(d.shares, s.Stack)
			}
		}
	}
	var got []string
	for _, stack := range slices.Sorted(maps.Keys(d.shares)) {
		got = append(got, fmt.Sprint(stack[:len(stack)-len("--aaaaaaaa")], " ", d.shares[stack]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("%s: shares (-want +got):\n%s", when, diff)
	}
}

func shareOf(stack string, share float64) *api.StackShare {
	return &api.StackShare{Namespace: "dev", Stack: stack + "--aaaaaaaa", Share: share, Status: api.StackReady}
}

func stackEntries(node string, stacks ...string) (all []*api.CatalogEntry) {
	for _, stack := range stacks {
		all = append(all, &api.CatalogEntry{AllocID: stack + "@" + node, NodeID: node, Namespace: "dev", JobID: stack + "--aaaaaaaa"})
	}
	return all
}

// Servers that lost everything know no stacks: until they do, a stack without a share must not
// receive the traffic of its unit.
func TestStacksKeepTheirSharesWhileServersBeginAnew(t *testing.T) {
	d := &divided{T: t, now: time.Unix(1000, 0)}
	d.tell("at first", &api.CatalogUpdate{
		Index: 900, Complete: true, Cluster: "old", Nodes: []string{"n"}, Entries: stackEntries("n", "shop--1-0-0", "shop--1-1-0", "cart--1-0-0", "mail--1-0-0"),
		Stacks: []*api.StackShare{shareOf("shop--1-0-0", 1), shareOf("shop--1-1-0", 0), shareOf("cart--1-0-0", 1), shareOf("mail--1-0-0", 1), shareOf("none--1-0-0", 1)},
	}, "cart--1-0-0 1", "mail--1-0-0 1", "none--1-0-0 1", "shop--1-0-0 1", "shop--1-1-0 0")
	d.tell("a step of a shift", &api.CatalogUpdate{Index: 901, Stacks: []*api.StackShare{shareOf("shop--1-0-0", 0.75), shareOf("shop--1-1-0", 0.25)}},
		"cart--1-0-0 1", "mail--1-0-0 1", "none--1-0-0 1", "shop--1-0-0 0.75", "shop--1-1-0 0.25")
	d.tell("new servers", &api.CatalogUpdate{Index: 2, Complete: true, Cluster: "new"},
		"cart--1-0-0 1", "mail--1-0-0 1", "shop--1-0-0 0.75", "shop--1-1-0 0.25")
	d.tell("they adopt the instances of a node", &api.CatalogUpdate{Index: 3, Entries: stackEntries("n", "shop--1-0-0", "shop--1-1-0", "cart--1-0-0"), Nodes: []string{"n"}},
		"cart--1-0-0 1", "shop--1-0-0 0.75", "shop--1-1-0 0.25")
	d.tell("the stream breaks", &api.CatalogUpdate{Index: 4, Complete: true, Cluster: "new", Nodes: []string{"n"}, Entries: stackEntries("n", "shop--1-0-0", "shop--1-1-0", "cart--1-0-0")},
		"cart--1-0-0 1", "shop--1-0-0 0.75", "shop--1-1-0 0.25")
	d.tell("an operator deploys the unit again", &api.CatalogUpdate{Index: 5, Stacks: []*api.StackShare{shareOf("shop--1-0-0", 1)}}, "cart--1-0-0 1", "shop--1-0-0 1")
	d.tell("the last instance of a stack ends", &api.CatalogUpdate{Index: 6, Removed: []string{"cart--1-0-0@n"}}, "shop--1-0-0 1")
	d.tell("the servers remove a stack", &api.CatalogUpdate{Index: 7, Stacks: []*api.StackShare{{Namespace: "dev", Stack: "shop--1-0-0--aaaaaaaa", Removed: true}}})
}

func TestStacksOfTheSameServersAreNotInherited(t *testing.T) {
	d := &divided{T: t, now: time.Unix(1000, 0)}
	first := &api.CatalogUpdate{Index: 9, Complete: true, Cluster: "one", Entries: stackEntries("n", "shop--1-0-0"), Stacks: []*api.StackShare{shareOf("shop--1-0-0", 1)}}
	d.tell("at first", first, "shop--1-0-0 1")
	d.tell("the stream breaks", &api.CatalogUpdate{Index: 10, Complete: true, Cluster: "one", Entries: stackEntries("n", "shop--1-0-0")})
}
