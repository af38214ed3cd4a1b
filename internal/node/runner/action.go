// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Action returns the command of an action of a task, with its variables replaced as in the task's
// configuration.
func (r *Runner) Action(task, name string) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	spec := r.group.Task(task)
	if spec == nil {
		return nil, r.noTask(task)
	}
	i := slices.IndexFunc(spec.Actions, func(a *api.Action) bool { return a.Name == name })
	if i < 0 {
		return nil, api.Errorf(api.CodeNotFound, "task %q of allocation %s has no action %q", task, api.ShortID(r.id), api.Printable(name, 128))
	}
	env := r.checkEnv(spec)
	argv := []string{env.Replace(spec.Actions[i].Command)}
	for _, arg := range spec.Actions[i].Args {
		argv = append(argv, env.Replace(arg))
	}
	return argv, nil
}

// CheckIsolated returns an error if a task, or one of all tasks if none has the name, is not isolated from
// the node.
func (r *Runner) CheckIsolated(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.group.Tasks {
		if (t.Name == name || r.group.Task(name) == nil) && !api.Isolates(t.Driver) {
			return api.Errorf(api.CodeForbidden, "driver %s does not isolate task %q from its node: the command needs the capability alloc-node-exec", t.Driver, t.Name)
		}
	}
	return nil
}
