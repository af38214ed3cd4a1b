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

// longestReason bounds the recorded reason of a crash, in bytes.
const longestReason = 1024

// A crash describes why a run of a task failed.
type crash struct {
	description string // completes the sentence after the task's name
	kind        api.TroubleKind
	code        int // exit code
	signal      int
}

// countCrash counts a crash of the task after it was healthy for the given time, unless the
// task is optional. A task that was healthy for crashResetAfter restarts the count at zero.
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
	why := fmt.Sprintf("task %q: %s", t.name, c.description)
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

// crashResetAfter returns how long the task must be healthy before its crashes are forgotten.
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

// unschedule clears the time of the task's next attempt: the attempt is being made, or will
// never be made.
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

// nextAttempt returns when the next crashed task is restarted, in Unix nanoseconds; 0 if
// none is.
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

// healthyFor returns how long the task's current run has been healthy.
func (t *task) healthyFor() time.Duration {
	if t.healthySince.IsZero() {
		return 0
	}
	return time.Since(t.healthySince)
}

// recordHealthyTasks records since when each task is healthy: its process runs, and its own
// liveness checks have passed.
func (r *Runner) recordHealthyTasks() {
	var open []*task
	for _, t := range r.tasks {
		if t.handle != nil && t.healthySince.IsZero() {
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
		if !waits[t] && !(waits[nil] && t.servesGroup()) {
			t.healthySince = time.Now()
			r.save()
		}
	}
}

// crashOf describes the exit of the task's process as a crash.
func (t *task) crashOf(x driver.Exit, ran time.Duration, taken string) crash {
	c := crash{description: t.describeCrash(x, ran), kind: api.TroubleExited, code: x.Code, signal: x.Signal}
	switch {
	case x.Err != nil:
		c.code, c.signal = 0, 0
	case x.OOMKilled:
		c.kind = api.TroubleOutOfMemory
	case taken != "":
		c.kind = api.TroublePortTaken
		c.description += "; " + taken
	case x.Signal != 0:
		c.kind = api.TroubleKilled
	}
	return c
}

// describeCrash describes why the task's process ended, and after how long.
func (t *task) describeCrash(x driver.Exit, ran time.Duration) string {
	after := " after " + formatRunTime(ran)
	if x.Background {
		after = " in the background" + after
	}
	switch {
	case errors.Is(x.Err, driver.ErrTaskLost), errors.Is(x.Err, driver.ErrTaskUnknown):
		return "its process ended, and its exit was not observed"
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

// formatRunTime formats the length of a run; shorter runs are formatted more precisely.
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

// memoryLimit returns the memory limit that the task's driver enforces, in MB; 0 if it
// enforces none.
func (t *task) memoryLimit() int64 {
	r := t.r
	dir := r.host.Dirs.Task(r.id, t.name)
	if d := r.host.Drivers[t.spec.Driver]; d == nil || d.View(dir) == dir { // a driver that does not isolate does not limit
		return 0
	}
	l := taskenv.Limits(r.alloc, t.spec)
	return cmp.Or(l.MemoryMaxMB, l.MemoryMB)
}

// failedStart describes the task's failure to start as a crash.
func (t *task) failedStart() crash {
	for i := len(t.state.Events) - 1; i >= 0; i-- {
		switch e := t.state.Events[i]; e.Type {
		case api.EventSetupFailure, api.EventDownloadFailed:
			return crash{description: e.DisplayMessage, kind: api.TroubleSetup}
		case api.EventDriverFailure:
			return crash{description: e.DisplayMessage, kind: api.TroubleStart}
		}
	}
	return crash{description: "it could not be started", kind: api.TroubleStart}
}
