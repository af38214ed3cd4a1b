// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// jobsByChange lists jobs, the least recently changed first.
var jobsByChange = order[*api.Job]{
	key:   func(j *api.Job) key { return key{index: j.ModifyIndex, id: j.ID} },
	dated: true,
}

// listJobStatuses shows all jobs; children only on request.
func listJobStatuses(c *call) error {
	children, err := c.flag("include_children")
	if err != nil {
		return err
	}
	return c.answerOverviews(func(v *state.Snapshot) iter.Seq[*api.Job] {
		return where(v.JobsPrefix(c.namespace, c.prefix), func(j *api.Job) bool { return (children || j.ParentID == "") && c.inNamespace(j.Namespace) })
	})
}

// findJobStatuses shows the jobs that the request names.
func findJobStatuses(c *call) error {
	req := &api.JobStatusesRequest{}
	if err := c.readBody(req); err != nil {
		return err
	}
	for i := range req.Jobs {
		if req.Jobs[i].Namespace == "" {
			req.Jobs[i].Namespace = api.DefaultNamespace
		}
	}
	if err := c.permitBody(req); err != nil {
		return err
	}
	return c.answerOverviews(func(v *state.Snapshot) iter.Seq[*api.Job] {
		if len(req.Jobs) == 0 {
			return where(v.JobsPrefix(c.namespace, c.prefix), func(j *api.Job) bool {
				return (req.IncludeChildren || j.ParentID == "") && c.inNamespace(j.Namespace)
			})
		}
		return func(yield func(*api.Job) bool) {
			for _, named := range req.Jobs {
				if job := v.Job(named.Namespace, named.ID); job != nil && !yield(job) {
					return
				}
			}
		}
	})
}

func (c *call) answerOverviews(jobs func(*state.Snapshot) iter.Seq[*api.Job]) error {
	return c.answerRead(func(v *state.Snapshot) (any, uint64, error) {
		page, err := pageOf(c, jobsByChange, jobs(v))
		if err != nil {
			return nil, 0, err
		}
		overviews := make([]*api.JobOverview, len(page))
		for i, job := range page {
			overviews[i] = overviewOf(v, job)
		}
		return overviews, v.TableIndex(c.route.Tables...), nil
	})
}

func overviewOf(v *state.Snapshot, j *api.Job) *api.JobOverview {
	o := &api.JobOverview{
		ID: j.ID, Namespace: j.Namespace, Name: j.Name, ParentID: j.ParentID, Type: j.Type, NodePool: j.NodePool, Datacenters: j.Datacenters,
		Priority: j.Priority, Version: j.Version, SubmitTime: j.SubmitTime, ModifyIndex: j.ModifyIndex, Stop: j.Stop, Status: j.Status,
		Allocs: []*api.AllocOverview{},
	}
	for _, g := range j.Groups {
		o.GroupCountSum += g.Size()
	}
	for a := range v.AllocationsByJob(j.Namespace, j.ID) {
		shown := &api.AllocOverview{
			ID: a.ID, Group: a.Group, NodeID: a.NodeID, ClientStatus: a.ClientStatus, JobVersion: a.JobVersion(), FollowupEvalID: a.FollowupEvalID,
		}
		if s := a.DeploymentStatus; s != nil {
			shown.DeploymentStatus = api.AllocHealthOverview{Canary: s.Canary, Healthy: s.Healthy}
		}
		o.Allocs = append(o.Allocs, shown)
		if a.TakesTraffic() {
			o.Routable++
		}
	}
	if j.IsPeriodic() || j.IsParameterized() {
		o.ChildStatuses = []string{}
		for child := range v.JobsPrefix(j.Namespace, j.ID+"/") {
			if child.ParentID == j.ID {
				o.ChildStatuses = append(o.ChildStatuses, child.Status)
			}
		}
	}
	if d := v.LatestDeployment(j.Namespace, j.ID); d != nil {
		o.LatestDeployment = deploymentOverview(d)
	}
	return o
}

func deploymentOverview(d *api.Deployment) *api.DeploymentOverview {
	o := &api.DeploymentOverview{
		ID: d.ID, IsActive: d.IsActive(), JobVersion: d.JobVersion, Status: d.Status, StatusReason: d.StatusReason, StatusDescription: d.StatusDescription,
		AllAutoPromote: len(d.Groups) > 0, RequiresPromotion: d.IsActive() && d.NeedsPromotion(),
	}
	for _, g := range d.Groups {
		o.AllAutoPromote = o.AllAutoPromote && g.AutoPromote
	}
	return o
}
