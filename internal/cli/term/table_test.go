// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/cli/clitest"
)

func TestTablesFitTheTerminal(t *testing.T) {
	rows := [][]string{
		{"3f2a8b1c", "a-job-with-a-long-name.and-a-long-group[17]", "rack-1", "running", "the driver could not start the task: no such file or directory"},
		{"3f2a8b1c", "web.server[0]", "rack-2", "running", "-"},
	}
	heading := []string{"ID", "Name", "Node", "Status", "Why"}
	for _, width := range []int{60, 80, 100} {
		p := &Page{Width: width}
		p.Table(heading, rows)
		lines := strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")
		for _, line := range lines {
			if VisibleWidth(line) > width {
				t.Errorf("at %d columns a line has %d: %q", width, VisibleWidth(line), line)
			}
		}
		if !strings.Contains(lines[1], "3f2a8b1c") || !strings.HasSuffix(lines[1], "…") || !strings.Contains(lines[1], "running") {
			t.Errorf("at %d columns: %q, want ids and statuses whole, and an ellipsis where text is clipped", width, lines[1])
		}
	}
	p := &Page{} // no terminal
	p.Table(heading, rows)
	if !strings.Contains(p.String(), rows[0][1]) || !strings.Contains(p.String(), rows[0][4]) {
		t.Errorf("what goes into a pipe is clipped:\n%s", p)
	}
	p = &Page{Width: 20}
	p.Table([]string{"ID", "Why"}, [][]string{{clitest.AllocID, "whole ids stay whole"}})
	if !strings.Contains(p.String(), clitest.AllocID) {
		t.Errorf("a whole id is clipped:\n%s", p)
	}
}

func TestNarrowTablesLeaveColumnsOut(t *testing.T) {
	p := &Page{Width: 24}
	p.TableLess([]string{"ID", "Created", "Status", "Version"}, [][]string{{"3f2a8b1c", "2m ago", "running", "3"}}, "Created", "Version")
	if want := "ID        Status\n3f2a8b1c  running\n"; p.String() != want {
		t.Errorf("got:\n%swant:\n%s", p, want)
	}
}
