// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// Templates whose changes restart a group instance by instance (change_mode = "rolling").
//
// Nodes report which tasks have a newer rendering. That report is the only input: an instance is restarted while it reports
// one, and a value that changes back ends the report. So one restart serves any number of changes and reports, however
// they are spread in time, and a node can cause a restart of none but its own allocations.

const (
	// templateGather is the time for reports of a change to arrive before its restart begins.
	templateGather = time.Second
	// templateInterval is the shortest time between the starts of two such restarts of a group.
	templateInterval = 10 * time.Second
	// templateAuthor is shown as the author of such restarts.
	templateAuthor = "template changes"
)

// NewTemplateRestart returns the restart of the first group of a job with newer renderings, to be stored; nil if none
// is due. wake is the time at which one may be due; zero if only a change of the state makes one due.
func NewTemplateRestart(r facts.Reader, job *api.Job, now time.Time) (restart *api.JobRestart, wake time.Time) {
	if job == nil || job.Stop || job.IsPeriodic() || job.IsParameterized() || job.RunsToCompletion() {
		return nil, time.Time{}
	}
	if d := r.LatestDeployment(job.Namespace, job.ID); d != nil && d.IsActive() && d.JobCreateIndex == job.CreateIndex {
		return nil, time.Time{} // its end is a change
	}
	last := r.LatestRestart(job.Namespace, job.ID)
	if last != nil && last.IsActive() && last.JobCreateIndex == job.CreateIndex {
		return nil, time.Time{}
	}
	var declined []string
	if d := r.DeclinedTemplates(job.Namespace, job.ID); d != nil {
		declined = d.Declined
	}
	newer := map[string]*newRenderings{} // by group
	for a := range r.AllocationsByJob(job.Namespace, job.ID) {
		noteRenderings(newer, a, declined)
	}
	for _, g := range job.Groups {
		n := newer[g.Name]
		if n == nil {
			continue
		}
		due := n.since.Add(templateGather)
		if last != nil && last.Templates && slices.Equal(last.Groups, []string{g.Name}) {
			due = latest(due, last.StartedAt.Add(templateInterval))
		}
		if !due.After(now) {
			return templateRestart(job, g, n, last, now), time.Time{}
		}
		if wake.IsZero() || due.Before(wake) {
			wake = due
		}
	}
	return nil, wake
}

// newRenderings are those of a group that no restart was cancelled for.
type newRenderings struct {
	since        time.Time // the first report
	destinations map[string]bool
}

// noteRenderings adds the newer renderings of an allocation.
func noteRenderings(newer map[string]*newRenderings, a *api.Allocation, declined []string) {
	if a.IsTerminal() || a.Job == nil {
		return
	}
	def := a.Job.Group(a.Group)
	for task, s := range a.TaskStates {
		if def == nil || def.Task(task) == nil { // a node may report any number of others
			continue
		}
		destinations, values := s.PendingTemplates()
		for i, v := range values {
			if slices.Contains(declined, v) || !launch.KeepsRunning(a, def, def.Task(task)) {
				continue
			}
			n := newer[a.Group]
			at := time.Unix(0, a.ModifyTime)
			if n == nil {
				n = &newRenderings{since: at, destinations: map[string]bool{}}
				newer[a.Group] = n
			}
			if at.Before(n.since) {
				n.since = at
			}
			n.destinations[destinations[i]] = true
		}
	}
}

func templateRestart(job *api.Job, g *api.Group, n *newRenderings, last *api.JobRestart, now time.Time) *api.JobRestart {
	before := ""
	if last != nil {
		before = last.ID
	}
	j := &api.JobRestart{
		ID:        ident.Derive("templates", job.Namespace, job.ID, strconv.FormatInt(now.UnixNano(), 10), strconv.FormatUint(job.ModifyIndex, 10), before),
		Namespace: job.Namespace, JobID: job.ID, JobVersion: job.Version, JobCreateIndex: job.CreateIndex,
		BatchSize: 1, Groups: []string{g.Name}, Templates: true, OnError: api.RestartOnErrorPause,
		Status: api.RestartRunning, StatusReason: api.ReasonRestartRunning, StatusDescription: api.ReasonRestartRunning.Text(), RestartedAllocs: []string{},
		By: templateAuthor, Reason: api.Printable("values changed of "+strings.Join(slices.Sorted(maps.Keys(n.destinations)), ", "), 200),
		StartedAt: now.UTC(), UpdatedAt: now.UTC(),
	}
	if u := g.Update; u != nil {
		j.BatchSize = api.ShareOf(opt.Of(u.MaxParallel), opt.Of(u.MaxParallelPercent), opt.Of(g.Count))
		j.HealthGate = opt.Of(u.HealthCheck) != api.HealthCheckManual
	}
	return j
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
