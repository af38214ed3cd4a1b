// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// TestStacksOutsideOfReeveHaveAnEntryUntilTheyAreRemoved compares a catalog that follows
// changes with one that starts from the state after each.
func TestStacksOutsideOfReeveHaveAnEntryUntilTheyAreRemoved(t *testing.T) {
	w, store := newWorld(), state.New()
	v := api.StackVersion{Major: 1}
	var old *api.Stack
	for i, status := range []string{api.StackWarming, api.StackReady, api.StackReady, api.StackGarbage, api.StackReady, api.StackTerminated} {
		s := &api.Stack{
			ID: "s1", Name: api.StackName("db", v, "aaaaaaaa"), Namespace: "default", Unit: "db", Version: v, Shape: api.ShapeExternal,
			Status: status, Address: "10.0.0.7:5432", Spec: &api.StackSpec{Version: "1.0.0", Expose: []*api.StackExposure{{Host: "db.test"}, {Host: "db2.test"}}},
		}
		if old != nil {
			s.ModifyIndex = old.ModifyIndex
		}
		w.index++
		for _, err := range store.Apply(w.index, []state.Command{state.PutStack(s)}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		stored := store.Snapshot().Stack("default", s.Name)
		change := state.Change{Table: state.TableStacks, Op: state.Put, New: stored}
		if old != nil {
			change.Old = old
		}
		w.c.apply(&state.Batch{Index: w.index, Changes: []state.Change{change}})
		old = stored

		var addresses []string
		all, _ := w.c.Entries()
		for _, e := range all.Values() {
			if e.StackAddress != "10.0.0.7:5432" {
				t.Errorf("change %d, %s: the address for callers is %q", i, status, e.StackAddress)
			}
			for _, end := range e.Endpoints {
				addresses = append(addresses, end.Route.Host+" "+end.Address)
			}
		}
		var want []string
		if status != api.StackTerminated {
			want = []string{"db.test 10.0.0.7:5432", "db2.test 10.0.0.7:5432"}
		}
		if diff := cmp.Diff(want, addresses); diff != "" {
			t.Errorf("change %d, %s (-want +got):\n%s", i, status, diff)
		}
		fresh := New()
		fresh.start(store.Snapshot())
		if again, _ := fresh.Entries(); again.Len() != all.Len() {
			t.Errorf("change %d, %s: a catalog that starts has %d entries, want %d", i, status, again.Len(), all.Len())
		}
	}
	w.c.apply(&state.Batch{Index: w.index + 1, Changes: []state.Change{{Table: state.TableStacks, Op: state.Delete, Old: old}}})
	if all, _ := w.c.Entries(); all.Len() != 0 {
		t.Errorf("%d entries after the end of the stack", all.Len())
	}
}
