// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func TestTroublesAreToldWhenTheyAreKnown(t *testing.T) {
	var out bytes.Buffer
	now := clitest.Now
	list := clitest.Troubles()
	tell := &teller{
		job: "web", now: func() time.Time { return now }, out: term.NewLive(&out), told: map[string]bool{},
		said: func(_ context.Context, t *api.Trouble) []string {
			if t.Log == "" {
				return nil
			}
			return []string{"ImportError: no module"}
		},
	}
	said := func(what string) int { return strings.Count(out.String(), what) }
	tell.take(list[:2]) // an exit, and a check
	tell.tell(t.Context())
	if said("Trouble: server-0") != 1 || said("    | ImportError") != 1 || said("reeve alloc logs -stderr") != 1 {
		t.Errorf("an exit is said at once, with the last lines and what to type; got:\n%s", &out)
	}
	if said("check") != 0 {
		t.Errorf("a check that fails for a moment is a slow start; got:\n%s", &out)
	}
	now = now.Add(view.CheckPatience)
	tell.take(list[:2])
	tell.tell(t.Context())
	tell.tell(t.Context())
	if said("Trouble: server-0") != 1 || said("Trouble: server-1") != 1 {
		t.Errorf("each is said once; got:\n%s", &out)
	}
	again := *list[0]
	again.ExitCode, again.Message = 2, `task "http": exited with code 2`
	tell.take([]*api.Trouble{&again})
	tell.tell(t.Context())
	if said("exited with code 2") != 1 {
		t.Errorf("what changes is said again; got:\n%s", &out)
	}
	out.Reset()
	if !tell.sumUp(t.Context(), list) || said("Problems") != 1 || said("- server-0") != 1 || said("- cache-0") != 1 {
		t.Errorf("the summary has them all; got:\n%s", &out)
	}
	if (&teller{}).sumUp(t.Context(), nil) {
		t.Error("nothing was wrong, and it is summed up")
	}
}
