// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// reclaim ends the tasks that a killed supervisor left behind. They have lost their parent:
// their exit codes can never be known, and their output is lost (a write to it ends them). So
// it ends them and reports them as lost. It keeps the exits that were observed.
func (s *supervisor) reclaim() {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	groups := s.tree.Groups()
	// A runtime that still works would add a process to a group that was emptied.
	slices.SortStableFunc(groups, func(a, b *cgroup.Group) int {
		return boolRank(strings.HasPrefix(b.Name(), startPrefix)) - boolRank(strings.HasPrefix(a.Name(), startPrefix))
	})
	for _, g := range groups {
		if err := g.Kill(ctx); err != nil {
			s.log.Error("cannot end an abandoned task", "error", err)
		}
		if err := g.Remove(); err != nil {
			s.log.Warn("cannot remove cgroup", "error", err)
		}
	}
	s.tree.RemoveOthers("")
	if err := os.RemoveAll(filepath.Join(s.dir, containersName)); err != nil {
		s.log.Warn("cannot remove the files of abandoned containers", "error", err)
	}
	if s.tree.Version == cgroup.None { // also processes without a record
		if err := killByWalk(ctx, markerOf(s.dir, ""), 0, 0); err != nil {
			s.log.Error("cannot end an abandoned task", "error", err)
		}
	}
	for id, r := range s.journal.live {
		t := &task{id: id, pid: r.PID, startTime: r.StartTime, startedAt: r.StartedAt, pidfd: -1, group: &cgroup.Group{}, exit: r.Exit, ended: make(chan struct{})}
		if t.exit == nil {
			if s.journal.started(r) {
				if err := killByWalk(ctx, markerOf(s.dir, id), r.PID, r.StartTime); err != nil {
					s.log.Error("cannot end an abandoned task", "error", err)
				}
			}
			t.exit = &ExitState{At: time.Now(), Lost: true}
		}
		close(t.ended)
		s.tasks[id] = t
	}
	for _, t := range s.tasks {
		s.journal.put(t.status())
	}
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
