// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/taskenv"
	"github.com/reeve-run/reeve/internal/node/warm"
)

// A warmUp sends the requests of the stack's warm block to the instance. There is one for
// each set of processes: a task that starts again is cold.
type warmUp struct {
	of       string // the processes, as warmedTasks names them
	progress api.WarmProgress
	cancel   context.CancelFunc // nil for one that an earlier agent ended
}

func (w *warmUp) stop() {
	if w != nil && w.cancel != nil {
		w.cancel()
	}
}

// describe describes the progress of a warm-up; it may be nil.
func (w *warmUp) describe() string {
	if w == nil {
		return "warming: has not begun"
	}
	return w.progress.String()
}

// warmTarget returns what the instance receives before it is ready; it has no requests if the
// stack asks for none, or callers use the port of another group.
func (r *Runner) warmTarget() (t warm.Target) {
	j := r.alloc.Job
	if j == nil || j.Stack == nil || j.Stack.Warm == nil {
		return t
	}
	group, label, ok := j.StackPort()
	if !ok || group != r.group.Name {
		return t
	}
	for _, p := range taskenv.Ports(r.alloc, nil) {
		if p.Label == label {
			host := p.HostIP
			if host == "" || host == "0.0.0.0" {
				host = r.nodeAddress()
			}
			t.Address = net.JoinHostPort(host, strconv.Itoa(p.Value))
		}
	}
	if t.Address == "" {
		return t
	}
	for _, w := range j.Stack.Warm.HTTP {
		if w != nil && w.Requests > 0 && w.Over > 0 {
			t.Requests = append(t.Requests, warm.Requests{Path: w.Path, Count: w.PerInstance(value(r.group.Count)), Over: w.Over})
		}
	}
	return t
}

// isWarmed reports whether the running processes need no warm-up, or have had it.
func (r *Runner) isWarmed() bool {
	if r.warm != nil && r.warm.of == r.warmedTasks() {
		return r.warm.progress.Done
	}
	return len(r.warmTarget().Requests) == 0
}

// warmedTasks names the runs of the tasks that a warm-up is for.
func (r *Runner) warmedTasks() string {
	var runs []string
	for _, t := range r.tasks {
		if t.servesGroup() {
			runs = append(runs, t.name+"/"+strconv.Itoa(t.run))
		}
	}
	return strings.Join(runs, " ")
}

// updateWarmUp starts the warm-up of an instance whose tasks run, and stops one whose tasks
// have ended. It returns the progress; nil without a warm-up.
func (r *Runner) updateWarmUp(tasksRun bool) *api.WarmProgress {
	of := r.warmedTasks()
	if r.warm != nil && (r.warm.of != of || r.ending != nil) {
		r.warm.stop()
		r.warm = nil
	}
	if r.warm == nil && tasksRun && r.ending == nil && !r.delayed {
		if t := r.warmTarget(); len(t.Requests) > 0 {
			r.startWarmUp(of, t)
		}
	}
	if r.warm == nil {
		return nil
	}
	progress := r.warm.progress
	return &progress
}

func (r *Runner) startWarmUp(of string, t warm.Target) {
	ctx, cancel := context.WithCancel(r.ctx)
	w := &warmUp{of: of, cancel: cancel}
	var paths []string
	for _, q := range t.Requests {
		w.progress.Total += q.Count
		paths = append(paths, fmt.Sprintf("%d requests to %s over %s", q.Count, q.Path, formatDelay(q.Over)))
	}
	r.warm = w
	r.addWarmEvent(api.EventWarming, "Sending "+strings.Join(paths, ", "))
	begin := time.Now()
	t.Dial = r.host.Dial
	r.loops.Go(func() {
		defer cancel()
		end := warm.Run(ctx, t, func(p api.WarmProgress) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.warm == w {
				w.progress = p
				r.updateServing()
			}
		})
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.warm != w || r.ctx.Err() != nil {
			return
		}
		w.progress = end
		words := fmt.Sprintf("%d requests in %s", end.Sent, formatDelay(time.Since(begin).Round(time.Millisecond)))
		if end.Failed > 0 {
			words += fmt.Sprintf(", %d failed, the last: %s", end.Failed, end.Failure)
		}
		r.addWarmEvent(api.EventWarmed, words)
		r.advance()
		r.save()
	})
}

func (r *Runner) addWarmEvent(kind, words string) {
	for _, t := range r.tasks {
		if t.servesGroup() {
			t.addEvent(event(kind, words))
		}
	}
}
