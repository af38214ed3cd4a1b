// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package variables

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/fakevars"
)

// A follower notes what Follow passes on.
type follower struct {
	mu sync.Mutex
	state
}

type state struct {
	value string
	err   error
	calls int
}

func (f *follower) now() state {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

func follow(t *testing.T, store *fakevars.Store, open Open) *follower {
	t.Helper()
	f := &follower{}
	if open == nil {
		open = func(namespace string) (Client, error) { return store.In(namespace), nil }
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Follow(ctx, open, "default", "certs/web", func(v *api.Variable, err error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.calls++
			if f.err = err; err == nil {
				f.value = v.Items["a"]
			}
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return f
}

func put(t *testing.T, store *fakevars.Store, value string) {
	t.Helper()
	v := &api.Variable{VariableMetadata: api.VariableMetadata{Path: "certs/web"}, Items: map[string]string{"a": value}}
	if _, err := store.In("default").Put(t.Context(), v); err != nil {
		t.Fatal(err)
	}
}

func TestChangesArriveWithinASecond(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := fakevars.New()
		put(t, store, "1")
		f := follow(t, store, nil)
		for _, value := range []string{"2", "3", "4"} {
			pass(10 * time.Minute)
			put(t, store, value)
			pass(time.Second)
			if f.now().value != value || f.now().err != nil {
				t.Errorf("value %q, error %v, want %q", f.now().value, f.now().err, value)
			}
		}
		if n := store.Gets(); n > 50 {
			t.Errorf("%d reads in half an hour with 3 changes", n)
		}
	})
}

func TestMissingAndUnreadableVariablesAreRetried(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := fakevars.New()
		f := follow(t, store, nil)
		synctest.Wait()
		if api.CodeOf(f.now().err) != api.CodeNotFound {
			t.Errorf("error %v", f.now().err)
		}
		put(t, store, "1")
		pass(missingPause)
		if f.now().value != "1" || f.now().err != nil {
			t.Errorf("a new variable: %q, %v", f.now().value, f.now().err)
		}
		store.Fail(api.Errorf(api.CodeUnavailable, "no servers"))
		pass(time.Hour)
		if f.now().err == nil || f.now().value != "1" {
			t.Errorf("unreadable: %q, %v", f.now().value, f.now().err)
		}
		if n := store.Gets(); n > 260 {
			t.Errorf("%d reads in an hour without servers", n)
		}
		put := func() {
			store.Fail(nil)
			put(t, store, "2")
		}
		put()
		pass(longestPause)
		if f.now().value != "2" || f.now().err != nil {
			t.Errorf("readable again: %q, %v", f.now().value, f.now().err)
		}
		store.Delete("default", "certs/web")
		pass(2 * longestWait)
		if api.CodeOf(f.now().err) != api.CodeNotFound {
			t.Errorf("deleted: %v", f.now().err)
		}
	})
}

// The indexes of a restored cluster begin again.
func TestARestoredClusterIsFollowed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		store := fakevars.New()
		for _, value := range []string{"1", "2", "3"} {
			put(t, store, value)
		}
		f := follow(t, store, nil)
		pass(time.Second)
		store.Rewind()
		pass(2 * longestWait)
		put(t, store, "restored")
		pass(2 * time.Second)
		if f.now().value != "restored" {
			t.Errorf("value %q, error %v", f.now().value, f.now().err)
		}
	})
}

// A server that answers immediately is not flooded with reads.
func TestAServerThatDoesNotWait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := follow(t, nil, func(string) (Client, error) { return nil, errors.New("no token") })
		pass(time.Minute)
		if f.now().calls > 10 || f.now().err == nil {
			t.Errorf("%d calls in a minute without a token, error %v", f.now().calls, f.now().err)
		}
	})
}

// pass lets virtual time pass, and waits for the work that is due.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
