// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
)

// permitCommand returns an error if the request runs a command in a task that its driver does not isolate
// from its node, and the caller may not: such a command has the rights of the agent's user, or of the
// task's, on the whole machine.
func (c *call) permitCommand() error {
	r := c.rights()
	if c.route.Capability != AllocExec || r == nil {
		return nil
	}
	a := c.Server.Store().Snapshot().Allocation(c.r.PathValue("alloc"))
	if a == nil || a.Job == nil {
		return api.Errorf(api.CodeNotFound, "allocation %q not found", c.r.PathValue("alloc"))
	}
	q := acl.Question{Capability: acl.AllocNodeExec, Name: a.Namespace}
	task := onNode(a, c.r.URL.Query().Get("task"))
	switch {
	case r.ACL.Allows(q):
		c.hostNamespace = a.Namespace
		return nil
	case task != nil:
		// Clients see only the first 1,024 bytes of a refused websocket.
		return c.forbiddenWithout(AllocNodeExec, "driver %.64s does not isolate task %.64q from its node, and no rule of its policies grants that for namespace %q: add \"alloc-node-exec\" to the capabilities of one", task.Driver, task.Name, a.Namespace)
	}
	// The node decides again, by the task that it runs.
	query := c.r.URL.Query()
	query.Set(api.ParamIsolated, "true")
	u := *c.r.URL
	u.RawQuery = query.Encode()
	request := *c.r
	request.URL = &u
	request.Form, request.PostForm = nil, nil
	c.r = &request
	return nil
}

// onNode returns a task of an allocation without isolation: the named one, or any if no task has the
// name. It returns nil if all of them are isolated.
func onNode(a *api.Allocation, name string) *api.Task {
	g := a.Job.Group(a.Group)
	if g == nil {
		return &api.Task{Name: name, Driver: "?"}
	}
	if t := g.Task(name); t != nil {
		if api.Isolates(t.Driver) {
			return nil
		}
		return t
	}
	for _, t := range g.Tasks {
		if !api.Isolates(t.Driver) {
			return t
		}
	}
	return nil
}

// guardCommand ends a command on a node when its caller loses the right to it.
func (c *call) guardCommand() (stop func()) {
	if c.hostNamespace == "" {
		return func() {}
	}
	return c.guardBy(func(watched *call) error { return watched.permit(acl.AllocNodeExec, watched.hostNamespace) })
}
