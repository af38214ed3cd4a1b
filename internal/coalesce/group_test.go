// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package coalesce

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// TestCallersShareTheNextCall lets ten callers arrive while a call runs.
func TestCallersShareTheNextCall(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var calls int
		end := make(chan struct{})
		g := New(func(context.Context) (int, error) {
			calls++
			n := calls
			<-end
			return n, nil
		})
		results := make(chan int, 11)
		ask := func() {
			n, err := g.Do(t.Context())
			if err != nil {
				t.Error(err)
			}
			results <- n
		}
		go ask()
		synctest.Wait()
		for range 10 {
			go ask()
		}
		synctest.Wait()
		end <- struct{}{}
		if n := <-results; n != 1 {
			t.Errorf("the first caller received the result of call %d", n)
		}
		synctest.Wait()
		if len(results) > 0 {
			t.Errorf("%d callers received a result of a call that began before they asked", len(results))
		}
		end <- struct{}{}
		for range 10 {
			if n := <-results; n != 2 {
				t.Errorf("a caller of the batch received the result of call %d, want 2", n)
			}
		}
	})
}

// TestACallEndsWithItsLastCaller cancels callers one after the other.
func TestACallEndsWithItsLastCaller(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var running atomic.Int64
		g := New(func(ctx context.Context) (int, error) {
			running.Add(1)
			defer running.Add(-1)
			<-ctx.Done()
			return 0, ctx.Err()
		})
		ask := func(ctx context.Context) <-chan error {
			got := make(chan error, 1)
			go func() {
				_, err := g.Do(ctx)
				got <- err
			}()
			synctest.Wait()
			return got
		}
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		third, leaveThird := context.WithCancel(t.Context())
		one, two := ask(first), ask(second) // the second one waits for the next call
		leaveSecond()
		if err := <-two; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that left received %v", err)
		}
		three := ask(third)
		if running.Load() != 1 {
			t.Errorf("%d calls run, want the first", running.Load())
		}
		leaveFirst()
		<-one
		synctest.Wait()
		if running.Load() != 1 || len(three) > 0 {
			t.Errorf("%d calls run, want that of the third caller, which received %d results", running.Load(), len(three))
		}
		leaveThird()
		<-three
		synctest.Wait()
		if running.Load() != 0 {
			t.Error("a call runs for nobody")
		}
	})
}

// TestResultsAreNeverOlderThanTheirCaller counts events, and expects each caller to see the
// events before its question.
func TestResultsAreNeverOlderThanTheirCaller(t *testing.T) {
	var events, calls atomic.Int64
	g := New(func(context.Context) (int64, error) {
		calls.Add(1)
		return events.Load(), nil
	})
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 500 {
				before := events.Add(1)
				if seen, err := g.Do(t.Context()); err != nil || seen < before {
					t.Errorf("a caller after event %d sees %d, %v", before, seen, err)
				}
			}
		})
	}
	callers.Wait()
	if n := calls.Load(); n > 8000 {
		t.Errorf("%d calls for 8000 callers", n)
	}
}
