// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// A devView prints the state of every allocation of "reeve dev".
type devView struct {
	c      *cli
	cl     *client.Client
	out    *term.Live
	style  term.Style
	router string // address of the router, or ""
	jobs   []*api.Job
	lines  map[string]string // last printed line, by allocation
	told   bool              // reports whether "All tasks run." was printed
}

func (c *cli) newDevView(cl *client.Client) *devView {
	return &devView{c: c, cl: cl, out: c.live(), style: c.stderrStyle(), lines: map[string]string{}}
}

// readyTimeout limits the time until the agent's node is ready.
const readyTimeout = 20 * time.Second

// waitForNode waits until a node is ready.
func (v *devView) waitForNode(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("the node was not ready after %s", readyTimeout))
	defer cancel()
	q := &client.QueryOptions{Wait: time.Second}
	retry := time.NewTicker(10 * time.Millisecond)
	defer retry.Stop()
	for {
		nodes, meta, err := v.cl.Nodes().List(ctx, q)
		if err == nil {
			for _, n := range nodes {
				if n.Status == api.NodeStatusReady {
					return nil
				}
			}
			q.Index = meta.Index
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-retry.C:
		}
	}
}

// register registers one job, and prints its placement failures.
func (v *devView) register(ctx context.Context, in *loaded) error {
	cl := v.cl.WithNamespace(in.job.Namespace)
	resp, err := cl.Jobs().Register(ctx, &api.RegisterJobRequest{Job: in.job, Submission: in.submission})
	if err != nil {
		return in.explain(err)
	}
	v.c.warn(resp.Warnings)
	v.out.Say("Registered job %q.", in.job.ID)
	if resp.EvalID == "" {
		return nil
	}
	e, err := v.c.monitor(cl, in.job.ID, false).evaluation(ctx, resp.EvalID)
	if err != nil {
		return err
	}
	if len(e.FailedGroups) > 0 {
		p := &term.Page{Style: v.style, Now: v.c.Now()}
		view.PlacementFailures(p, e.FailedGroups)
		v.out.Say("%s", strings.TrimRight(p.String(), "\n"))
	}
	job, _, err := cl.Jobs().Get(ctx, in.job.ID, nil)
	if err == nil {
		v.jobs = append(v.jobs, job)
	}
	return err
}

// follow prints changes until ctx ends.
func (v *devView) follow(ctx context.Context) error {
	var telling sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer telling.Wait()
	defer cancel()
	for _, job := range v.jobs {
		cl := v.cl.WithNamespace(job.Namespace)
		telling.Go(func() { v.c.teller(cl, job.ID, v.out).follow(ctx, cl) })
	}
	q := withResources()
	q.Namespace = "*"
	for {
		list, meta, err := v.cl.Allocations().List(ctx, q)
		if err != nil {
			if ctx.Err() != nil {
				return context.Canceled
			}
			return err
		}
		view.SortAllocations(list)
		for _, a := range list {
			v.say(a)
		}
		if !v.told && len(v.jobs) > 0 && v.everythingRuns(list) {
			v.told = true
			v.out.Say("%s Press Ctrl-C to stop.%s", v.style.Green("All tasks run."), tryIt(list))
			v.sayRoutes()
		}
		q.Index = meta.Index
	}
}

// say prints the line of an allocation if it has changed.
func (v *devView) say(a *api.AllocationListStub) {
	line := v.line(a)
	before, known := v.lines[a.ID]
	if before == line || (!known && a.DesiredStatus != api.AllocDesiredRun) {
		return
	}
	v.lines[a.ID] = line
	v.out.Say("%s", line)
}

// line formats an allocation with its tasks and addresses. It contains no times, so that
// it changes only with the state.
func (v *devView) line(a *api.AllocationListStub) string {
	status := a.ClientStatus
	if a.DesiredStatus != api.AllocDesiredRun && a.ClientStatus == api.AllocClientRunning {
		status = "stopping"
	}
	parts := []string{fmt.Sprintf("  %s  %-24s %s", api.ShortID(a.ID), a.Name, v.style.Status(status))}
	if h := view.Health(a.DeploymentStatus); h != "-" && status == api.AllocClientRunning {
		parts[0] += ", " + v.style.Status(h)
	}
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		parts = append(parts, name+" "+v.taskInWords(a.TaskStates[name]))
	}
	if status == api.AllocClientRunning && a.AllocatedResources != nil {
		for _, port := range a.AllocatedResources.Shared.Ports {
			parts = append(parts, v.style.Cyan(portURL(port)))
		}
	}
	return strings.Join(parts, "  ")
}

// taskInWords formats a task's state, with its last failure.
func (v *devView) taskInWords(s *api.TaskState) string {
	switch {
	case s.State == api.TaskStateDead && s.Failed:
		return v.style.Red("failed") + lastWords(s)
	case s.State == api.TaskStateDead:
		return "ended"
	case s.State == api.TaskStatePending && s.Restarts > 0:
		return v.style.Yellow("restarting") + lastWords(s)
	case s.Restarts > 0:
		return fmt.Sprintf("%s (restarted %s)", v.style.Status(s.State), human.Count(int(s.Restarts), "time", "times"))
	}
	return v.style.Status(s.State)
}

func lastWords(s *api.TaskState) string {
	for i := len(s.Events) - 1; i >= 0; i-- {
		e := s.Events[i]
		switch e.Type {
		case api.EventTerminated, api.EventDriverFailure, api.EventSetupFailure, api.EventDownloadFailed, api.EventFailedValidation:
			if words := view.EventInWords(e); words != "" {
				return " (" + words + ")"
			}
		}
	}
	return ""
}

// portURL returns the address of a port; a URL if its label names HTTP.
func portURL(port api.PortMapping) string {
	if strings.HasPrefix(port.Label, "http") || port.Label == "web" {
		scheme := "http"
		if strings.HasPrefix(port.Label, "https") {
			scheme = "https"
		}
		return scheme + "://" + view.HostPort(port)
	}
	return port.Label + " " + view.HostPort(port)
}

// tryIt suggests a request to an instance that serves HTTP.
func tryIt(list []*api.AllocationListStub) string {
	for _, a := range list {
		if a.ClientStatus != api.AllocClientRunning || a.AllocatedResources == nil {
			continue
		}
		for _, port := range a.AllocatedResources.Shared.Ports {
			if url := portURL(port); strings.HasPrefix(url, "http") && strings.Contains(url, "://") {
				return " Try: curl " + url
			}
		}
	}
	return ""
}

// everythingRuns reports whether every instance of every job is complete, or running
// and, in a deployment, healthy.
func (v *devView) everythingRuns(list []*api.AllocationListStub) bool {
	for _, job := range v.jobs {
		for _, g := range job.Groups {
			well := 0
			for _, a := range list {
				if a.JobID == job.ID && a.Namespace == job.Namespace && a.TaskGroup == g.Name && isWell(job, g, a) {
					well++
				}
			}
			if well < g.Size() && !job.IsPeriodic() && !job.IsParameterized() {
				return false
			}
		}
	}
	return true
}

func isWell(job *api.Job, g *api.Group, a *api.AllocationListStub) bool {
	switch a.ClientStatus {
	case api.AllocClientComplete:
		return job.RunsToCompletion()
	case api.AllocClientRunning:
		deployed := job.Type == api.JobTypeService && g.Update != nil && g.Update.MaxParallel != nil && *g.Update.MaxParallel > 0
		return !deployed || view.Health(a.DeploymentStatus) == "healthy"
	}
	return false
}
