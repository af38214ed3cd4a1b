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
// own. It looks at every job only for the first scrape: later ones count what changed, and stop
// at the last group with series.
func (e *emitter) state(v *state.Snapshot) (omitted int) {
	total := e.r.census.Take(v)
	rest, shown := total.Groups, 0
	for g := range v.GroupCounts() {
		if shown == min(e.r.limits.Groups, total.Active) {
			break
		}
		if !g.IsActive() {
			continue
		}
		shown++
		rest.Subtract(&g.GroupSummary)
		tags, values := Tags(g.Group.MetricTags)
		labels := append([]string{Label(g.Job.Namespace), Label(g.Job.ID), Label(g.Group.Name), Label(g.Job.ParentID)}, values...)
		e.group(&g.GroupSummary, tags, labels)
	}
	e.group(&rest, nil, []string{"", other, "", ""})
	e.statuses("nomad.nomad.job_status.", total.Jobs, api.JobStatusPending, api.JobStatusRunning, api.JobStatusDead)
	all := &total.Groups
	for status, n := range map[string]int{
		"queued": all.Queued, "starting": all.Starting, "running": all.Running, "complete": all.Complete,
		"failed": all.Failed, "lost": all.Lost, "unknown": all.Unknown,
	} {
		e.gauge("reeve.allocations", float64(n), status)
	}
	e.gauge("reeve.allocations_unhealthy", float64(all.Crashing), "crashing")
	e.gauge("reeve.allocations_unhealthy", float64(all.Failing), "failing")
	e.counts("reeve.nodes", total.Nodes, api.NodeStatusInit, api.NodeStatusReady, api.NodeStatusDown, api.NodeStatusDisconnected)
	e.gauge("nomad.nomad.heartbeat.active", float64(total.Nodes[api.NodeStatusReady]))
	e.counts("reeve.deployments", total.Deployments, api.DeploymentPending, api.DeploymentRunning, api.DeploymentPaused, api.DeploymentBlocked,
		api.DeploymentSuccessful, api.DeploymentFailed, api.DeploymentCancelled)
	return total.Active - shown
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

// statuses writes a series for each status; known ones exist from the start.
func (e *emitter) statuses(prefix string, counts map[string]int, known ...string) {
	for _, status := range known {
		e.gauge(prefix+status, float64(counts[status]))
	}
}

// counts writes a series with a label for each status; known ones exist from the start.
func (e *emitter) counts(name string, counts map[string]int, known ...string) {
	for _, status := range known {
		if _, ok := counts[status]; !ok {
			e.gauge(name, 0, Label(status))
		}
	}
	for status, n := range counts {
		e.gauge(name, float64(n), Label(status))
	}
}
