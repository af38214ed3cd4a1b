// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package variables

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/fakevars"
)

// A follower notes what Follow passes on.
type follower struct {
	value string
	err   error
	calls int
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
			time.Sleep(10 * time.Minute)
			put(t, store, value)
			time.Sleep(time.Second)
			if f.value != value || f.err != nil {
				t.Errorf("value %q, error %v, want %q", f.value, f.err, value)
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
		if api.CodeOf(f.err) != api.CodeNotFound {
			t.Errorf("error %v", f.err)
		}
		put(t, store, "1")
		time.Sleep(missingPause)
		synctest.Wait()
		if f.value != "1" || f.err != nil {
			t.Errorf("a new variable: %q, %v", f.value, f.err)
		}
		store.Fail(api.Errorf(api.CodeUnavailable, "no servers"))
		time.Sleep(time.Hour)
		if f.err == nil || f.value != "1" {
			t.Errorf("unreadable: %q, %v", f.value, f.err)
		}
		if n := store.Gets(); n > 260 {
			t.Errorf("%d reads in an hour without servers", n)
		}
		put := func() {
			store.Fail(nil)
			put(t, store, "2")
		}
		put()
		time.Sleep(longestPause)
		synctest.Wait()
		if f.value != "2" || f.err != nil {
			t.Errorf("readable again: %q, %v", f.value, f.err)
		}
		store.Delete("default", "certs/web")
		time.Sleep(2 * longestWait)
		if api.CodeOf(f.err) != api.CodeNotFound {
			t.Errorf("deleted: %v", f.err)
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
		time.Sleep(time.Second)
		store.Rewind()
		time.Sleep(2 * longestWait)
		put(t, store, "restored")
		time.Sleep(2 * time.Second)
		if f.value != "restored" {
			t.Errorf("value %q, error %v", f.value, f.err)
		}
	})
}

// A server that answers immediately is not flooded with reads.
func TestAServerThatDoesNotWait(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := follow(t, nil, func(string) (Client, error) { return nil, errors.New("no token") })
		time.Sleep(time.Minute)
		if f.calls > 10 || f.err == nil {
			t.Errorf("%d calls in a minute without a token, error %v", f.calls, f.err)
		}
	})
}
