// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// TestVerbsInTheWrongStatusNameWhatIsPossible applies every verb to a stack in every status.
// A refusal lists exactly the verbs that the stack accepts.
func TestVerbsInTheWrongStatusNameWhatIsPossible(t *testing.T) {
	verbs := map[string]func(*api.Stack) (*api.Stack, error){
		"hold": func(s *api.Stack) (*api.Stack, error) {
			return lifecycle.Hold(s, "ann", "", time.Time{}, start)
		},
		"unhold": func(s *api.Stack) (*api.Stack, error) { return lifecycle.Unhold(s, start) },
		"extend": func(s *api.Stack) (*api.Stack, error) { return lifecycle.Extend(s, time.Hour, start) },
		"expire": func(s *api.Stack) (*api.Stack, error) { return lifecycle.Expire(s, start) },
		"rescue": func(s *api.Stack) (*api.Stack, error) { return lifecycle.Rescue(s, time.Hour, start) },
		"stop":   func(s *api.Stack) (*api.Stack, error) { return lifecycle.Stop(s, false, start) },
	}
	for stored, possible := range map[string]string{
		api.StackPending: "hold, stop", api.StackDeploying: "hold, stop", api.StackWarming: "hold, stop",
		api.StackReady: "hold, extend, expire, stop", api.StackGarbage: "rescue, hold, stop", api.StackFailed: "stop", api.StackTerminated: "",
	} {
		for _, held := range []bool{false, true} {
			want := strings.Split(possible, ", ")
			if held {
				want = append(want, "unhold")
			}
			for name, verb := range verbs {
				s := newFleet(t).stack("inventory 1.0.0", status(stored), func(s *api.Stack) {
					s.StatusBefore = api.StackReady
					if held {
						s.Hold = &api.StackHold{By: "bob", Since: start}
					}
				})
				before := *s
				_, err := verb(s)
				if got := err == nil; got != slices.Contains(want, name) {
					t.Errorf("%s of a stack that is %s, held %t: %v, want that only %v are allowed", name, stored, held, err, want)
				}
				options := "possible: " + strings.TrimPrefix(strings.Join(want, ", "), ", ")
				if possible == "" && !held {
					options = "nothing can be done with it"
				}
				if err != nil && (api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "it is "+stored) || !strings.HasSuffix(err.Error(), "; "+options)) {
					t.Errorf("%s of a stack that is %s, held %t: %v, want a conflict that ends with %q", name, stored, held, err, options)
				}
				if diff := cmp.Diff(&before, s); diff != "" {
					t.Errorf("%s changed the stored stack:\n%s", name, diff)
				}
			}
		}
	}
}

func TestAnExtensionNeverShortens(t *testing.T) {
	f := newFleet(t)
	s := f.stack("inventory 1.0.0")
	long, err := lifecycle.Extend(s, 48*time.Hour, start)
	if err != nil {
		t.Fatal(err)
	}
	short, err := lifecycle.Extend(long, time.Minute, start)
	if err != nil || !short.Expires.Equal(long.Expires) {
		t.Errorf("an extension by a minute moved the expiry from %s to %s (%v)", long.Expires, short.Expires, err)
	}
	for _, d := range []time.Duration{-1, 1<<63 - 1} {
		if _, err := lifecycle.Extend(s, d, start); api.CodeOf(err) != api.CodeInvalid {
			t.Errorf("extension by %s: %v, want that it is invalid", d, err)
		}
	}
}
