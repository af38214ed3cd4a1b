// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/templates"
)

// Templates with change_mode = "rolling".
//
// The node reports a newer rendering and does nothing else: the file keeps its content until the task starts again,
// whether the servers restart it in its turn or it ends by itself. The report is on record, so that an agent that restarts
// does not withdraw it before it has read the values again. It ends when the value changes back, or can no longer be
// rendered: a restart would then achieve nothing, or end a task that runs.

// isRolling reports whether a template's changes wait for a rolling restart. The mode is that of the newest version of the
// job, which may change it in place. The mutex is held.
func (t *task) isRolling(destination string) bool {
	return slices.ContainsFunc(t.spec.Templates, func(spec *api.Template) bool {
		return spec.DestPath == destination && spec.ChangeMode == api.TemplateRolling
	})
}

// isPending reports whether a result waits for a rolling restart already. The mutex is held.
func (t *task) isPending(r *templates.Result) bool {
	return t.isRolling(r.DestPath) && t.templates.Pending[r.DestPath] == r.Values
}

// dropPending ends the report of a newer rendering if the result is none. The mutex is held.
func (t *task) dropPending(r *templates.Result) {
	switch {
	case t.templates.Pending[r.DestPath] == "":
		return
	case r.Waiting != "" && r.Unread: // unknown
		return
	case r.Content != nil && r.IsChange(t.templates.Renderings[r.DestPath]) && t.isRolling(r.DestPath):
		return
	}
	t.setPending(r.DestPath, "")
	t.r.save()
	t.r.host.Changed(t.r, true)
}

// notePending reports the results that wait for a rolling restart, and returns the others.
func (t *task) notePending(changed []*templates.Result) (others []*templates.Result) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	noted := false
	for _, r := range changed {
		if !t.isRolling(r.DestPath) {
			others = append(others, r)
			continue
		}
		t.setPending(r.DestPath, r.Values)
		t.addEvent(event(api.EventTemplate, "Values changed: the new rendering of "+r.DestPath+" waits for the task's turn in a rolling restart"))
		noted = true
	}
	if noted {
		t.showTemplates(nil)
		t.r.save()
		t.r.host.Changed(t.r, true)
	}
	return others
}

// setPending sets what identifies the values of a newer rendering; "" if it has none. The mutex is held.
func (t *task) setPending(destination, values string) {
	if t.templates.Pending[destination] == values {
		return
	}
	next := maps.Clone(t.templates.Pending)
	if values == "" {
		delete(next, destination)
	} else {
		if next == nil {
			next = map[string]string{}
		}
		next[destination] = values
	}
	t.templates.Pending = next
}
