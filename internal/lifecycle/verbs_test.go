// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

func TestVerbsInTheWrongStatusNameWhatIsPossible(t *testing.T) {
	verbs := map[string]func(*api.Stack) (*api.Stack, error){
		"hold": func(s *api.Stack) (*api.Stack, error) {
			return lifecycle.Hold(s, "ann", "", time.Time{}, start)
		},
		"extend": func(s *api.Stack) (*api.Stack, error) { return lifecycle.Extend(s, time.Hour, start) },
		"expire": func(s *api.Stack) (*api.Stack, error) { return lifecycle.Expire(s, start) },
		"rescue": func(s *api.Stack) (*api.Stack, error) { return lifecycle.Rescue(s, time.Hour, start) },
	}
	allowed := map[string]string{
		api.StackPending: "hold", api.StackDeploying: "hold", api.StackWarming: "hold", api.StackReady: "hold extend expire",
		api.StackGarbage: "hold rescue", api.StackFailed: "", api.StackTerminated: "",
	}
	for name, verb := range verbs {
		for stored, possible := range allowed {
			f := newFleet(t)
			s := f.stack("inventory 1.0.0", status(stored), func(s *api.Stack) { s.StatusBefore = api.StackReady })
			before := *s
			_, err := verb(s)
			if got, want := err == nil, strings.Contains(possible, name); got != want {
				t.Errorf("%s of a stack that is %s: %v, want allowed %v", name, stored, err, want)
			}
			if err != nil && (api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "it is "+stored+"; ")) {
				t.Errorf("%s of a stack that is %s: %v, want a conflict that names the status and what is possible", name, stored, err)
			}
			if s.Status != before.Status || !s.Expires.Equal(before.Expires) || s.Hold != before.Hold {
				t.Errorf("%s changed the stored stack", name)
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
