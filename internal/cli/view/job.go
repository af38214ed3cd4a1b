// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// JobStatus is the object of "job status JOB".
type JobStatus struct {
	*api.Job
	Summary     *api.JobSummary `json:"JobSummary"`
	Allocations []*api.AllocationListStub
	Deployment  *api.Deployment `json:"LatestDeployment"` // nil without a deployment
	Evaluations []*api.Evaluation
	Children    []*api.JobListStub `json:",omitempty"` // child jobs of a periodic or parameterized job
	// ActivePlans holds the plans that are neither complete nor waiting for their start.
	ActivePlans []*api.Plan     `json:",omitempty"`
	Troubles    []*api.Trouble  `json:",omitempty"`
	Callbacks   []*api.Callback `json:",omitempty"` // completion callbacks
	// Images holds the pins of the current version, and of others with instances that run.
	Images []*api.ImagePin `json:",omitempty"`
}

// Jobs writes a list of jobs.
func Jobs(p *term.Page, list []*api.JobListStub, namespaces bool) {
	heading := []string{"ID", "Type", "Priority", "Status", "Instances", "Version", "Submitted"}
	wrong := slices.ContainsFunc(list, func(j *api.JobListStub) bool { return ailingInWords(j.JobSummary) != "" })
	if wrong {
		heading = append(heading, "Problems")
	}
	if namespaces {
		heading = append(heading, "Namespace")
	}
	var rows [][]string
	for _, j := range list {
		status := p.Style.Status(j.Status) + aside(j.Stop, j.Held)
		row := []string{j.ID, jobKind(j), strconv.Itoa(j.Priority), status, instancesInWords(j.JobSummary),
			strconv.FormatUint(j.Version, 10), human.NanosAge(p.Now, j.SubmitTime)}
		if wrong {
			row = append(row, human.Dash(p.Style.Red(ailingInWords(j.JobSummary))))
		}
		if namespaces {
			row = append(row, j.Namespace)
		}
		rows = append(rows, row)
	}
	p.TableLess(heading, rows, "Priority", "Version", "Submitted")
}

// aside qualifies the status of a stopped job, or of one that an operator holds.
func aside(stopped, held bool) string {
	switch {
	case stopped:
		return " (stopped)"
	case held:
		return " (held)"
	}
	return ""
}

// kindOf returns the type of a job, and its trigger if that is not registration.
func kindOf(j *api.Job) string { return jobKind(j.Stub(nil)) }

func jobKind(j *api.JobListStub) string {
	switch {
	case j.Periodic:
		return j.Type + "/periodic"
	case j.ParameterizedJob:
		return j.Type + "/parameterized"
	}
	return j.Type
}

// instancesInWords sums the allocations of a job over its groups.
func instancesInWords(s *api.JobSummary) string {
	if s == nil {
		return "-"
	}
	var t api.GroupSummary
	for _, g := range s.Summary {
		t.Queued += g.Queued
		t.Starting += g.Starting
		t.Running += g.Running
		t.Failed += g.Failed
		t.Complete += g.Complete
		t.Lost += g.Lost
		t.Unknown += g.Unknown
	}
	var parts []string
	for _, part := range []struct {
		n    int
		word string
	}{
		{t.Running, "running"}, {t.Starting, "starting"}, {t.Queued, "queued"}, {t.Unknown, "unknown"},
		{t.Failed, "failed"}, {t.Lost, "lost"}, {t.Complete, "complete"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// ailing counts the crashing instances of a job, and those with failing checks.
func ailing(s *api.JobSummary) (crashing, failing int) {
	if s == nil {
		return 0, 0
	}
	for _, g := range s.Summary {
		crashing += g.Crashing
		failing += g.Failing
	}
	return crashing, failing
}

// ailingInWords describes the problems of a job's instances; "" without known problems.
func ailingInWords(s *api.JobSummary) string {
	crashing, failing := ailing(s)
	var parts []string
	if crashing > 0 {
		parts = append(parts, fmt.Sprintf("%d crashing", crashing))
	}
	if failing > 0 {
		parts = append(parts, fmt.Sprintf("%d failing checks", failing))
	}
	return strings.Join(parts, ", ")
}

// Job writes one job: its fields, groups, deployment and allocations.
func Job(p *term.Page, s *JobStatus, wide bool) {
	j := s.Job
	status := p.Style.Status(j.Status) + aside(j.Stop, j.Held)
	fields := []term.Field{
		{"ID", j.ID},
		{"Name", human.Unless(j.Name, j.ID)},
		{"Namespace", human.Unless(j.Namespace, api.DefaultNamespace)},
		{"Type", kindOf(j)},
		{"Status", status},
		{"Held by", j.HeldReason},
		{"Reason", j.StatusDescription},
		{"Version", strconv.FormatUint(j.Version, 10) + stability(j)},
		{"Priority", strconv.Itoa(j.Priority)},
		{"Datacenters", strings.Join(j.Datacenters, ",")},
		{"Node pool", human.Unless(j.NodePool, api.NodePoolDefault)},
		{"Submitted", human.When(p.Now, j.SubmitTime)},
		{"Started by", j.ParentID},
		{"Max pending", limitInWords(j.MaxPending)},
		{"Callback", callbackTarget(j)},
	}
	p.Fields(append(fields, starts(p.Now, j)...)...)
	Troubles(p, j.ID, s.Troubles)
	if StartsOthers(j) {
		children(p, j, s.Summary, s.Children)
		return
	}
	if s.Summary != nil {
		p.Section("Groups")
		groups(p, j, s.Summary)
	}
	blockedGroups(p, s.Evaluations)
	if s.Deployment != nil {
		p.Section("Deployment")
		Deployment(p, s.Deployment, wide)
	}
	imageTable(p, s.Images)
	activePlans(p, s.ActivePlans)
	crashes(p, s.Allocations)
	if len(s.Callbacks) > 0 {
		p.Section("Callbacks")
		Callbacks(p, s.Callbacks)
	}
	p.Section("Allocations")
	if len(s.Allocations) == 0 {
		p.Line("None")
		return
	}
	Allocations(p, s.Allocations, wide)
}

// limitInWords formats a time limit; "" without limit.
func limitInWords(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return human.Duration(*d)
}

// callbackTarget returns the URL of the job's completion callbacks.
func callbackTarget(j *api.Job) string {
	if j.Callback == nil {
		return ""
	}
	return j.Callback.URL
}

func stability(j *api.Job) string {
	if j.Stable {
		return " (stable)"
	}
	return ""
}

// groups writes the desired and actual instances of each group.
func groups(p *term.Page, j *api.Job, summary *api.JobSummary) {
	names := slices.Sorted(maps.Keys(summary.Summary))
	order := make(map[string]int, len(j.Groups))
	for i, g := range j.Groups {
		order[g.Name] = i + 1
	}
	sort.SliceStable(names, func(a, b int) bool { return order[names[a]] < order[names[b]] })
	var rows [][]string
	for _, name := range names {
		g := summary.Summary[name]
		rows = append(rows, []string{name, wantedCount(j, name), strconv.Itoa(g.Queued), strconv.Itoa(g.Starting),
			strconv.Itoa(g.Running), alarming(p, g.Failed), strconv.Itoa(g.Complete), alarming(p, g.Lost), strconv.Itoa(g.Unknown)})
	}
	p.Table([]string{"Group", "Desired", "Queued", "Starting", "Running", "Failed", "Complete", "Lost", "Unknown"}, rows)
}

// alarming colours a number that should be 0.
func alarming(p *term.Page, n int) string {
	text := strconv.Itoa(n)
	if n > 0 {
		return p.Style.Red(text)
	}
	return text
}

// wantedCount returns the desired count of a group.
func wantedCount(j *api.Job, group string) string {
	g := j.Group(group)
	switch {
	case j.Stop || g == nil:
		return "0"
	case j.RunsOnEveryNode():
		return "all"
	}
	return strconv.Itoa(g.Size())
}

// blockedGroups writes the reasons why instances of a job are not placed.
func blockedGroups(p *term.Page, evals []*api.Evaluation) {
	failed, blocked := waitingGroups(evals)
	if len(failed) == 0 {
		return
	}
	p.Section("Not placed")
	PlacementFailures(p, failed)
	if blocked != nil {
		p.Line("Evaluation %s continues after any change that could help.", api.ShortID(blocked.ID))
	}
}

// waitingGroups returns the groups of a blocked evaluation with instances that are not
// placed.
func waitingGroups(evals []*api.Evaluation) (map[string]*api.PlacementMetrics, *api.Evaluation) {
	for _, e := range evals {
		if e.Status != api.EvalStatusBlocked {
			continue
		}
		if len(e.FailedGroups) > 0 {
			return e.FailedGroups, e
		}
		for _, other := range evals {
			if other.BlockedEval == e.ID && len(other.FailedGroups) > 0 {
				return other.FailedGroups, e
			}
		}
	}
	return nil, nil
}

// JobNext suggests the next commands for a job with problems.
func JobNext(p *term.Page, s *JobStatus) {
	var commands []string
	for _, a := range s.Allocations {
		if a.ClientStatus == api.AllocClientFailed && a.DesiredStatus == api.AllocDesiredRun {
			commands = append(commands, fmt.Sprintf("Why it failed:  reeve alloc status %s", api.ShortID(a.ID)))
			break
		}
	}
	if d := s.Deployment; d != nil && d.Status == api.DeploymentFailed && d.JobVersion == s.Version && s.Version > 0 {
		job := JobArgs(s.Namespace, s.ID)
		commands = append(commands, fmt.Sprintf("Revert it:  reeve job history -p %s; reeve job revert %s VERSION", job, job))
	}
	p.Next(commands...)
}
