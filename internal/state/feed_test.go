// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

func told(b *Batch) (lines []string) {
	for _, c := range b.Changes {
		op := "put"
		if c.Op == Delete {
			op = "delete"
		}
		lines = append(lines, fmt.Sprintf("%s: %s %s old=%t new=%t", c.Cause, op, c.Table, c.Old != nil, c.New != nil))
	}
	return lines
}

func TestFeedTellsWhatAnEntryChanged(t *testing.T) {
	s := newTester(t)
	f := s.Subscribe()
	defer f.Close()
	next := func() []string {
		t.Helper()
		b, err := f.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if b.Index != s.Index() {
			t.Errorf("batch of entry %d, want %d", b.Index, s.Index())
		}
		return told(b)
	}
	s.do(&RegisterJob{Job: testJob("web"), Evaluation: s.evaluation("e", api.EvalStatusPending)})
	if diff := cmp.Diff([]string{"RegisterJob: put jobs old=false new=true", "RegisterJob: put evaluations old=false new=true"}, next()); diff != "" {
		t.Error(diff)
	}
	s.place(s.allocation("a", ""))
	if diff := cmp.Diff([]string{"CommitPlacement: put allocations old=false new=true", "CommitPlacement: put jobs old=true new=true"}, next()); diff != "" {
		t.Errorf("a job that is running now is told too:\n%s", diff)
	}
	s.report("a", api.AllocClientComplete)
	next()
	s.do(&Collect{Allocations: []string{"a"}})
	if diff := cmp.Diff([]string{"Collect: delete allocations old=true new=false"}, next()); diff != "" {
		t.Error(diff)
	}
	s.try(&DeleteNode{IDs: []string{"missing"}})
	if got := next(); len(got) != 0 {
		t.Errorf("a refused command changed %v", got)
	}
}

func TestFeedGoesBack(t *testing.T) {
	s := newTester(t)
	for i := range 5 {
		s.do(&RegisterNode{Node: &api.Node{ID: fmt.Sprint("n", i)}})
	}
	for from := range uint64(6) {
		f, err := s.SubscribeFrom(from)
		if err != nil {
			t.Fatal(err)
		}
		for index := from + 1; index <= 5; index++ {
			b, err := f.Next(context.Background())
			if err != nil || b.Index != index {
				t.Fatalf("from %d: batch %+v, %v; want entry %d", from, b, err, index)
			}
		}
		f.Close()
		if _, err := f.Next(context.Background()); !errors.Is(err, ErrClosed) {
			t.Errorf("Next after Close: %v", err)
		}
	}
}

// TestFeedIsBoundedByWhatItKeepsAlive replaces a job of megabytes of text again
// and again: what the feed keeps of it stays within its bound.
func TestFeedIsBoundedByWhatItKeepsAlive(t *testing.T) {
	const text, versions = 2 << 20, 40
	s := newTester(t)
	for n := range versions {
		job := testJob("web")
		job.Meta = map[string]string{"n": fmt.Sprint(n)}
		job.Groups[0].Tasks[0].Templates = []*api.Template{{EmbeddedTmpl: strings.Repeat("x", text), DestPath: "local/x"}}
		s.do(&RegisterJob{Job: job})
	}
	kept := s.Index() - s.HistoryFrom()
	if most := uint64(feedMinBytes/text + 1); kept > most || kept < most/2 {
		t.Errorf("the feed keeps %d versions of %d MB, want at most %d", kept, text>>20, most)
	}
	// A change that shares the job's text with what comes after it weighs little.
	before := s.HistoryFrom()
	s.place(s.allocation("a", ""))
	s.report("a", api.AllocClientComplete)
	if s.HistoryFrom() != before {
		t.Errorf("two changes of the job's status moved the feed's beginning from %d to %d", before, s.HistoryFrom())
	}
}

func TestSlowSubscriberIsTold(t *testing.T) {
	s := newTester(t)
	f := s.Subscribe()
	for i := range feedBatches + 10 {
		s.Apply(uint64(i+1), nil)
	}
	if _, err := f.Next(context.Background()); !errors.Is(err, ErrFellBehind) {
		t.Errorf("Next = %v, want ErrFellBehind", err)
	}
	if _, err := s.SubscribeFrom(5); !errors.Is(err, ErrHistoryGone) {
		t.Errorf("SubscribeFrom(5) = %v, want ErrHistoryGone", err)
	}
	if _, err := s.SubscribeFrom(feedBatches); err != nil {
		t.Errorf("SubscribeFrom(%d) = %v", feedBatches, err)
	}
}

func TestRestoringTellsSubscribers(t *testing.T) {
	s := newTester(t)
	s.do(&RegisterNode{Node: &api.Node{ID: "n"}})
	f := s.Subscribe()
	file := newPipe(goldenStore(t).Snapshot())
	if err := s.Restore(file); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Next(context.Background()); !errors.Is(err, ErrFellBehind) {
		t.Errorf("Next = %v, want ErrFellBehind", err)
	}
	if s.Snapshot().Node("n") != nil || s.Snapshot().Job("default", "web") == nil {
		t.Error("the state was not replaced")
	}
	g, err := s.SubscribeFrom(s.Index())
	if err != nil {
		t.Fatal(err)
	}
	s.Apply(s.Index()+1, []Command{&RegisterNode{Node: &api.Node{ID: "later"}}})
	if b, err := g.Next(context.Background()); err != nil || len(b.Changes) != 1 {
		t.Errorf("after the restore: %+v, %v", b, err)
	}
}

func TestWaiting(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newTester(t)
		s.do(&RegisterJob{Job: testJob("web")})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()

		applied, changed := make(chan error, 1), make(chan uint64, 1)
		go func() { applied <- s.Wait(ctx, 3) }()
		go func() {
			index, _ := s.WaitChange(ctx, 1, TableJobs, TableAllocations)
			changed <- index
		}()
		synctest.Wait()
		s.do(&RegisterNode{Node: &api.Node{ID: "n"}})
		synctest.Wait()
		if len(applied)+len(changed) > 0 {
			t.Fatal("somebody was woken by a change that they did not wait for")
		}
		s.do(&RegisterJob{Job: testJob("api")})
		if err := <-applied; err != nil {
			t.Errorf("Wait: %v", err)
		}
		if index := <-changed; index != 3 {
			t.Errorf("WaitChange = %d, want 3", index)
		}
		index, err := s.WaitChange(ctx, 3, TableJobs)
		if index != 3 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WaitChange that times out = %d, %v", index, err)
		}
		if n := s.waiters.len(); n != 0 {
			t.Errorf("%d waiters are left", n)
		}
	})
}
