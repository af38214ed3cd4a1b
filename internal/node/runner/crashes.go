// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// longestReason is how much of a crash's reason is kept.
const longestReason = 1024

// A crash is why a run of a task failed.
type crash struct {
	words  string // as the reason begins after the task's name
	kind   api.TroubleKind
	code   int // exit code
	signal int
}

// countCrash counts a crash of the task, unless its failure does not count, which had been well for that long. What
// was well for long enough begins to count anew.
func (t *task) countCrash(c crash, well time.Duration) {
	r := t.r
	if t.isOptional() {
		return
	}
	now := api.Crashes{}
	if r.crashes != nil {
		now = *r.crashes
	}
	if reset := t.crashResetAfter(); reset > 0 && well >= reset {
		now.Count = 0
	}
	why := fmt.Sprintf("task %q: %s", t.name, c.words)
	if len(why) > longestReason {
		why = strings.ToValidUTF8(why[:longestReason], "") + " (truncated)"
	}
	now.Count++
	now.Total++
	now.Reason, now.At = why, time.Now().UnixNano()
	now.Kind, now.Task, now.ExitCode, now.Signal = c.kind, t.name, c.code, c.signal
	now.Next = r.nextAttempt()
	r.crashes = &now
	r.markModified()
}

// crashResetAfter is how long the task must be well for its crashes to be forgotten.
func (t *task) crashResetAfter() time.Duration {
	p := t.spec.Restart
	switch {
	case p == nil:
		return 0
	case p.ResetAfter != nil:
		return *p.ResetAfter
	}
	return value(p.Interval)
}

// unschedule notes that no further attempt is waited for: it is made, or never will
// be.
func (t *task) unschedule() {
	r := t.r
	t.policy.Next = time.Time{}
	if r.crashes == nil {
		return
	}
	if next := r.nextAttempt(); next != r.crashes.Next {
		now := *r.crashes
		now.Next = next
		r.crashes = &now
	}
}

// nextAttempt is when the next task that crashed is started again; 0 if none is.
func (r *Runner) nextAttempt() int64 {
	var first int64
	for _, t := range r.tasks {
		if t.policy.Next.IsZero() || t.isOptional() {
			continue
		}
		if at := t.policy.Next.UnixNano(); first == 0 || at < first {
			first = at
		}
	}
	return first
}

// healthyFor is how long the task's run had been well.
func (t *task) healthyFor() time.Duration {
	if t.well.IsZero() {
		return 0
	}
	return time.Since(t.well)
}

// recordHealthyTasks notes which tasks have come to be well: their processes run, and
// their own liveness checks have passed.
func (r *Runner) recordHealthyTasks() {
	var open []*task
	for _, t := range r.tasks {
		if t.handle != nil && t.well.IsZero() {
			open = append(open, t)
		}
	}
	if len(open) == 0 {
		return
	}
	waits := map[*task]bool{}
	if r.hasChecks() {
		for _, p := range r.probes() {
			if p.check.Kind == api.CheckKindLiveness && r.checks[p.id] != api.CheckStatusSuccess {
				waits[p.task] = true
			}
		}
	}
	for _, t := range open {
		if !waits[t] && !(waits[nil] && t.serves()) {
			t.well = time.Now()
			r.save()
		}
	}
}

// crashOf is the crash that the end of the task's process is.
func (t *task) crashOf(x driver.Exit, ran time.Duration, taken string) crash {
	c := crash{words: t.crashWords(x, ran), kind: api.TroubleExited, code: x.Code, signal: x.Signal}
	switch {
	case x.Err != nil:
		c.code, c.signal = 0, 0
	case x.OOMKilled:
		c.kind = api.TroubleOutOfMemory
	case taken != "":
		c.kind = api.TroublePortTaken
		c.words += "; " + taken
	case x.Signal != 0:
		c.kind = api.TroubleKilled
	}
	return c
}

// crashWords tells why the task's process ended, and after how long.
func (t *task) crashWords(x driver.Exit, ran time.Duration) string {
	after := " after " + formatRunTime(ran)
	if x.Background {
		after = " in the background" + after
	}
	switch {
	case errors.Is(x.Err, driver.ErrTaskLost), errors.Is(x.Err, driver.ErrTaskUnknown):
		return "its process is gone, and nobody saw how it ended"
	case x.Err != nil:
		return x.Err.Error()
	case x.OOMKilled:
		limit := ""
		if mb := t.memoryLimit(); mb > 0 {
			limit = fmt.Sprintf(" of %d MB", mb)
		}
		return fmt.Sprintf("out of memory%s: killed by the kernel (exit code %d)%s", limit, x.Code, after)
	case x.Signal != 0:
		return fmt.Sprintf("ended by signal %d (%s)%s", x.Signal, unix.SignalName(unix.Signal(x.Signal)), after)
	case x.Code == 0:
		return "exited with code 0" + after + ", although it is to keep running"
	}
	return fmt.Sprintf("exited with code %d%s", x.Code, after)
}

// formatRunTime shows how long a run was: the shorter, the more exactly.
func formatRunTime(d time.Duration) string {
	unit := time.Second
	switch {
	case d < time.Second:
		unit = time.Millisecond
	case d < time.Minute:
		unit = 100 * time.Millisecond
	}
	return formatDelay(max(0, d).Round(unit))
}

// memoryLimit is how much its driver lets the task use, in MB; 0 is as much as
// there is.
func (t *task) memoryLimit() int64 {
	r := t.r
	dir := r.host.Dirs.Task(r.id, t.name)
	if d := r.host.Drivers[t.spec.Driver]; d == nil || d.View(dir) == dir { // what it does not isolate, it does not limit
		return 0
	}
	l := taskenv.Limits(r.alloc, t.spec)
	return cmp.Or(l.MemoryMaxMB, l.MemoryMB)
}

// failedStart is the crash that it is that the task could not be started.
func (t *task) failedStart() crash {
	for i := len(t.state.Events) - 1; i >= 0; i-- {
		switch e := t.state.Events[i]; e.Type {
		case api.EventSetupFailure:
			return crash{words: e.DisplayMessage, kind: api.TroubleSetup}
		case api.EventDriverFailure:
			return crash{words: e.DisplayMessage, kind: api.TroubleStart}
		}
	}
	return crash{words: "it could not be started", kind: api.TroubleStart}
}
