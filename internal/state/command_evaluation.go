// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// PutEvaluations stores evaluations, new or changed.
type PutEvaluations struct {
	Evaluations []*api.Evaluation
}

// Name implements Command.
func (c *PutEvaluations) Name() string { return "PutEvaluations" }

func (c *PutEvaluations) apply(t *txn) error {
	for _, e := range c.Evaluations {
		if e == nil || e.ID == "" {
			return api.Errorf(api.CodeInvalid, "an evaluation needs an ID")
		}
	}
	t.putEvaluations(c.Evaluations...)
	return nil
}

// DeleteEvaluations deletes evaluations. It skips unknown ones.
type DeleteEvaluations struct {
	IDs []string
}

// Name implements Command.
func (c *DeleteEvaluations) Name() string { return "DeleteEvaluations" }

func (c *DeleteEvaluations) apply(t *txn) error {
	for _, id := range c.IDs {
		t.deleteEvaluation(id)
	}
	return nil
}
