// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// staged returns the commands that restore a state, without the last one, and the last one.
func staged(t *testing.T, v *Snapshot, parts int) ([]Command, *RestoreState) {
	t.Helper()
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.WriteTo(z); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	var stages []Command
	for i := range parts {
		from, to := i*b.Len()/parts, (i+1)*b.Len()/parts
		stages = append(stages, &StageRestore{ID: "restore", Number: i, Data: b.Bytes()[from:to]})
	}
	return stages, &RestoreState{ID: "restore", Parts: parts, SHA256: sum[:], Timeline: "restored"}
}

// longLog is a state with a long log, in which index 900 is the last one.
func longLog(t *testing.T) *Store {
	t.Helper()
	s := New()
	for i, c := range []Command{
		&BeginCluster{ID: "theirs"}, &BeginTimeline{ID: "old"}, &PutDomain{Domain: "shop"},
		&RegisterJob{Job: minimalJob("old")},
		PutTrust(&Trust{ClusterID: "theirs"}, nil), PutServer(&api.Server{ID: "s-theirs", Address: "a"}, nil),
		&RevokeMember{ID: "excluded-there"},
	} {
		if errs := s.Apply(uint64(894+i), []Command{c}); errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	return s
}

func minimalJob(id string) *api.Job {
	return &api.Job{ID: id, Namespace: "default", Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "exec"}}}}}
}

// shortLog is a state whose last entry is 5.
func shortLog(t *testing.T) *Store {
	t.Helper()
	s := New()
	for i, c := range []Command{
		&BeginCluster{ID: "ours"}, &RegisterJob{Job: minimalJob("new")},
		PutTrust(&Trust{ClusterID: "ours"}, nil), PutServer(&api.Server{ID: "s-ours", Address: "b"}, nil), &RevokeMember{ID: "excluded-here"},
	} {
		if errs := s.Apply(uint64(i+1), []Command{c}); errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	return s
}

// entries applies commands as one entry each, through their encoding.
func entries(t *testing.T, s *Store, commands ...Command) (errs []error) {
	t.Helper()
	for _, c := range commands {
		decoded, err := DecodeCommands(AppendCommand(BeginEntry(), c))
		if err != nil {
			t.Fatal(err)
		}
		errs = append(errs, s.Apply(s.LogIndex()+1, decoded)...)
	}
	return errs
}

func TestRestoreReplacesTheStateAtOneEntry(t *testing.T) {
	s := shortLog(t)
	feed := s.Subscribe()
	defer feed.Close()
	stages, restore := staged(t, longLog(t).Snapshot(), 3)
	for _, err := range append(entries(t, s, stages...), entries(t, s, restore)...) {
		if err != nil {
			t.Fatal(err)
		}
	}
	v := s.Snapshot()
	if v.Job("default", "old") == nil || v.Job("default", "new") != nil || v.HasRestore() {
		t.Errorf("it has the job of the snapshot: %t, the former one: %t, and parts: %t", v.Job("default", "old") != nil, v.Job("default", "new") != nil, v.HasRestore())
	}
	if v.Index() != 901 || s.LogIndex() != 9 || v.TableIndex(TableJobs) != 901 {
		t.Errorf("it is at index %d, table at %d, log at %d; want 901, 901 and 9", v.Index(), v.TableIndex(TableJobs), s.LogIndex())
	}
	if v.Trust().ClusterID != "ours" || v.Server("s-ours") == nil || v.Server("s-theirs") != nil || v.Revocation("excluded-here") == nil || v.Revocation("excluded-there") != nil {
		t.Error("it does not have the trust, servers and excluded members of its own cluster alone")
	}
	if v.ClusterID() != "theirs" || v.Timeline() != "restored" {
		t.Errorf("it is of cluster %s on timeline %s", v.ClusterID(), v.Timeline())
	}
	for position, lacks := range map[api.Position]bool{
		{Timeline: "old", Index: 900}: false, {Timeline: "old", Index: 901}: true, {Timeline: "restored", Index: 901}: false,
	} {
		if v.Lacks(position) != lacks {
			t.Errorf("it lacks %+v: %t, want %t", position, v.Lacks(position), lacks)
		}
	}
	if d := v.Domain("shop"); d == nil || !d.Stale {
		t.Errorf("the domain is still fresh: %+v", d)
	}
	if err := drain(feed); err != ErrFellBehind {
		t.Errorf("subscribers get %v", err)
	}

	// The log continues, and so do snapshots of servers.
	if errs := entries(t, s, &RegisterJob{Job: minimalJob("later")}); errs[0] != nil || s.Index() != 902 || s.LogIndex() != 10 {
		t.Errorf("the next entry: %v, index %d, log %d", errs, s.Index(), s.LogIndex())
	}
	var image bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&image); err != nil {
		t.Fatal(err)
	}
	again, err := Restore(&image)
	if err != nil || again.Index() != 902 || again.LogIndex() != 10 {
		t.Errorf("a server that starts from a snapshot: %v, index %d, log %d", err, again.Index(), again.LogIndex())
	}
	if errs := again.Apply(10, []Command{&RegisterJob{Job: minimalJob("twice")}}); errs[0] != nil || again.Snapshot().Job("default", "twice") != nil {
		t.Error("it applied an entry that it had applied")
	}
}

// drain reads a subscription to its error, or to its end.
func drain(u *Subscription) error {
	for {
		if b, _, err := u.take(); err != nil || b == nil {
			return err
		}
	}
}

// TestRestoreIsTheSameOnEveryServer compares a server that applied every entry with one that
// started from a snapshot in the middle of the restore.
func TestRestoreIsTheSameOnEveryServer(t *testing.T) {
	stages, restore := staged(t, longLog(t).Snapshot(), 4)
	one := shortLog(t)
	entries(t, one, stages[:2]...)
	var image bytes.Buffer
	if _, err := one.Snapshot().WriteTo(&image); err != nil {
		t.Fatal(err)
	}
	two, err := Restore(&image)
	if err != nil {
		t.Fatal(err)
	}
	var states [2]bytes.Buffer
	for i, s := range []*Store{one, two} {
		for _, err := range entries(t, s, append(stages[2:], restore)...) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Snapshot().WriteTo(&states[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(states[0].Bytes(), states[1].Bytes()) {
		t.Error("the servers have different states")
	}
}

func TestAnIncompleteRestoreChangesNothing(t *testing.T) {
	stages, restore := staged(t, longLog(t).Snapshot(), 3)
	damaged := *stages[1].(*StageRestore)
	damaged.Data = bytes.Clone(damaged.Data)
	damaged.Data[0] ^= 1
	other := *stages[0].(*StageRestore)
	other.ID = "other"
	lying, lyingRestore := []Command{&StageRestore{ID: "restore", Data: []byte("no state")}}, *restore
	sum := sha256.Sum256([]byte("no state"))
	lyingRestore.Parts, lyingRestore.SHA256 = 1, sum[:]
	for i, commands := range [][]Command{
		{restore},
		append(stages[:2:2], restore),
		{stages[0], stages[2], stages[1], restore},
		{stages[0], &damaged, stages[2], restore},
		{stages[0], stages[1], &other, stages[2], restore},
		append(stages[:3:3], &DiscardRestore{}, restore),
		append(lying, &lyingRestore),
	} {
		s := shortLog(t)
		errs := entries(t, s, commands...)
		if err := errs[len(errs)-1]; err == nil || api.CodeOf(err) == api.CodeInternal {
			t.Errorf("case %d: %v", i, err)
		}
		v := s.Snapshot()
		if v.Job("default", "new") == nil || v.Job("default", "old") != nil || s.Index() != s.LogIndex() || v.ClusterID() != "ours" {
			t.Errorf("case %d: the state changed", i)
		}
		if errs := entries(t, s, &DiscardRestore{}); errs[0] != nil || s.Snapshot().HasRestore() {
			t.Errorf("case %d: parts remain: %v", i, errs)
		}
	}
}

// TestCommandsOfTheSameEntryAsARestore are applied before and after it.
func TestCommandsOfTheSameEntryAsARestore(t *testing.T) {
	s := shortLog(t)
	stages, restore := staged(t, longLog(t).Snapshot(), 1)
	entries(t, s, stages...)
	index, errs := s.ApplyEntry(s.LogIndex()+1, []Command{&RegisterJob{Job: minimalJob("before")}, restore, &RegisterJob{Job: minimalJob("after")}})
	if fmt.Sprint(errs) != "[<nil> <nil> <nil>]" || index != 901 {
		t.Fatalf("at index %d: %v", index, errs)
	}
	v := s.Snapshot()
	if v.Job("default", "before") != nil || v.Job("default", "after") == nil || v.Job("default", "after").ModifyIndex != 901 {
		t.Errorf("before: %v, after: %v", v.Job("default", "before"), v.Job("default", "after"))
	}
}

func TestARestoreKeepsTheRotationOfTheRoot(t *testing.T) {
	theirs, s := longLog(t), shortLog(t)
	for _, errs := range [][]error{
		entries(t, theirs, PutRenewal(&Renewal{ID: "s-theirs", Root: "theirs"})),
		entries(t, s, PutRenewal(&Renewal{ID: "s-ours", Root: "ours"})),
	} {
		if errs[0] != nil {
			t.Fatal(errs[0])
		}
	}
	stages, restore := staged(t, theirs.Snapshot(), 3)
	for _, err := range append(entries(t, s, stages...), entries(t, s, restore)...) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if v := s.Snapshot(); v.Renewal("s-ours") == nil || v.Renewal("s-theirs") != nil {
		t.Error("it does not have the renewals of its own cluster alone")
	}
}
