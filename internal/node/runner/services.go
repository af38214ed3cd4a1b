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

// probe is one check of the allocation as its job defines it.
type probe struct {
	id      string
	key     string // the same for whatever its definition becomes
	check   *api.Check
	service string
	task    *task // whose service it is, or in which the script runs; nil: the group's
	address string
}

// String names the check in a sentence.
func (p probe) String() string {
	if p.service == "" {
		return fmt.Sprintf("monitor of task %q", p.task.name)
	}
	return fmt.Sprintf("check %q of service %q", p.check.Name, p.service)
}

// watchServices begins the checks of what runs, and ends those of what does
// not. The checks of a task's services begin with the task, those of a group's
// services when all main tasks run.
//
// It reports whether a check began that is known to pass.
func (r *Runner) watchServices() (passes bool) {
	if !r.hasChecks() && len(r.checks) == 0 {
		return false
	}
	wanted := map[string]bool{}
	if r.ending == nil && !r.delayed {
		for _, p := range r.probes() {
			if !r.isServed(p) {
				continue
			}
			wanted[p.id] = true
			if _, begun := r.checks[p.id]; !begun {
				t := r.target(p)
				if r.checks[p.id] = t.Status; t.Status == "" {
					r.checks[p.id] = api.CheckStatusPending
				}
				r.probed[p.key] = p.id
				delete(r.passed, p.id)
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

// dropChecks ends all checks.
func (r *Runner) dropChecks() {
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

// isServed reports whether what the check asks is there to answer.
func (r *Runner) isServed(p probe) bool {
	if p.task != nil {
		return p.task.handle != nil && !p.task.signaled
	}
	running, away := 0, 0
	for _, t := range r.tasks {
		switch {
		case !t.serves():
		case t.handle != nil && !t.signaled:
			running++
		case t.isAlone() && t.ran: // the others answer meanwhile
			away++
		default:
			return false
		}
	}
	return running > 0 || away == 0
}

// serves reports whether the group's services need the task: it is one of the
// main ones, and is meant to run as long as they do.
func (t *task) serves() bool {
	switch {
	case !t.spec.IsMain() || t.isIdle() || t.launchedAs(func(l *api.Launch) bool { return l.Alone }):
		return false
	case t.spec.Goal != "" && t.mustSucceed():
		return false
	}
	return t.stage != stageDead || !t.isAlone()
}

// probes lists the checks that the job defines.
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

// checkEnv is what replaces variables in the checks of a task, or of the group.
func (r *Runner) checkEnv(spec *api.Task) *taskenv.Env {
	var dir driver.Dir
	if spec != nil {
		dir = r.host.Dirs.Task(r.id, spec.Name)
	}
	return r.host.env(r.alloc, r.group, spec, dir)
}

// judgedChecks lists the checks that health depends on: those of the tasks that
// are to run, and the group's when all of these are.
func (r *Runner) judgedChecks() []probe {
	if !r.hasChecks() {
		return nil
	}
	var judged []probe
	for _, p := range r.probes() {
		if p.check.OnUpdate != "ignore" && r.isAsked(p) {
			judged = append(judged, p)
		}
	}
	return judged
}

// isAsked reports whether what the check asks is to be there.
func (r *Runner) isAsked(p probe) bool {
	is := func(t *task) bool {
		return !t.isIdle() && !t.isAwaited() && !t.isHeld() && (t.stage != stageDead || !t.isAlone() && !t.mustSucceed())
	}
	if p.task != nil {
		return is(p.task)
	}
	for _, t := range r.tasks {
		if t.serves() && !is(t) {
			return false
		}
	}
	return true
}

// probeID is the same for the same definition, and changes with it.
func probeID(alloc string, p probe, owner *task) string {
	name := ""
	if owner != nil {
		name = owner.name
	}
	text, _ := json.Marshal([]any{alloc, name, p.service, p.address, p.check})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// address is where an http or tcp check finds the service.
func (r *Runner) address(s *api.Service, c *api.Check, spec *api.Task) string {
	label := c.PortLabel
	if label == "" {
		label = s.PortLabel
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
		Since: r.servedSince(p), Status: r.initialStatus(p), Changed: r.checked,
		Failed: func(id, status, why string) { r.unhealthy(p, status, why) },
	}
	if r.renewed { // it has its time from now
		t.Since = time.Now().Add(-p.check.InitialDelay)
	}
	if p.check.Type != api.CheckScript {
		t.Diagnose = func(refused bool) (api.TroubleKind, string) { return r.whoListens(p, refused) }
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

// killedCode is the exit code of what was ended by force, as commands are whose
// task ends.
const killedCode = 137

// hasEnded reports whether a task that ended its commands has itself ended: that
// is told a moment later.
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

// checked takes a check's new status into account.
func (r *Runner) checked(id, status string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.checks[id]; ok {
		r.checks[id] = status
		if r.isOrdered() { // a task may wait for that
			r.advance()
			return
		}
		r.judgeHealth()
		r.serve()
	}
}

// unhealthy restarts the task that a check says is to be; for a group's service
// without a task, all main tasks.
func (r *Runner) unhealthy(p probe, status, why string) {
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
		if t == p.task || (p.task == nil && t.serves()) {
			if t.canBeAsked() {
				t.tell(event(api.EventCheckUnhealthy, why))
				t.ask(&request{Words: why, Brief: "Unhealthy", Counts: true, Kind: kind})
				r.host.Changed(r, true)
			}
		}
	}
	r.advance()
}

// initialStatus is what is known of a check that begins; "" is nothing. A check that
// replaces another one in place stands as that does. One that joins what serves, or
// begins anew with what was adopted, takes nothing away before it has asked.
func (r *Runner) initialStatus(p probe) string {
	if old := r.checks[r.probed[p.key]]; r.renewed && old != "" && old != api.CheckStatusPending {
		return old
	}
	serves := (r.renewed || r.adopted) && r.serving != nil && (r.serving.Routable || r.serving.Up && p.check.Kind == api.CheckKindLiveness)
	if p.check.InitialStatus == "passing" || r.passed[p.id] || serves {
		return api.CheckStatusSuccess
	}
	return ""
}

// servedSince is when what the check asks began to run.
func (r *Runner) servedSince(p probe) time.Time {
	var since time.Time
	for _, t := range r.tasks {
		if t == p.task || p.task == nil && t.serves() {
			if at := t.state.StartedAt; at.After(since) {
				since = at
			}
		}
	}
	return since
}

// passing lists the checks that pass, so that a new agent need not take
// traffic away from what serves until it has asked for itself.
func (r *Runner) passing() []string {
	var ids []string
	for id, status := range r.checks {
		if status == api.CheckStatusSuccess {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
