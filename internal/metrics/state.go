// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// other is the job, and the stack, that the limits of series leave. The label namespace is empty there,
// which no namespace is.
const other = "other"

// state counts the objects of the cluster, and returns the number of groups without series of their
// own.
func (e *emitter) state(v *state.Snapshot) (omitted int) {
	jobs := map[string]int{api.JobStatusPending: 0, api.JobStatusRunning: 0, api.JobStatusDead: 0}
	var all, rest api.GroupSummary
	var last *api.Job
	shown := 0
	for g := range v.GroupCounts() {
		if g.Job != last {
			last = g.Job
			jobs[g.Job.Status]++
		}
		add(&all, &g.GroupSummary)
		switch active := g.Live || g.Queued > 0; {
		case active && shown < e.r.limits.Groups:
			shown++
			tags, values := Tags(g.Group.MetricTags)
			labels := append([]string{Label(g.Job.Namespace), Label(g.Job.ID), Label(g.Group.Name), Label(g.Job.ParentID)}, values...)
			e.group(&g.GroupSummary, tags, labels)
		case active:
			omitted++
			fallthrough
		default:
			add(&rest, &g.GroupSummary)
		}
	}
	e.group(&rest, nil, []string{"", other, "", ""})
	for status, n := range jobs {
		e.gauge("nomad.nomad.job_status."+status, float64(n))
	}
	for status, n := range map[string]int{
		"queued": all.Queued, "starting": all.Starting, "running": all.Running, "complete": all.Complete,
		"failed": all.Failed, "lost": all.Lost, "unknown": all.Unknown,
	} {
		e.gauge("reeve.allocations", float64(n), status)
	}
	e.gauge("reeve.allocations_unhealthy", float64(all.Crashing), "crashing")
	e.gauge("reeve.allocations_unhealthy", float64(all.Failing), "failing")
	e.nodes(v)
	e.deployments(v)
	return omitted
}

// group writes the series of one group.
func (e *emitter) group(s *api.GroupSummary, tags, labels []string) {
	e.taggedGauge("nomad.nomad.job_summary.queued", float64(s.Queued), tags, labels...)
	e.taggedGauge("nomad.nomad.job_summary.starting", float64(s.Starting), tags, labels...)
	e.taggedGauge("nomad.nomad.job_summary.running", float64(s.Running), tags, labels...)
	e.taggedGauge("nomad.nomad.job_summary.complete", float64(s.Complete), tags, labels...)
	e.taggedGauge("nomad.nomad.job_summary.failed", float64(s.Failed), tags, labels...)
	e.taggedGauge("nomad.nomad.job_summary.lost", float64(s.Lost), tags, labels...)
	e.taggedGauge("nomad.nomad.job_summary.unknown", float64(s.Unknown), tags, labels...)
}

func add(sum, s *api.GroupSummary) {
	sum.Queued += s.Queued
	sum.Starting += s.Starting
	sum.Running += s.Running
	sum.Complete += s.Complete
	sum.Failed += s.Failed
	sum.Lost += s.Lost
	sum.Unknown += s.Unknown
	sum.Crashing += s.Crashing
	sum.Failing += s.Failing
}

func (e *emitter) nodes(v *state.Snapshot) {
	counts := map[string]int{api.NodeStatusInit: 0, api.NodeStatusReady: 0, api.NodeStatusDown: 0, api.NodeStatusDisconnected: 0}
	for n := range v.Nodes() {
		counts[n.Status]++
	}
	for status, n := range counts {
		e.gauge("reeve.nodes", float64(n), Label(status))
	}
	e.gauge("nomad.nomad.heartbeat.active", float64(counts[api.NodeStatusReady]))
}

func (e *emitter) deployments(v *state.Snapshot) {
	counts := map[string]int{
		api.DeploymentPending: 0, api.DeploymentRunning: 0, api.DeploymentPaused: 0, api.DeploymentBlocked: 0,
		api.DeploymentSuccessful: 0, api.DeploymentFailed: 0, api.DeploymentCancelled: 0,
	}
	for d := range v.Deployments() {
		counts[d.Status]++
	}
	for status, n := range counts {
		e.gauge("reeve.deployments", float64(n), Label(status))
	}
}
