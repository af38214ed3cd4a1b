// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"slices"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"
)

// loaded is what a reader of feeds makes of the services that have a tag: the
// ports of each.
func loaded(t *testing.T, c *nomad.Client, tag string) map[string][]int {
	t.Helper()
	stubs, _, err := c.Services().List(&nomad.QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]int{}
	for _, namespace := range stubs {
		for _, s := range namespace.Services {
			all, _, err := c.Services().Get(s.ServiceName, &nomad.QueryOptions{Filter: `Tags contains "` + tag + `"`})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				found[r.ServiceName] = append(found[r.ServiceName], r.Port)
			}
		}
	}
	return found
}

// Traefik's provider with watch = true follows the events of services, all of
// them and from now on, and loads everything anew at each: nothing else tells it
// that an instance came or left, so at the last event the picture must be the
// last one.
func TestFeedsThatFollowServiceEvents(t *testing.T) {
	f := newForeign(t)
	const tag = "traefik.enable=true"
	c, err := nomad.NewClient(&nomad.Config{Address: "http://" + f.Addr, Region: "global", Namespace: "default", WaitTime: 15 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	events, err := c.EventStream().Stream(ctx, map[nomad.Topic][]string{nomad.TopicService: {"*"}}, 0, &nomad.QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// follow loads at each event until the picture is as it is wanted.
	follow := func(what string, kind string, want int) (ports []int) {
		t.Helper()
		for {
			batch, ok := <-events
			if !ok || batch.Err != nil {
				t.Fatalf("%s: the stream ended: %+v; last loaded were ports %v, want %d", what, batch, ports, want)
			}
			seen := false
			for _, e := range batch.Events {
				r, err := e.Service()
				if err != nil || r == nil || r.ID == "" || r.ServiceName != "web" || r.Address == "" || r.Port == 0 {
					t.Fatalf("%s: an event's service is %+v, %v", what, r, err)
				}
				seen = seen || e.Type == kind
			}
			ports = loaded(t, c, tag)["web"]
			if seen && len(ports) == want {
				slices.Sort(ports)
				return ports
			}
		}
	}
	f.registerJob(offering(foreignJob("shop", "x", 2), "web", tag))
	two := follow("a job of two", "ServiceRegistration", 2)
	three := 3
	if _, _, err := f.api.Jobs().Scale("shop", "web", &three, "", false, nil, nil); err != nil {
		t.Fatal(err)
	}
	all := follow("scaled to three", "ServiceRegistration", 3)
	for _, port := range two {
		if !slices.Contains(all, port) {
			t.Errorf("ports %v, then %v: an instance that stays has another port", two, all)
		}
	}
	if _, _, err := f.api.Jobs().Deregister("shop", false, nil); err != nil {
		t.Fatal(err)
	}
	follow("stopped", "ServiceDeregistration", 0)
}

// Others wait for the list of services, and for each of them, by blocking
// queries: they sleep until what they asked for has changed.
func TestFeedsThatBlock(t *testing.T) {
	f := newForeign(t)
	list := func(index uint64) ([]*nomad.ServiceRegistrationListStub, uint64) {
		t.Helper()
		q := (&nomad.QueryOptions{WaitIndex: index, WaitTime: patience, AllowStale: true}).WithContext(t.Context())
		stubs, meta, err := f.api.Services().List(q)
		if err != nil {
			t.Fatal(err)
		}
		return stubs, meta.LastIndex
	}
	_, index := list(0)
	f.registerJob(offering(foreignJob("shop", "x", 1), "web", "blue"))
	stubs, next := list(max(index, 1))
	if len(stubs) != 1 || len(stubs[0].Services) != 1 || stubs[0].Services[0].ServiceName != "web" || next <= index {
		t.Errorf("the list after index %d is %+v at %d, want web at a later one", index, stubs, next)
	}
	// An instance more changes the service, and not the list of names.
	two := 2
	if _, _, err := f.api.Jobs().Scale("shop", "web", &two, "", false, nil, nil); err != nil {
		t.Fatal(err)
	}
	f.registrations("web", 2, nomad.QueryOptions{AllowStale: true})
	if _, same := list(0); same != next {
		t.Errorf("one instance more moved the list from index %d to %d", next, same)
	}
	if _, _, err := f.api.Jobs().Deregister("shop", false, nil); err != nil {
		t.Fatal(err)
	}
	if none, gone := list(next); len(none) != 0 || gone <= next {
		t.Errorf("when the job is stopped the list is %+v at %d, want an empty one after %d", none, gone, next)
	}
}
