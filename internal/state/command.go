// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// A Command is one change of the state, as the log holds it. Times and
// identifiers are in it, so applying it is the same everywhere. The package's
// own types are the only commands.
type Command interface {
	// Name is the command's verb; the changes that it makes carry it.
	Name() string

	// apply makes the change, or refuses it with an *api.Error before having
	// changed anything.
	apply(t *txn) error

	// encode is the command as the log holds it.
	encode() *wire.Command
}

// putEvaluations stores evaluations that came with a command; nil ones are
// passed over.
func (t *txn) putEvaluations(evaluations ...*api.Evaluation) {
	for _, e := range evaluations {
		if e != nil {
			t.putEvaluation(e)
		}
	}
}

// putJobEvaluation stores the evaluation that a change of its job asks for.
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

func jobNotFound(namespace, id string) error {
	return api.Errorf(api.CodeNotFound, "job %q not found in namespace %q", id, namespace)
}

// checkIndex refuses a change whose author had not seen the job as it is now.
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
		return api.Errorf(api.CodeConflict, "job %q was changed meanwhile: its job modify index is %d, not %d; look at the change and try again", id, current.JobModifyIndex, *enforce)
	}
	return nil
}
