// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

func explainJob(c *call, v *state.Snapshot) (*api.JobExplanation, uint64, error) {
	e, err := c.Server.ExplainJob(c.r.Context(), c.namespace, c.id())
	return e, v.Index(), err
}

func explainNode(c *call, v *state.Snapshot) ([]*api.NodeExplanation, uint64, error) {
	n, err := findNode(v, c.id())
	if err != nil {
		return nil, v.Index(), err
	}
	job := c.r.URL.Query().Get("job")
	if job == "" {
		return nil, v.Index(), api.Errorf(api.CodeInvalid, "the query names no job: add ?job=ID")
	}
	if err := c.permit(acl.ExplainJob, c.namespace); err != nil {
		return nil, v.Index(), err
	}
	e, err := c.Server.ExplainNode(c.r.Context(), n.ID, c.namespace, job)
	return e, v.Index(), err
}
