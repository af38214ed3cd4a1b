// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// namespaces holds the namespaces of jobs. The default namespace exists even if nobody
// ever changed it.
var namespaces = declare(noun[api.Namespace]{
	name: namespacesName, singular: "namespace", verb: "Namespace", frame: 13,
	key:       func(n *api.Namespace) string { return n.Name },
	stamp:     func(n *api.Namespace) (create, modify *uint64) { return &n.CreateIndex, &n.ModifyIndex },
	builtIn:   []*api.Namespace{{Name: api.DefaultNamespace, Description: "Default namespace", CreateIndex: 1, ModifyIndex: 1}},
	topic:     api.TopicNamespace,
	eventType: putOrDelete[api.Namespace](api.EventTypeNamespaceUpserted, api.EventTypeNamespaceDeleted),
	search:    api.SearchNamespaces,
	admit:     admitNamespace,
	since:     sinceQuota,
})

// TableNamespaces holds *api.Namespace, without an unchanged default namespace.
var TableNamespaces = namespaces.table

// Namespace returns the namespace of that name, nil if it does not exist.
func (c *content) Namespace(name string) *api.Namespace { return namespaces.find(c, name) }

// NamespacesPrefix yields the namespaces whose name begins with prefix, ordered by name.
func (c *content) NamespacesPrefix(prefix string) iter.Seq[*api.Namespace] {
	return namespaces.all(c, prefix)
}

// PutNamespace returns the command that stores a namespace, new or changed. If enforce is
// set, the stored namespace must have this modify index; 0: it must not exist.
func PutNamespace(n *api.Namespace, enforce *uint64) Command {
	return &putObject[api.Namespace]{namespaces, n, enforce}
}

// DeleteNamespace returns the command that deletes a namespace without jobs and children.
func DeleteNamespace(name string, enforce *uint64) Command {
	return &deleteObject[api.Namespace]{namespaces, name, enforce}
}

func admitNamespace(all *noun[api.Namespace], c *content, old, new *api.Namespace) error {
	switch {
	case new == nil:
		return admitNamespaceDeletion(all, c, old)
	case new.Name == "":
		return api.Errorf(api.CodeInvalid, "a namespace needs a Name")
	case new.Quota != "" && c.Quota(new.Quota) == nil && (old == nil || old.Quota != new.Quota):
		return api.Errorf(api.CodeInvalid, "namespace %q needs quota %q, which does not exist; create it with: reeve quota apply FILE", new.Name, new.Quota)
	case old != nil:
		return nil
	}
	if parent := api.ParentNamespace(new.Name); parent != "" && all.find(c, parent) == nil {
		return api.Errorf(api.CodeInvalid, "namespace %q needs its parent %q, which does not exist; create it with: reeve namespace apply %s", new.Name, parent, parent)
	}
	for other := range all.all(c, "") {
		if strings.EqualFold(other.Name, new.Name) {
			return api.Errorf(api.CodeConflict, "namespace %q differs from %q only in case, which names in DNS ignore; choose another name", new.Name, other.Name)
		}
	}
	return nil
}

// admitNamespaceDeletion rejects the deletion of a namespace that is in use. Dead jobs do
// not use it.
func admitNamespaceDeletion(all *noun[api.Namespace], c *content, old *api.Namespace) error {
	if old.Name == api.DefaultNamespace {
		return api.Errorf(api.CodeInvalid, "namespace %q is built in and cannot be deleted", old.Name)
	}
	var children, jobs, stacks, variables, volumes []string
	for n := range all.all(c, old.Name+"/") {
		children = append(children, n.Name)
	}
	for j := range c.JobsPrefix(old.Name, "") {
		if j.Status != api.JobStatusDead {
			jobs = append(jobs, j.ID)
		}
	}
	for s := range c.Stacks(old.Name) {
		if s.Status == api.StackPending || s.IsExternal() && s.Status != api.StackTerminated { // without a job, which is checked above
			stacks = append(stacks, s.Name)
		}
	}
	for v := range storedVariables().all(c, variableKey(old.Name, "")) {
		variables = append(variables, v.Path)
	}
	for v := range storedVolumes().ofGroup(c, ofNamespace+old.Name) {
		volumes = append(volumes, v.Name)
	}
	if len(children) > 0 {
		return api.Errorf(api.CodeConflict, "namespace %q has %s; delete children first: reeve namespace delete %s", old.Name, some(children, "child namespace"), children[len(children)-1])
	}
	if err := admitWithoutAccess(c, old.Name); err != nil {
		return err
	}
	if len(jobs) > 0 {
		return api.Errorf(api.CodeConflict, "namespace %q has %s; stop its jobs first: reeve job stop -namespace %s %s", old.Name, some(jobs, "job"), old.Name, jobs[0])
	}
	if len(stacks) > 0 {
		return api.Errorf(api.CodeConflict, "namespace %q has %s; stop its stacks first: reeve stack stop -now -namespace %s %s", old.Name, some(stacks, "stack"), old.Name, stacks[0])
	}
	if len(variables) > 0 {
		return api.Errorf(api.CodeConflict, "namespace %q has %s; delete its variables first: reeve var delete -namespace %s %s", old.Name, some(variables, "variable"), old.Name, variables[0])
	}
	if len(volumes) > 0 {
		return api.Errorf(api.CodeConflict, "namespace %q has %s; delete its volumes first: reeve volume delete -namespace %s %s", old.Name, some(volumes, "volume"), old.Name, volumes[0])
	}
	return nil
}

// checkNamespace rejects a job whose namespace does not exist.
func (c *content) checkNamespace(job *api.Job) error {
	if c.Namespace(job.Namespace) == nil {
		e := api.Errorf(api.CodeInvalid, "job %q belongs to an unknown namespace", job.ID)
		e.Detail = []string{fmt.Sprintf("namespace %q does not exist; create it with: reeve namespace apply %s", job.Namespace, job.Namespace)}
		return e
	}
	return nil
}

// DefaultPool returns the node pool of jobs of a namespace that name none; "": the default namespace.
func (c *content) DefaultPool(namespace string) string {
	if namespace == "" {
		namespace = api.DefaultNamespace
	}
	if n := c.Namespace(namespace); n != nil {
		return n.DefaultPool()
	}
	return api.NodePoolDefault
}

// CheckNamespace rejects a job whose namespace does not exist or does not allow it.
func (c *content) CheckNamespace(job *api.Job) error {
	if err := c.checkNamespace(job); err != nil {
		return err
	}
	if refusals := c.Namespace(job.Namespace).Refusals(job); len(refusals) > 0 {
		return &api.Error{
			Code:    api.CodeInvalid,
			Message: "the job has a driver, network mode, node pool or priority that its namespace does not allow; change it, or see: reeve namespace inspect " + job.Namespace,
			Detail:  refusals,
		}
	}
	return nil
}
