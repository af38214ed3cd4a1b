// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// pullPause is the shortest time between two lines about pulls. A terminal has a bar instead.
const pullPause = 5 * time.Second

// A pullReport is what the monitor shows of the pulls of images.
type pullReport struct {
	line string // with a bar; "": no pull takes long
	said string // the last line without a bar
	at   time.Time
}

// sayPulls reports how far the images of a version's new allocations are.
func (m *monitor) sayPulls(list []*api.AllocationListStub, version uint64) {
	if list == nil {
		return
	}
	var current []*api.AllocationListStub
	for _, a := range list {
		if a.JobVersion == version && a.DesiredStatus == api.AllocDesiredRun && a.ClientStatus == api.AllocClientPending {
			current = append(current, a)
		}
	}
	p := view.PullsOf(current)
	if p.Tasks == 0 {
		m.pulls.line = ""
		return
	}
	words := p.Words()
	m.pulls.line = fmt.Sprintf("%s %s", view.Bar(p.Done, p.Total, 20), words)
	if now := m.c.Now(); !m.out.IsTerminal() && words != m.pulls.said && now.Sub(m.pulls.at) >= pullPause {
		m.pulls.said, m.pulls.at = words, now
		m.out.Say("  %s", words)
	}
}

// show redraws the status of a terminal.
func (m *monitor) show(progress string) {
	var parts []string
	for _, part := range []string{progress, m.pulls.line} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		m.out.Done()
		return
	}
	line := fmt.Sprintf("%s (%s)", strings.Join(parts, "; "), human.Duration(m.c.Now().Sub(m.started)))
	m.out.Show("%s", term.Cut(line, m.out.Width()))
}
