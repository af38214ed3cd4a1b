// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// A Command is one change of the state, as stored in the log. It contains all times and
// identifiers, so that applying it has the same result on every server. Only types of this
// package are commands.
type Command interface {
	// Name returns the command's verb, which its changes carry.
	Name() string

	// apply makes the change. If it rejects the command, it returns an *api.Error and has
	// changed nothing.
	apply(t *txn) error

	// encode returns the command in the log's format.
	encode() *wire.Command
}

// putEvaluations stores the evaluations of a command and skips nil ones.
func (t *txn) putEvaluations(evaluations ...*api.Evaluation) {
	for _, e := range evaluations {
		if e != nil {
			t.putEvaluation(e)
		}
	}
}

// putJobEvaluation stores the evaluation that a change of its job triggers.
func (t *txn) putJobEvaluation(e *api.Evaluation, jobModifyIndex uint64) {
	if e == nil {
		return
	}
	c := e.Copy()
	if c.JobModifyIndex == 0 {
		c.JobModifyIndex = jobModifyIndex
	}
	t.putEvaluation(c)
}

// JobNotFound returns an error that says that a job does not exist. A stack outside of Reeve has none.
func (c *content) JobNotFound(namespace, id string) error {
	if s := c.Stack(namespace, id); s != nil && s.IsExternal() {
		return api.Errorf(api.CodeNotFound, "stack %s has no job: it runs outside of Reeve, at %s; see it with: reeve stack status %s", id, s.Address, id)
	}
	return api.Errorf(api.CodeNotFound, "job %q not found in namespace %q", id, namespace)
}

// checkIndex rejects a change that is based on an older version of the job.
func checkIndex(id string, current *api.Job, enforce *uint64) error {
	switch {
	case enforce == nil:
		return nil
	case *enforce == 0 && current != nil && !current.Stop:
		return api.Errorf(api.CodeConflict, "job %q exists already (job modify index %d): index 0 asks for a new job", id, current.JobModifyIndex)
	case *enforce == 0:
		return nil
	case current == nil:
		return api.Errorf(api.CodeConflict, "job %q does not exist: index %d asks for a stored one", id, *enforce)
	case current.JobModifyIndex != *enforce:
		return api.Errorf(api.CodeConflict, "job %q was changed meanwhile: its job modify index is %d, not %d; check the change and try again", id, current.JobModifyIndex, *enforce)
	}
	return nil
}
