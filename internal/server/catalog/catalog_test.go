// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/catalogentry"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// instance is a routable allocation that offers services.
func instance(id string, index uint64, names ...string) *api.Allocation {
	a := &api.Allocation{
		ID: id, Namespace: "default", JobID: "web", Group: "web", Name: "web.web[0]", NodeID: "n1",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
		CreateIndex: 1, ModifyIndex: index, Serving: &api.Serving{Up: true, Routable: true},
	}
	for _, n := range names {
		name, tags, _ := strings.Cut(n, "+")
		a.Serving.Services = append(a.Serving.Services, &api.ServiceRegistration{
			ID: id + "-" + name, ServiceName: name, Namespace: "default", AllocID: id, JobID: "web",
			Tags: strings.FieldsFunc(tags, func(r rune) bool { return r == '+' }), Address: "10.0.0.1", Port: 8080,
		})
	}
	return a
}

// world applies changes to a catalog as the feed would.
type world struct {
	c     *Catalog
	index uint64
	now   map[string]*api.Allocation
}

func newWorld() *world {
	w := &world{c: New(), index: 10, now: map[string]*api.Allocation{}}
	store := state.New()
	w.c.start(store.Snapshot())
	return w
}

// put changes allocations in one entry; nil deletes.
func (w *world) put(changes map[string]*api.Allocation) {
	w.index++
	b := &state.Batch{Index: w.index}
	for id, a := range changes {
		c := state.Change{Table: state.TableAllocations, Op: state.Put}
		if old := w.now[id]; old != nil {
			c.Old = old
		}
		if a != nil {
			c.New = a
			w.now[id] = a
		} else {
			delete(w.now, id)
		}
		if c.Old == nil && c.New == nil {
			continue
		}
		b.Changes = append(b.Changes, c)
	}
	w.c.apply(b)
}

func (w *world) set(a *api.Allocation) { w.put(map[string]*api.Allocation{a.ID: a}) }

func (w *world) service(t *testing.T, name string) (ids []string, index uint64) {
	t.Helper()
	all, index := w.c.Service("default", name)
	for _, r := range all {
		ids = append(ids, r.AllocID)
	}
	return ids, index
}

func TestServiceHasWhatIsRoutable(t *testing.T) {
	w := newWorld()
	w.set(instance("a", 11, "web"))
	w.set(instance("b", 12, "web", "admin"))
	ids, index := w.service(t, "web")
	if diff := cmp.Diff([]string{"a", "b"}, ids); diff != "" || index != 12 {
		t.Errorf("web at %d, want 12:\n%s", index, diff)
	}
	lost := instance("a", 13, "web")
	lost.Serving.Routable = false
	w.set(lost)
	if ids, index := w.service(t, "web"); len(ids) != 1 || index != 13 {
		t.Errorf("after a check failed, web is %v at %d, want only b at 13", ids, index)
	}
	stopped := instance("b", 14, "web", "admin")
	stopped.DesiredStatus = api.AllocDesiredStop
	w.set(stopped)
	ids, index = w.service(t, "web")
	if len(ids) != 0 || index != 14 {
		t.Errorf("after the last one was told to stop, web is %v at %d, want none at 14", ids, index)
	}
	if names, at := w.c.Names("default"); len(names) != 0 || at != 14 {
		t.Errorf("the names are %v at %d, want none at 14", names, at)
	}
}

func TestChangeOfOneServiceIsNoneOfOthers(t *testing.T) {
	w := newWorld()
	w.set(instance("a", 11, "web", "admin"))
	w.set(instance("b", 12, "web"))
	if _, index := w.service(t, "admin"); index != 11 {
		t.Errorf("admin changed at %d, want 11", index)
	}
	_, at := w.c.Names("default")
	w.set(instance("b", 13, "web+blue"))
	if _, now := w.c.Names("default"); now != 13 || at != 11 {
		t.Errorf("names changed at %d and %d, want 11 and, with the new tag, 13", at, now)
	}
	same := instance("b", 14, "web+blue")
	w.set(same) // says what was known
	if _, index := w.service(t, "web"); index != 13 {
		t.Errorf("web changed at %d though nothing did since 13", index)
	}
	if e := w.c.Entry("b"); e.Services[0].ModifyIndex != 13 {
		t.Errorf("the registration says %d, want 13", e.Services[0].ModifyIndex)
	}
}

func TestNamesHaveTheTagsOfAll(t *testing.T) {
	w := newWorld()
	w.set(instance("a", 11, "web+x+y"))
	w.set(instance("b", 12, "web+y+z+z"))
	names, _ := w.c.Names("default")
	if diff := cmp.Diff([]Name{{"default", "web", []string{"x", "y", "z"}}}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	w.put(map[string]*api.Allocation{"b": nil})
	names, _ = w.c.Names("")
	if diff := cmp.Diff([]Name{{"default", "web", []string{"x", "y"}}}, names); diff != "" {
		t.Errorf("names without b (-want +got):\n%s", diff)
	}
}

func TestWaitWakesForItsServiceOnly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		w := newWorld()
		w.set(instance("a", 11, "web"))
		looks, done := 0, make(chan error, 1)
		go func() {
			done <- w.c.Wait(t.Context(), "default", "web", func() bool {
				looks++
				_, index := w.c.Service("default", "web")
				return index > 11
			})
		}()
		synctest.Wait()
		for i := range 5 {
			w.set(instance(fmt.Sprint("o", i), uint64(12+i), "other"))
		}
		synctest.Wait()
		if looks != 1 {
			t.Errorf("looked %d times while other services changed", looks)
		}
		w.set(instance("b", 17, "web"))
		if err := <-done; err != nil || looks != 2 {
			t.Errorf("looked %d times, error %v; want 2 and none", looks, err)
		}
		if n := len(w.c.waiters.byKey); n != 0 {
			t.Errorf("%d services are still waited for", n)
		}
	})
}

// follower is what a reader of the stream knows.
type follower struct {
	entries  map[string]*api.CatalogEntry
	complete int
	index    uint64
}

func (f *follower) take(m *Message) {
	if m.Complete {
		f.entries = map[string]*api.CatalogEntry{}
		f.complete++
	}
	for _, e := range m.Entries {
		f.entries[e.AllocID] = e
	}
	for _, id := range m.Removed {
		delete(f.entries, id)
	}
	f.index = m.Index
}

func (f *follower) drain(t *testing.T, s *Subscription) {
	t.Helper()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for {
		m, err := s.Next(ended)
		if errors.Is(err, context.Canceled) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		f.take(m)
	}
}

func TestFollowersKnowWhatThereIs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	w := newWorld()
	quick, slow := w.c.Subscribe(), w.c.Subscribe()
	q, s := &follower{}, &follower{}
	s.drain(t, slow)
	names := []string{"web", "web+blue", "admin", "db+x+y", "db"}
	for range 3 * pastMessages {
		changes := map[string]*api.Allocation{}
		for range 1 + random.IntN(3) {
			id := fmt.Sprint("a", random.IntN(40))
			a := instance(id, w.index+1, names[random.IntN(len(names))], names[random.IntN(len(names))])
			switch random.IntN(5) {
			case 0:
				a = nil
			case 1:
				a.Serving.Routable = false
			}
			changes[id] = a
		}
		w.put(changes)
		if random.IntN(50) == 0 {
			q.drain(t, quick)
		}
	}
	q.drain(t, quick)
	s.drain(t, slow)
	want := map[string]*api.CatalogEntry{}
	for id, a := range w.now {
		if e := catalogentry.Of(a); e != nil {
			want[id] = e
		}
	}
	for name, f := range map[string]*follower{"quick": q, "slow": s} {
		if len(f.entries) != len(want) {
			t.Errorf("the %s reader knows %d entries, want %d", name, len(f.entries), len(want))
		}
		for id, e := range want {
			if !catalogentry.IsSame(f.entries[id], e) {
				t.Errorf("the %s reader has another entry of %s (-want +got):\n%s", name, id, cmp.Diff(e, f.entries[id]))
			}
		}
	}
	if q.complete != 1 || s.complete != 2 {
		t.Errorf("complete messages: %d to the quick reader, %d to the slow one; want 1 and 2", q.complete, s.complete)
	}
	checkServices(t, w, want)
}

// checkServices compares the index by service with all entries.
func checkServices(t *testing.T, w *world, entries map[string]*api.CatalogEntry) {
	t.Helper()
	byName := map[string]map[string]bool{}
	for _, e := range entries {
		for _, r := range e.Services {
			if byName[r.ServiceName] == nil {
				byName[r.ServiceName] = map[string]bool{}
			}
			byName[r.ServiceName][r.ID] = true
		}
	}
	names, _ := w.c.Names("default")
	if len(names) != len(byName) {
		t.Errorf("%d names, want %d", len(names), len(byName))
	}
	for _, n := range names {
		all, _ := w.c.Service("default", n.ServiceName)
		if len(all) != len(byName[n.ServiceName]) {
			t.Errorf("%s has %d registrations, want %d", n.ServiceName, len(all), len(byName[n.ServiceName]))
		}
		var have []string
		for _, r := range all {
			have = append(have, r.Tags...)
		}
		slices.Sort(have)
		if have = slices.Compact(have); !slices.Equal(have, n.Tags) {
			t.Errorf("%s has tags %v, want %v", n.ServiceName, n.Tags, have)
		}
	}
}

func TestRunFollowsTheStore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store, c := state.New(), New()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx, store) }()
		if err := c.WaitSeen(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		store.Apply(1, []state.Command{&state.PutEvaluations{Evaluations: []*api.Evaluation{{ID: api.NewID(), JobID: "j", Status: api.EvalStatusPending}}}})
		if err := c.WaitSeen(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	})
}

func TestFollowersHearOfNodes(t *testing.T) {
	w := newWorld()
	early := w.c.Subscribe()
	if m, err := early.Next(t.Context()); err != nil || !m.Complete || len(m.Nodes) != 0 {
		t.Fatalf("at first: %+v, %v", m, err)
	}
	at := func(index uint64, changes ...state.Change) {
		for i := range changes {
			changes[i].Table = state.TableNodes
		}
		w.c.apply(&state.Batch{Index: index, Changes: changes})
	}
	comes := &api.Node{ID: "n1", Status: api.NodeStatusInit}
	ready := &api.Node{ID: "n1", Status: api.NodeStatusReady}
	other := &api.Node{ID: "n2", Status: api.NodeStatusReady}
	at(20, state.Change{New: comes})
	at(21, state.Change{Old: comes, New: ready}, state.Change{New: other})
	at(22, state.Change{Old: ready, New: ready})
	at(23, state.Change{Old: other})
	m, err := early.Next(t.Context())
	if err != nil || m.Index != 21 || !slices.Equal(m.Nodes, []string{"n1", "n2"}) {
		t.Errorf("then: %+v, %v", m, err)
	}
	late, err := w.c.Subscribe().Next(t.Context())
	if err != nil || !slices.Equal(late.Nodes, []string{"n1"}) {
		t.Errorf("who comes late hears %+v, %v", late, err)
	}
}

func TestEntriesHaveTheZoneOfTheirNode(t *testing.T) {
	w := newWorld()
	sub := w.c.Subscribe()
	at := func(table state.Table, old, new any) {
		w.index++
		w.c.apply(&state.Batch{Index: w.index, Changes: []state.Change{{Table: table, Old: old, New: new}}})
	}
	want := func(when, zone string) {
		t.Helper()
		e := w.c.Entry("a")
		list, index := w.c.Service("default", "web")
		if e.Zone != zone || len(list) != 1 || list[0].Zone != zone || index != w.index {
			t.Errorf("%s: the entry is in %q, its service %q at %d; want %q at %d", when, e.Zone, list[0].Zone, index, zone, w.index)
		}
	}
	node := &api.Node{ID: "n1", Datacenter: "dc1", Status: api.NodeStatusReady}
	at(state.TableNodes, nil, node)
	w.set(instance("a", w.index+1, "web"))
	want("at first", "dc1")
	marked := node.Copy()
	marked.Meta = map[string]string{"zone": "east", "rack": "r7"}
	at(state.TableNodes, node, marked)
	want("with meta", "east")
	at(state.TableSchedulerConfig, &api.SchedulerConfig{}, &api.SchedulerConfig{ZoneAttribute: "${meta.rack}"})
	want("with another attribute", "r7")
	var last *Message
	for range 5 {
		m, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last = m
		if m.Index == w.index {
			break
		}
	}
	if last.Index != w.index || len(last.Entries) != 1 || last.Entries[0].Zone != "r7" {
		t.Errorf("followers hear %+v", last.CatalogUpdate)
	}
}
