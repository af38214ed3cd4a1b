// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/server/control"
)

// refuseJobs lists the errors in all jobs of a deployment, of which one is not valid, together with
// the reasons to refuse their dependencies and exposures. A user sees all of them. It
// returns the first error if it can add nothing to it.
func (s *Server) refuseJobs(jobs []*api.Job, namespace string, first error) error {
	invalid := make([][]string, len(jobs))
	list := make([]lifecycle.Deployable, len(jobs))
	for i, job := range jobs {
		if job == nil || job.Stack == nil || api.ValidateUnitName(job.ID) != nil {
			return first
		}
		if _, err := s.admitStack(job, namespace); err != nil {
			invalid[i] = []string{err.Error()}
			var e *api.Error
			if errors.As(err, &e) && len(e.Detail) > 0 {
				invalid[i] = e.Detail
			}
		}
		list[i] = asDeployable(job, namespace)
	}
	x, _ := control.DeploymentIndex(s.store.Snapshot(), list)
	refusals, _ := x.CheckDeployment(list)
	if len(jobs) == 1 && len(refusals) == 0 {
		return first
	}
	e := api.Errorf(api.CodeInvalid, "the deployment is refused")
	for i, job := range jobs {
		for _, text := range invalid[i] {
			if len(jobs) > 1 {
				text = fmt.Sprintf("unit %q, %s", job.ID, text)
			}
			e.Detail = append(e.Detail, text)
		}
	}
	var refused *api.Error
	if errors.As(refuseDeployment(list, refusals), &refused) {
		e.Detail = append(e.Detail, refused.Detail...)
	}
	return e
}

// asDeployable returns the parts of a job that a deployment is checked for, without those that are not
// valid in themselves.
func asDeployable(job *api.Job, namespace string) lifecycle.Deployable {
	spec := &api.StackSpec{}
	for _, d := range job.Stack.Depends {
		if d == nil || api.ValidateUnitName(d.Unit) != nil {
			continue
		}
		if _, err := api.ParseFeatureVersion(d.Version); err == nil {
			spec.Depends = append(spec.Depends, d)
		}
	}
	for _, e := range job.Stack.Expose {
		spec.Expose = append(spec.Expose, cmp.Or(e, &api.StackExposure{}))
	}
	version, _ := api.ParseStackVersion(job.Stack.Version) // zero: satisfies no dependency of the others
	return lifecycle.Deployable{
		Namespace: cmp.Or(job.Namespace, namespace), Unit: job.ID, Version: version, Spec: spec,
		HasPort: job.StackShape() == api.ShapeService,
	}
}
