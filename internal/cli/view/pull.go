// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Pulls adds up the pulls of images of several tasks.
type Pulls struct {
	Tasks       int
	Done, Total int64  // bytes
	First       string // name of the first task's allocation
}

// PullsOf adds up the pulls that take long enough for their progress to be known.
func PullsOf(list []*api.AllocationListStub) (p Pulls) {
	for _, a := range list {
		for _, s := range a.TaskStates {
			if done, total, ok := pullOf(s); ok {
				if p.Tasks++; p.Tasks == 1 || a.Name < p.First {
					p.First = a.Name
				}
				p.Done, p.Total = p.Done+done, p.Total+total
			}
		}
	}
	return p
}

// pullOf returns the progress in the last event of a task.
func pullOf(s *api.TaskState) (done, total int64, ok bool) {
	if s == nil || s.State != api.TaskStatePending || len(s.Events) == 0 {
		return 0, 0, false
	}
	e := s.Events[len(s.Events)-1]
	done, err := strconv.ParseInt(e.Details[api.DetailBytesDone], 10, 64)
	total, totalErr := strconv.ParseInt(e.Details[api.DetailBytesTotal], 10, 64)
	if e.Type != api.EventDriverMessage || err != nil || totalErr != nil || total <= 0 || total > 1<<44 {
		return 0, 0, false
	}
	return min(max(done, 0), total), total, true
}

// Words describes the pulls in a line.
func (p Pulls) Words() string {
	who := p.First
	if p.Tasks > 1 {
		who = fmt.Sprintf("%d tasks", p.Tasks)
	}
	return fmt.Sprintf("pulling images for %s: %.0f%%, %.1f of %.1f MB", who, 100*float64(p.Done)/float64(max(p.Total, 1)), float64(p.Done)/1e6, float64(p.Total)/1e6)
}

// Bar draws a part of a total.
func Bar(done, total int64, width int) string {
	full := 0
	if total > 0 {
		full = int(float64(width) * float64(min(max(done, 0), total)) / float64(total))
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
