// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/check"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// A probe is a check of the allocation, as its job defines it.
type probe struct {
	id      string
	key     string // stays the same when the definition changes
	check   *api.Check
	service string
	task    *task // the service's task, or the task that runs the script; nil for the group's services
	address string
}

// String names the check, for use in a sentence.
func (p probe) String() string {
	if p.service == "" {
		return fmt.Sprintf("monitor of task %q", p.task.name)
	}
	return fmt.Sprintf("check %q of service %q", p.check.Name, p.service)
}

// updateChecks starts the checks of running tasks and stops all others. The checks of a
// task's services start with the task, those of a group's services when all main tasks run.
//
// It reports whether it started a check that is already known to pass.
func (r *Runner) updateChecks() (passes bool) {
	if !r.hasChecks() && len(r.checks) == 0 {
		return false
	}
	wanted := map[string]bool{}
	if r.ending == nil && !r.delayed {
		for _, p := range r.probes() {
			if !r.canProbe(p) {
				continue
			}
			wanted[p.id] = true
			if _, begun := r.checks[p.id]; !begun {
				t := r.target(p)
				if r.checks[p.id] = t.Status; t.Status == "" {
					r.checks[p.id] = api.CheckStatusPending
				}
				r.probed[p.key] = p.id
				delete(r.previouslyPassing, p.id)
				passes = passes || t.Status == api.CheckStatusSuccess
				r.host.Checks.Add(r.id, t)
			}
		}
	}
	for id := range r.checks {
		if !wanted[id] {
			delete(r.checks, id)
			r.host.Checks.Remove(r.id, id)
		}
	}
	return passes
}

// removeChecks stops all checks.
func (r *Runner) removeChecks() {
	for id := range r.checks {
		delete(r.checks, id)
		r.host.Checks.Remove(r.id, id)
	}
}

func (r *Runner) hasChecks() bool {
	has := func(s *api.Service) bool { return len(s.Checks) > 0 }
	return slices.ContainsFunc(r.group.Services, has) || slices.ContainsFunc(r.group.Tasks, func(t *api.Task) bool {
		return t.Monitor != nil || slices.ContainsFunc(t.Services, has)
	})
}

// canProbe reports whether the tasks that answer the check are running.
func (r *Runner) canProbe(p probe) bool {
	if p.task != nil {
		return p.task.handle != nil && !p.task.signaled
	}
	running, away := 0, 0
	for _, t := range r.tasks {
		switch {
		case !t.servesGroup():
		case t.handle != nil && !t.signaled:
			running++
		case t.isAlone() && t.ran: // the others answer in the meantime
			away++
		default:
			return false
		}
	}
	return running > 0 || away == 0
}

// servesGroup reports whether the group's services depend on the task: it is a main task that
// is meant to run as long as they do.
func (t *task) servesGroup() bool {
	switch {
	case !t.spec.IsMain() || t.isIdle() || t.launchedAs(func(l *api.Launch) bool { return l.Alone }):
		return false
	case t.spec.Goal != "" && t.mustSucceed():
		return false
	}
	return t.stage != stageDead || !t.isAlone()
}

// probes returns the checks that the job defines.
func (r *Runner) probes() []probe {
	var all []probe
	add := func(services []*api.Service, spec *api.Task, owner *task) {
		if len(services) == 0 {
			return
		}
		env := r.checkEnv(spec)
		for _, s := range services {
			s := env.ReplaceService(s)
			for _, c := range s.Checks {
				p := probe{check: c, service: s.Name, task: owner, address: r.address(s, c, spec)}
				p.key = s.TaskName + "/" + s.Name + "/" + c.Name
				if c.TaskName != "" && r.task(c.TaskName) != nil {
					p.task = r.task(c.TaskName)
				}
				p.id = probeID(r.id, p, owner)
				all = append(all, p)
			}
		}
	}
	add(r.group.Services, nil, nil)
	for _, t := range r.tasks {
		add(t.spec.Services, t.spec, t)
		if m := t.spec.Monitor; m != nil {
			p := probe{key: "/" + t.name, task: t, check: r.checkEnv(t.spec).ReplaceMonitor(m)}
			p.id = probeID(r.id, p, t)
			all = append(all, p)
		}
	}
	return all
}

// checkEnv returns the environment that replaces variables in the checks of a task, or of
// the group if spec is nil.
func (r *Runner) checkEnv(spec *api.Task) *taskenv.Env {
	var dir driver.Dir
	if spec != nil {
		dir = r.host.Dirs.Task(r.id, spec.Name)
	}
	return r.host.env(r.alloc, r.group, spec, dir)
}

// judgedChecks returns the checks that health depends on: those of the tasks that are to run,
// and those of the group if all its main tasks are.
func (r *Runner) judgedChecks() []probe {
	if !r.hasChecks() {
		return nil
	}
	var judged []probe
	for _, p := range r.probes() {
		if p.check.OnUpdate != "ignore" && r.isExpected(p) {
			judged = append(judged, p)
		}
	}
	return judged
}

// isExpected reports whether the tasks that answer the check are to run.
func (r *Runner) isExpected(p probe) bool {
	is := func(t *task) bool {
		return !t.isIdle() && !t.isAwaited() && !t.isHeld() && (t.stage != stageDead || !t.isAlone() && !t.mustSucceed())
	}
	if p.task != nil {
		return is(p.task)
	}
	for _, t := range r.tasks {
		if t.servesGroup() && !is(t) {
			return false
		}
	}
	return true
}

// probeID returns an id that is a function of the check's definition.
func probeID(alloc string, p probe, owner *task) string {
	name := ""
	if owner != nil {
		name = owner.name
	}
	text, _ := json.Marshal([]any{alloc, name, p.service, p.address, p.check})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// address returns the address at which an http or tcp check reaches the service.
func (r *Runner) address(s *api.Service, c *api.Check, spec *api.Task) string {
	label := c.PortLabel
	if label == "" {
		label = s.PortLabel
	}
	mode := c.AddressMode
	if mode == "" && c.PortLabel == "" {
		mode = s.AddressMode
	}
	if address, port, ok := r.insideAddress(mode, label, spec); ok && s.Address == "" {
		return net.JoinHostPort(address, strconv.Itoa(port))
	}
	host, port := "", label
	for _, p := range taskenv.Ports(r.alloc, spec) {
		if p.Label == label {
			host, port = p.HostIP, strconv.Itoa(p.Value)
		}
	}
	if s.Address != "" {
		host = s.Address
	}
	switch host {
	case "":
		host = r.nodeAddress()
	case "0.0.0.0":
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func (r *Runner) target(p probe) *check.Target {
	t := &check.Target{
		ID: p.id, Check: p.check, Service: p.service, Group: r.alloc.Name, Address: p.address,
		Since: r.servedSince(p), Status: r.initialStatus(p), Changed: r.handleCheckStatus,
		Failed: func(id, status, why string) { r.handleUnhealthy(p, status, why) },
	}
	if r.updatingInPlace { // its initial delay starts now
		t.Since = time.Now().Add(-p.check.InitialDelay)
	}
	if p.check.Type != api.CheckScript {
		t.Diagnose = func(refused bool) (api.TroubleKind, string) { return r.diagnoseListener(p, refused) }
	}
	if p.task != nil {
		t.Task = p.task.name
		t.Exec = func(ctx context.Context, argv []string, out io.Writer) (int, error) {
			h := r.handleOf(p.task)
			if h == nil {
				return -1, errors.New("the task is not running")
			}
			code, err := h.Exec(ctx, driver.Exec{Argv: argv, Stdout: out, Stderr: out})
			if (err != nil || code == killedCode) && hasEnded(ctx, h) {
				return -1, check.ErrGone
			}
			return code, err
		}
	}
	return t
}

// killedCode is the exit code of a command that was killed by SIGKILL, as commands are when
// their task ends.
const killedCode = 137

// hasEnded reports whether a task whose command was killed has itself ended. Its exit arrives
// a moment after that of the command.
func hasEnded(ctx context.Context, h driver.Handle) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	h.Wait(ctx)
	return ctx.Err() == nil
}

func (r *Runner) handleOf(t *task) driver.Handle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.handle
}

// handleCheckStatus records the new status of a check and what follows from it.
func (r *Runner) handleCheckStatus(id, status string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.checks[id]; ok {
		r.checks[id] = status
		if r.hasOrderedTasks() { // a task may wait for this check
			r.advance()
			return
		}
		r.judgeHealth()
		r.updateServing()
	}
}

// handleUnhealthy restarts the task whose check exhausted its failure limit; for a check of
// the group's services without a task, all main tasks.
func (r *Runner) handleUnhealthy(p probe, status, why string) {
	kind := api.TroubleCheckFailed
	if f := r.host.Checks.Failure(r.id, p.id); f != nil {
		kind = f.Kind
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.checks[p.id]; !ok {
		return
	}
	r.checks[p.id] = status
	for _, t := range r.tasks {
		if t == p.task || (p.task == nil && t.servesGroup()) {
			if t.acceptsRequest() {
				t.addEvent(event(api.EventCheckUnhealthy, why))
				t.requestRestart(&request{Words: why, Brief: "Unhealthy", Counts: true, Kind: kind})
				r.host.Changed(r, true)
			}
		}
	}
	r.advance()
}

// initialStatus returns the known status of a check that starts; "" if it is unknown. A
// check that replaces another one in place inherits its status. A check that is added to a
// routable allocation, or starts for an adopted one, passes until its first probe, so that
// the allocation keeps its traffic.
func (r *Runner) initialStatus(p probe) string {
	if old := r.checks[r.probed[p.key]]; r.updatingInPlace && old != "" && old != api.CheckStatusPending {
		return old
	}
	serves := (r.updatingInPlace || r.adopted) && r.serving != nil && (r.serving.Routable || r.serving.Up && p.check.Kind == api.CheckKindLiveness)
	if p.check.InitialStatus == "passing" || r.previouslyPassing[p.id] || serves {
		return api.CheckStatusSuccess
	}
	return ""
}

// servedSince returns when the tasks that answer the check started.
func (r *Runner) servedSince(p probe) time.Time {
	var since time.Time
	for _, t := range r.tasks {
		if t == p.task || p.task == nil && t.servesGroup() {
			if at := t.state.StartedAt; at.After(since) {
				since = at
			}
		}
	}
	return since
}

// passingChecks returns the ids of the checks that pass. The next agent trusts them until its
// own first probes, so that its start does not divert traffic.
func (r *Runner) passingChecks() []string {
	var ids []string
	for id, status := range r.checks {
		if status == api.CheckStatusSuccess {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
