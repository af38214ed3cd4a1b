// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/templates"
)

// Defaults of templates.
const (
	defaultScriptTimeout = 5 * time.Second
	templateRetry        = 10 * time.Second // after an error that is not due to values
)

// A keeper follows the templates of one run.
type keeper struct {
	t     *task
	alloc *api.Allocation
	spec  *api.Task
	watch *templates.Watch
	scope templates.Scope
	owner allocdir.Owner
	h     driver.Handle
	said  string // the last event about what a template waits for
}

// keepTemplates renders the templates of a run again when values change, until stop is called.
func (t *task) keepTemplates(ctx context.Context, h driver.Handle) (stop func()) {
	r := t.r
	r.mu.Lock()
	alloc, group, spec := r.alloc, r.group, t.spec
	r.mu.Unlock()
	if len(spec.Templates) == 0 || r.host.Templates == nil {
		return func() {}
	}
	owner, err := t.secretsOwner(alloc, spec)
	if err != nil { // the task runs, so its user existed
		return func() {}
	}
	env := r.host.env(alloc, group, spec, r.host.Dirs.Task(alloc.ID, spec.Name))
	k := &keeper{t: t, alloc: alloc, spec: spec, watch: t.openWatch(), scope: t.scope(alloc, spec, env), owner: owner, h: h}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// watched returns the templates that follow their values.
func watched(s *api.Task) (all []*api.Template) {
	for _, t := range s.Templates {
		if !t.Once {
			all = append(all, t)
		}
	}
	return all
}

func (k *keeper) run(ctx context.Context) {
	k.repay(ctx)
	all := watched(k.spec)
	if len(all) == 0 {
		return
	}
	for ctx.Err() == nil {
		changed, again := k.look(all)
		if len(changed) > 0 {
			k.follow(ctx, all)
			continue
		}
		var retry <-chan time.Time
		var timer *time.Timer
		if again {
			timer = time.NewTimer(templateRetry)
			retry = timer.C
		}
		select {
		case <-k.watch.Changed():
		case <-retry:
		case <-ctx.Done():
		}
		if timer != nil {
			timer.Stop()
		}
	}
}

// look renders the templates, and returns the results that differ from the record, except for those whose difference
// waits for a rolling restart already. A template that waits keeps its last rendering. again reports whether one failed
// although its values are known.
func (k *keeper) look(all []*api.Template) (changed []*templates.Result, again bool) {
	results := templates.Render(k.watch, k.scope, all)
	words := ""
	k.t.r.mu.Lock()
	defer k.t.r.mu.Unlock()
	for _, r := range results {
		switch {
		case r.Err != nil:
			words, again = fmt.Sprintf("Template %q keeps its last rendering: %v", r.DestPath, r.Err), r.SourcePath != ""
		case r.Waiting != "" && !isBeingRead(r.Waiting):
			words = fmt.Sprintf("Template %q keeps its last rendering, and waits for %s", r.DestPath, r.Waiting)
		case r.Content != nil && r.IsChange(k.t.templates.Renderings[r.DestPath]) && !k.t.isPending(r):
			changed = append(changed, r)
		}
		k.t.dropPending(r)
	}
	if words == "" {
		if err := k.watch.Away(); err != nil {
			words = "Templates keep their last rendering: the servers do not answer"
		}
	}
	before := k.t.state
	k.t.showTemplates(results)
	if words != k.said && words != "" {
		k.t.addEvent(event(api.EventTemplate, api.Printable(words, 1000)))
	}
	k.said = words
	if k.t.state != before {
		k.t.r.host.Changed(k.t.r, true)
	}
	return changed, again
}

// follow waits until the values are stable, writes the changed files, and tells the task.
func (k *keeper) follow(ctx context.Context, all []*api.Template) {
	changed := k.settle(ctx, all)
	if ctx.Err() != nil {
		return
	}
	if changed = k.t.notePending(changed); len(changed) == 0 {
		return
	}
	_, err := variablesOf(changed) // the next run reads them
	if err == nil {
		err = k.t.writeTemplates(k.alloc, k.spec, changed, k.owner)
	}
	if err != nil {
		k.t.sayTemplate("Cannot follow a change: " + err.Error())
		sleepFor(ctx, templateRetry)
		return
	}
	mode := templates.Strongest(changed)
	if mode != api.TemplateNoop && !sleepFor(ctx, k.splay(changed)) {
		return // nothing is recorded: the next agent finds the change again
	}
	k.commit(changed, mode)
	k.repay(ctx)
}

// settle returns the changed results once no value has changed for the longest min of them, or their shortest max has
// passed.
func (k *keeper) settle(ctx context.Context, all []*api.Template) []*templates.Result {
	begun := time.Now()
	for {
		changed, _ := k.look(all)
		var least, most time.Duration
		for _, r := range changed {
			if r.Wait == nil || r.Wait.Min == nil || *r.Wait.Min <= 0 {
				continue
			}
			least = max(least, *r.Wait.Min)
			bound := 4 * *r.Wait.Min
			if r.Wait.Max != nil {
				bound = *r.Wait.Max
			}
			if most == 0 || bound < most {
				most = bound
			}
		}
		left := min(least, most-time.Since(begun))
		if left <= 0 || len(changed) == 0 {
			return changed
		}
		timer := time.NewTimer(left)
		select {
		case <-k.watch.Changed():
			timer.Stop()
			continue
		case <-timer.C:
			return changed
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// splay returns the time by which the task's action is delayed, so that the instances of a group do not follow
// a change at the same moment. It is random, and the same for one instance and one change.
func (k *keeper) splay(changed []*templates.Result) time.Duration {
	var most time.Duration
	h := fnv.New64a()
	h.Write([]byte(k.alloc.ID + "/" + k.spec.Name))
	for _, r := range changed {
		if r.Splay != nil {
			most = max(most, *r.Splay)
		}
		h.Write(r.Inputs)
	}
	if most <= 0 {
		return 0
	}
	return time.Duration(rand.New(rand.NewPCG(h.Sum64(), 1)).Int64N(int64(most) + 1))
}

// commit records the renderings together with what follows them, so that exactly one restart, and at least one signal or
// script, follows a change, whenever the agent ends.
func (k *keeper) commit(changed []*templates.Result, mode string) {
	t := k.t
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	t.recordRenderings(changed)
	names := ""
	for _, c := range changed {
		if names != "" {
			names += ", "
		}
		names += c.DestPath
	}
	words := "Values of its templates changed: " + names
	switch mode {
	case api.TemplateRestart:
		if t.requestRestart(&request{Words: words}) {
			t.addEvent(event(api.EventRestartSignaled, words))
		}
		r.advance()
	case api.TemplateSignal, api.TemplateScript:
		t.templates.Owed = mode
	default:
		t.addEvent(event(api.EventTemplate, words))
	}
	r.save()
	r.host.Changed(r, true)
}

// repay does what the record owes: the signals, or otherwise the scripts, of the changed templates.
func (k *keeper) repay(ctx context.Context) {
	t := k.t
	t.r.mu.Lock()
	owed, first := t.templates.Owed, t.firstRun
	t.firstRun = false
	t.r.mu.Unlock()
	if owed == "" && !first {
		return
	}
	var done []string
	for _, spec := range k.spec.Templates {
		var key string
		var err error
		switch {
		case owed == api.TemplateSignal && spec.ChangeMode == owed:
			if key = spec.ChangeSignal; slices.Contains(done, key) {
				continue
			}
			err = k.h.Signal(ctx, key)
			k.saySignal(key, err)
		case spec.ChangeMode == api.TemplateScript && (owed == api.TemplateScript || first && spec.ChangeScript.RunOnFirstRender):
			k.runScript(ctx, spec.ChangeScript)
		}
		if key != "" {
			done = append(done, key)
		}
	}
	if ctx.Err() != nil || owed == "" {
		return
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.templates.Owed = ""
	t.r.save()
}

func (k *keeper) saySignal(signal string, err error) {
	t := k.t
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	e := event(api.EventSignaling, "Sent "+signal+": values of its templates changed")
	if err != nil {
		e = event(api.EventTemplate, fmt.Sprintf("Values of its templates changed, and signal %s failed: %v", signal, err))
	}
	e.TaskSignal, e.TaskSignalReason = signal, "values of its templates changed"
	t.addEvent(e)
	t.r.host.Changed(t.r, true)
}

// runScript runs a change script beside the task.
func (k *keeper) runScript(ctx context.Context, s *api.ChangeScript) {
	timeout := defaultScriptTimeout
	if s.Timeout != nil {
		timeout = *s.Timeout
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	env := k.t.r.host.env(k.alloc, k.t.r.group, k.spec, k.t.r.host.Dirs.Task(k.alloc.ID, k.spec.Name))
	argv := []string{env.Replace(s.Command)}
	for _, arg := range s.Args {
		argv = append(argv, env.Replace(arg))
	}
	code, err := k.h.Exec(bounded, driver.Exec{Argv: argv, Stdout: discard{}, Stderr: discard{}})
	switch {
	case ctx.Err() != nil:
		return
	case bounded.Err() != nil:
		err = fmt.Errorf("it took longer than %s", timeout)
	case err == nil && code != 0:
		err = fmt.Errorf("it ended with code %d", code)
	}
	if err == nil {
		k.t.sayTemplate(fmt.Sprintf("Ran the change script %s", s.Command))
		return
	}
	words := fmt.Sprintf("The change script %s failed: %v", s.Command, err)
	k.t.sayTemplate(words)
	if !s.FailOnError {
		return
	}
	r := k.t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.t.requestRestart(&request{Words: words, Counts: true}) {
		r.advance()
		r.save()
		r.host.Changed(r, true)
	}
}

// discard drops the output of scripts, which may contain secrets.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func sleepFor(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
