// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/taskenv"
	"github.com/reeve-run/reeve/internal/node/templates"
	"github.com/reeve-run/reeve/internal/template"
)

// maxSource is the largest file that a template is read from, or includes, in bytes.
const maxSource = 1 << 20

// A templateRecord is what the ledger holds of a task's templates.
type templateRecord struct {
	Renderings map[string]*templates.Rendering `json:",omitempty"` // by destination; replaced, never changed in place
	// Owed is the signal or script that is still to follow a change that is recorded.
	Owed string `json:",omitempty"`
	// Pending identifies, by destination, the values of newer renderings that wait for a rolling restart. It is replaced,
	// never changed in place.
	Pending map[string]string `json:",omitempty"`
}

// scope returns what the templates of a run read.
func (t *task) scope(a *api.Allocation, s *api.Task, env *taskenv.Env) templates.Scope {
	dirs := t.r.host.Dirs
	return templates.Scope{
		Namespace: a.Namespace, JobID: a.JobID, Env: env.Lookup,
		Read: func(file string) ([]byte, error) { return dirs.ReadTemplate(a.ID, s.Name, file, maxSource) },
	}
}

// openWatch returns the watch of the task's templates. It lasts from the first run to the last one.
func (t *task) openWatch() *templates.Watch {
	if t.watch == nil {
		t.watch = t.r.host.Templates.Open(t.r.id, t.name)
	}
	return t.watch
}

func (t *task) closeWatch() {
	if t.watch != nil {
		t.watch.Close()
		t.watch = nil
	}
}

// renderAll renders the task's templates before a run, and waits for values that are missing. It returns the
// variables of those with env = true.
func (t *task) renderAll(ctx context.Context, a *api.Allocation, s *api.Task, env *taskenv.Env, owner allocdir.Owner) (map[string]string, error) {
	if len(s.Templates) == 0 {
		return nil, nil
	}
	if t.r.host.Templates == nil {
		return nil, errors.New("this node cannot render templates")
	}
	w, scope := t.openWatch(), t.scope(a, s, env)
	for last := ""; ; {
		results := templates.Render(w, scope, s.Templates)
		waiting, err := problemsOf(results)
		if err != nil {
			return nil, err
		}
		if waiting == "" || w.Away() != nil && t.takeLast(a, s, results) {
			return t.presentTemplates(a, s, results, owner)
		}
		t.noteWaiting(results)
		if waiting != last && !isBeingRead(waiting) {
			t.sayTemplate("Waiting for " + waiting)
			last = waiting
		}
		select {
		case <-w.Changed():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// presentTemplates writes the files of a first rendering, and records it durably.
func (t *task) presentTemplates(a *api.Allocation, s *api.Task, results []*templates.Result, owner allocdir.Owner) (map[string]string, error) {
	vars, err := variablesOf(results)
	if err != nil {
		return nil, err
	}
	if err := t.writeTemplates(a, s, results, owner); err != nil {
		return nil, err
	}
	t.own = func(uid, gid int) error {
		return t.writeTemplates(a, s, results, allocdir.Owner{}.WithIDs(uid, gid))
	}
	r := t.r
	r.mu.Lock()
	t.firstRun = len(t.templates.Renderings) == 0
	changed := t.recordRenderings(results)
	saved := r.save()
	r.mu.Unlock()
	if changed {
		return vars, saved.Wait()
	}
	return vars, nil
}

// problemsOf returns the first thing that results wait for, or their first error.
func problemsOf(results []*templates.Result) (waiting string, err error) {
	for _, r := range results {
		if r.Err != nil {
			return "", fmt.Errorf("template %q: %w", r.DestPath, r.Err)
		}
		if waiting == "" && r.Waiting != "" {
			waiting = r.Waiting
		}
	}
	return waiting, nil
}

// isBeingRead reports whether a template waits only for an answer of the servers.
func isBeingRead(waiting string) bool { return strings.HasSuffix(waiting, templates.BeingRead) }

// variablesOf returns the environment variables of the results with env = true.
func variablesOf(results []*templates.Result) (map[string]string, error) {
	vars := map[string]string{}
	for _, r := range results {
		if !r.Envvars {
			continue
		}
		some, err := template.ParseEnv(r.Content)
		if err != nil {
			return nil, fmt.Errorf("template %q: its result is not a file of environment variables: %w", r.DestPath, err)
		}
		maps.Copy(vars, some)
	}
	return vars, nil
}

func (t *task) writeTemplates(a *api.Allocation, s *api.Task, results []*templates.Result, owner allocdir.Owner) error {
	for _, r := range results {
		mode, err := r.Mode()
		if err != nil {
			return err
		}
		uid, gid := -1, -1
		if r.UID != nil {
			uid = *r.UID
		}
		if r.GID != nil {
			gid = *r.GID
		}
		name, ok := api.TemplatePath(r.DestPath)
		if !ok {
			return fmt.Errorf("template %q: the destination is not below the task's directory", r.DestPath)
		}
		if err := t.r.host.Dirs.WriteTemplate(a.ID, s.Name, name, r.Content, fs.FileMode(mode), owner.WithIDs(uid, gid)); err != nil {
			return fmt.Errorf("template: %w", err)
		}
	}
	return nil
}

// recordRenderings notes the results in the record and the state of the task. It reports whether one is new. The mutex is held.
func (t *task) recordRenderings(results []*templates.Result) (changed bool) {
	next := maps.Clone(t.templates.Renderings)
	if next == nil {
		next = map[string]*templates.Rendering{}
	}
	now := time.Now()
	for _, r := range results {
		if r.IsChange(next[r.DestPath]) {
			next[r.DestPath] = r.Record(now)
			changed = true
		}
	}
	t.templates.Renderings = next
	for _, r := range results {
		t.setPending(r.DestPath, "")
	}
	t.showTemplates(nil)
	return changed
}

// noteWaiting shows what the templates wait for.
func (t *task) noteWaiting(results []*templates.Result) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.showTemplates(results)
	t.r.host.Changed(t.r, true)
}

// showTemplates updates the state of the task. The mutex is held.
func (t *task) showTemplates(results []*templates.Result) {
	states := make([]*api.TemplateState, 0, len(t.spec.Templates))
	for _, spec := range t.spec.Templates {
		s := &api.TemplateState{Destination: spec.DestPath, Pending: t.templates.Pending[spec.DestPath]}
		if last := t.templates.Renderings[spec.DestPath]; last != nil {
			s.Rendered = last.At
		}
		for _, r := range results {
			if r.DestPath == spec.DestPath {
				if !isBeingRead(r.Waiting) {
					s.Waiting = r.Waiting
				}
				if r.Err != nil {
					s.Waiting = "a correct template or value: " + r.Err.Error()
				}
			}
		}
		states = append(states, s)
	}
	if !slices.EqualFunc(states, t.state.Templates, func(a, b *api.TemplateState) bool { return *a == *b }) {
		t.change(func(s *api.TaskState) { s.Templates = states })
	}
}

// sayTemplate adds an event about the task's templates.
func (t *task) sayTemplate(words string) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	t.addEvent(event(api.EventTemplate, api.Printable(words, 1000)))
	t.r.host.Changed(t.r, true)
}
