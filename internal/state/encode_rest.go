// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// Rarely set fields of an evaluation are encoded as one document without the unset fields.

type restEvaluation struct {
	RelatedEvals         []*api.EvaluationStub            `json:",omitempty"`
	FailedGroups         map[string]*api.PlacementMetrics `json:",omitempty"`
	Annotations          *api.PlanAnnotations             `json:",omitempty"`
	ClassEligibility     map[string]bool                  `json:",omitempty"`
	EscapedComputedClass bool                             `json:",omitempty"`
	QuotaLimitReached    string                           `json:",omitempty"`
	AnnotatePlan         bool                             `json:",omitempty"`
	Held                 string                           `json:",omitempty"`
}

func restOfEvaluation(e *api.Evaluation) []byte {
	r := restEvaluation{
		e.RelatedEvals, e.FailedGroups, e.Annotations, e.ClassEligibility,
		e.EscapedComputedClass, e.QuotaLimitReached, e.AnnotatePlan, e.Held,
	}
	if len(r.RelatedEvals)+len(r.FailedGroups)+len(r.ClassEligibility) == 0 && r.Annotations == nil &&
		!r.EscapedComputedClass && r.QuotaLimitReached == "" && !r.AnnotatePlan && r.Held == "" {
		return nil
	}
	return mustJSON(r)
}

func (r *restEvaluation) fill(e *api.Evaluation) {
	e.RelatedEvals, e.FailedGroups, e.Annotations = r.RelatedEvals, r.FailedGroups, r.Annotations
	e.ClassEligibility, e.EscapedComputedClass = r.ClassEligibility, r.EscapedComputedClass
	e.QuotaLimitReached, e.AnnotatePlan, e.Held = r.QuotaLimitReached, r.AnnotatePlan, r.Held
}
