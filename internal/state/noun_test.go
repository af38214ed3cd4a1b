// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// A shelf is a noun that only these tests know.
type shelf struct {
	Name, Label              string
	CreateIndex, ModifyIndex uint64
}

var shelves = declare(noun[shelf]{
	name: "shelves", singular: "shelf", verb: "Shelf", frame: 255,
	key:    func(s *shelf) string { return s.Name },
	groups: func(s *shelf) []string { return strings.Split(s.Label, ",") },
	stamp:  func(s *shelf) (create, modify *uint64) { return &s.CreateIndex, &s.ModifyIndex },
	admit: func(_ *noun[shelf], _ *content, old, new *shelf) error {
		if new == nil && old.Label == "full" {
			return api.Errorf(api.CodeConflict, "shelf %q is full: empty it first", old.Name)
		}
		return nil
	},
})

func putShelf(name, label string, enforce *uint64) Command {
	return &putObject[shelf]{shelves, &shelf{Name: name, Label: label}, enforce}
}

func deleteShelf(name string, enforce *uint64) Command {
	return &deleteObject[shelf]{shelves, name, enforce}
}

// throughLog returns the command as a server reads it from the log.
func throughLog(t *testing.T, c Command) Command {
	t.Helper()
	decoded, err := DecodeCommands(EncodeCommands([]Command{c}))
	if err != nil {
		t.Fatal(err)
	}
	return decoded[0]
}

func shelfNames(v *Snapshot, prefix string) (names []string) {
	for s := range shelves.all(&v.content, prefix) {
		names = append(names, s.Name)
	}
	return names
}

func TestDeclaredNounIsStoredListedAndDeleted(t *testing.T) {
	s := New()
	for i, name := range []string{"b", "a/2", "a/1", "c"} {
		must(t, s.Apply(uint64(i+1), []Command{throughLog(t, putShelf(name, "", nil))}))
	}
	before := s.Snapshot()
	must(t, s.Apply(5, []Command{throughLog(t, deleteShelf("b", nil))}))
	must(t, s.Apply(6, []Command{throughLog(t, putShelf("c", "new", nil))}))

	after := s.Snapshot()
	if got, want := shelfNames(before, ""), []string{"a/1", "a/2", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("the earlier snapshot lists %v, want %v", got, want)
	}
	if got, want := shelfNames(after, ""), []string{"a/1", "a/2", "c"}; !slices.Equal(got, want) {
		t.Errorf("the later snapshot lists %v, want %v", got, want)
	}
	if got, want := shelfNames(after, "a/"), []string{"a/1", "a/2"}; !slices.Equal(got, want) {
		t.Errorf("prefix a/ lists %v, want %v", got, want)
	}
	if diff := cmp.Diff(&shelf{"c", "new", 4, 6}, shelves.find(&after.content, "c")); diff != "" {
		t.Errorf("changed object, want(-) got(+):\n%s", diff)
	}
	if got := shelves.find(&before.content, "c"); got.ModifyIndex != 4 {
		t.Errorf("the object in the earlier snapshot has modify index %d, want 4", got.ModifyIndex)
	}
	if got := after.TableIndex(shelves.table); got != 6 {
		t.Errorf("the table's index is %d, want 6", got)
	}
}

func TestObjectsAreFoundByTheirGroup(t *testing.T) {
	s := New()
	ofGroup := func(v *Snapshot, group string) (names []string) {
		for s := range shelves.ofGroup(&v.content, group) {
			names = append(names, s.Name)
		}
		return names
	}
	for _, c := range []Command{putShelf("b", "red", nil), putShelf("a", "red", nil), putShelf("c", "redder", nil), putShelf("d", "", nil), putShelf("e", "red,blue", nil)} {
		must(t, s.Apply(s.Index()+1, []Command{throughLog(t, c)}))
	}
	before := s.Snapshot()
	must(t, s.Apply(s.Index()+1, []Command{putShelf("a", "redder", nil)}))
	must(t, s.Apply(s.Index()+1, []Command{deleteShelf("b", nil)}))
	must(t, s.Apply(s.Index()+1, []Command{putShelf("e", "green,blue", nil)}))
	var written bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&written); err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(&written)
	if err != nil {
		t.Fatal(err)
	}
	after, loaded := s.Snapshot(), restored.Snapshot()
	for _, is := range []struct {
		of    string
		v     *Snapshot
		group string
		want  []string
	}{
		{"before", before, "red", []string{"a", "b", "e"}}, {"before", before, "redder", []string{"c"}}, {"before", before, "", []string{"d"}},
		{"before", before, "blue", []string{"e"}}, {"after", after, "blue", []string{"e"}}, {"after", after, "green", []string{"e"}},
		{"loaded", loaded, "blue", []string{"e"}},
		{"after", after, "red", nil}, {"after", after, "redder", []string{"a", "c"}},
		{"loaded", loaded, "red", nil}, {"loaded", loaded, "redder", []string{"a", "c"}}, {"loaded", loaded, "", []string{"d"}},
	} {
		if got := ofGroup(is.v, is.group); !slices.Equal(got, is.want) {
			t.Errorf("%s: group %q holds %v, want %v", is.of, is.group, got, is.want)
		}
	}
}

func TestDeclaredNounRefusesChangesOfWhoHasNotSeenIt(t *testing.T) {
	s := New()
	must(t, s.Apply(1, []Command{putShelf("a", "", ptr(uint64(0)))}))
	for what, c := range map[string]Command{
		"create what exists":   putShelf("a", "x", ptr(uint64(0))),
		"change an older one":  putShelf("a", "x", ptr(uint64(9))),
		"change what is not":   putShelf("b", "x", ptr(uint64(1))),
		"delete an older one":  deleteShelf("a", ptr(uint64(9))),
		"an object is missing": &putObject[shelf]{noun: shelves},
	} {
		if err := s.Apply(s.Index()+1, []Command{c})[0]; err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := s.Apply(s.Index()+1, []Command{deleteShelf("nothing", nil)})[0]; api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("delete what is not: %v, want not found", err)
	}
	if got := shelves.find(&s.Snapshot().content, "a"); got == nil || got.ModifyIndex != 1 {
		t.Errorf("refused changes left %+v, want it unchanged", got)
	}
	must(t, s.Apply(s.Index()+1, []Command{putShelf("a", "full", ptr(uint64(1)))}))
	if err := s.Apply(s.Index()+1, []Command{deleteShelf("a", nil)})[0]; err == nil || !strings.Contains(err.Error(), "empty it first") {
		t.Errorf("delete a full shelf: %v, want what admit says", err)
	}
}

func TestDeclaredNounIsInTheFeed(t *testing.T) {
	s := New()
	sub := s.Subscribe()
	defer sub.Close()
	must(t, s.Apply(1, []Command{putShelf("a", "", nil)}))
	must(t, s.Apply(2, []Command{putShelf("a", "x", nil)}))
	must(t, s.Apply(3, []Command{deleteShelf("a", nil)}))
	first, second := &shelf{"a", "", 1, 1}, &shelf{"a", "x", 1, 2}
	for i, want := range []Change{
		{shelves.table, Put, nil, first, "PutShelf"},
		{shelves.table, Put, first, second, "PutShelf"},
		{shelves.table, Delete, second, nil, "DeleteShelf"},
	} {
		batch, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Change{want}, batch.Changes); diff != "" {
			t.Errorf("change %d, want(-) got(+):\n%s", i, diff)
		}
	}
}

func TestDeclaredNounSurvivesSnapshots(t *testing.T) {
	s := New()
	must(t, s.Apply(1, []Command{putShelf("a", "x", nil)}))
	must(t, s.Apply(2, []Command{putShelf("b", "y", nil)}))
	var written bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&written); err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(bytes.NewReader(written.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "restored", s.Snapshot(), restored.Snapshot())
	for _, name := range []string{"a", "b"} {
		want, got := shelves.find(&s.Snapshot().content, name), shelves.find(&restored.Snapshot().content, name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, want(-) got(+):\n%s", name, diff)
		}
	}
	if got := restored.Snapshot().TableIndex(shelves.table); got != 2 {
		t.Errorf("the table's index is %d after restoring, want 2", got)
	}
	must(t, restored.Apply(3, []Command{deleteShelf("a", ptr(uint64(1)))}))
}

func TestObjectsOfUnknownNounsAreRefused(t *testing.T) {
	entry := EncodeCommands([]Command{putShelf("a", "", nil)})
	entry = bytes.Replace(entry, []byte("shelves"), []byte("unknown"), 1)
	if _, err := DecodeCommands(entry); err == nil || !strings.Contains(err.Error(), `unknown kind of object "unknown"`) {
		t.Errorf("decode: %v, want it to name the unknown kind", err)
	}
}
