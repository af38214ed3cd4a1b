// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// TestPullsAreLinesWithoutATerminal reports each second: without a terminal, a line appears every five seconds.
func TestPullsAreLinesWithoutATerminal(t *testing.T) {
	now := clitest.Now
	var out bytes.Buffer
	m := &monitor{c: &cli{Process: Process{Now: func() time.Time { return now }}}, out: term.NewLive(&out)}
	for second := range 12 {
		m.sayPulls([]*api.AllocationListStub{{
			Name: "web.server[0]", JobVersion: 3, DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
			TaskStates: map[string]*api.TaskState{"http": {State: api.TaskStatePending, Events: []*api.TaskEvent{{
				Type: api.EventDriverMessage, Details: map[string]string{api.DetailBytesDone: fmt.Sprint(second * 1e6), api.DetailBytesTotal: "20000000"},
			}}}},
		}}, 3)
		now = now.Add(time.Second)
	}
	if want := "[###########.........] pulling images for web.server[0]: 55%, 11.0 of 20.0 MB"; m.pulls.line != want {
		t.Errorf("the bar is %q, want %q", m.pulls.line, want)
	}
	m.sayPulls(nil, 3) // another update
	if m.pulls.line == "" {
		t.Error("an update without allocations ended the bar")
	}
	m.sayPulls([]*api.AllocationListStub{}, 3)
	if m.pulls.line != "" {
		t.Errorf("without a pull, the bar is %q", m.pulls.line)
	}
	if got := strings.TrimSpace(out.String()); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, "pulling images for web.server[0]: 0%, 0.0 of 20.0 MB\n") || !strings.HasSuffix(got, ": 50%, 10.0 of 20.0 MB") {
		t.Errorf("the lines are\n%s", got)
	}
}
