// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// An update is one response to one of the monitor's queries.
type update struct {
	deployment *api.Deployment
	allocs     []*api.AllocationListStub
	plan       *api.Plan
	troubles   []*api.Trouble
	looked     bool // troubles is set, even if it is empty
	err        error
}

// watch repeats a blocking query and sends every response, until ctx ends or the query
// fails.
func watch[T any](ctx context.Context, updates chan<- update,
	get func(context.Context, *client.QueryOptions) (T, *client.QueryMeta, error), wrap func(T) update,
) {
	q := withResources()
	for {
		v, meta, err := get(ctx, q)
		u := update{err: err}
		if err == nil {
			u = wrap(v)
			q.Index = meta.Index
		}
		select {
		case updates <- u:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (m *monitor) watchAllocations(ctx context.Context, updates chan<- update) {
	watch(ctx, updates, func(ctx context.Context, q *client.QueryOptions) ([]*api.AllocationListStub, *client.QueryMeta, error) {
		return m.cl.Jobs().Allocations(ctx, m.jobID, false, q)
	}, func(list []*api.AllocationListStub) update { return update{allocs: list} })
}

func (m *monitor) watchDeployment(ctx context.Context, id string, updates chan<- update) {
	watch(ctx, updates, func(ctx context.Context, q *client.QueryOptions) (*api.Deployment, *client.QueryMeta, error) {
		return m.cl.Deployments().Get(ctx, id, q)
	}, func(d *api.Deployment) update { return update{deployment: d} })
}

// redraw is the interval at which a terminal's elapsed time is updated.
const redraw = 500 * time.Millisecond

// deployment follows a deployment until it ends. It fails unless the deployment
// succeeds.
func (m *monitor) deployment(ctx context.Context, d *api.Deployment) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	updates := make(chan update)
	go m.watchAllocations(watching, updates)
	go m.watchDeployment(watching, d.ID, updates)
	go m.watchPlan(watching, updates)
	go m.watchTroubles(watching, d.JobVersion, updates)
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	m.out.Say("Deployment %s of version %d", m.id(d.ID), d.JobVersion)
	progress := ""
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case u := <-updates:
			if u.err != nil {
				return u.err
			}
			m.sayAllocations(u.allocs, d.JobVersion)
			m.sayPulls(u.allocs, d.JobVersion)
			m.sayWait(u.plan)
			if u.looked {
				m.trouble.take(u.troubles)
			}
			if u.deployment != nil {
				d = u.deployment
			}
		}
		m.trouble.tell(ctx)
		if now := deploymentProgress(d); now != progress {
			progress = now
			m.out.Say("  %s", progress)
		}
		if !d.IsActive() {
			cancel()
			return m.deploymentEnded(ctx, d)
		}
		m.show(progress)
	}
}

// deploymentProgress describes the progress of each group.
func deploymentProgress(d *api.Deployment) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d.Groups)) {
		g := d.Groups[name]
		text := fmt.Sprintf("%s: %d of %d healthy", name, g.HealthyAllocs, g.DesiredTotal)
		if g.UnhealthyAllocs > 0 {
			text += fmt.Sprintf(", %d unhealthy", g.UnhealthyAllocs)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func (m *monitor) deploymentEnded(ctx context.Context, d *api.Deployment) error {
	m.out.Done()
	if d.Status == api.DeploymentSuccessful {
		m.out.Say("%s", m.style.Green(fmt.Sprintf("Version %d runs.", d.JobVersion)))
		return m.finish(ctx)
	}
	if !m.sumUp(ctx, d.JobVersion, d.Troubles) {
		m.explainFailures(ctx)
	}
	return fmt.Errorf("deployment %s is %s: %s\n\"reeve deployment status %s\" shows details; running the same job again tries again",
		m.id(d.ID), d.Status, cmp.Or(d.StatusDescription, "no reason given"), api.ShortID(d.ID))
}

// allocations follows a job without a deployment until each of its allocations has
// started or ended.
func (m *monitor) allocations(ctx context.Context, job *api.Job) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	updates := make(chan update)
	go m.watchAllocations(watching, updates)
	go m.watchTroubles(watching, job.Version, updates)
	late := time.NewTimer(startTimeout)
	defer late.Stop()
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			m.trouble.tell(ctx)
			m.show("")
		case <-late.C:
			if m.cl.IsLost() || m.pulls.line != "" {
				late.Reset(startTimeout)
				continue
			}
			cancel()
			m.out.Say("Not all allocations have started after %s; the servers continue without this command.", startTimeout)
			return m.finish(ctx)
		case u := <-updates:
			if u.err != nil && ctx.Err() == nil {
				return u.err
			}
			if u.looked {
				m.trouble.take(u.troubles)
				m.trouble.tell(ctx)
				continue
			}
			m.sayAllocations(u.allocs, job.Version)
			m.sayPulls(u.allocs, job.Version)
			if u.err == nil && allStarted(u.allocs) {
				cancel()
				return m.allocationsStarted(ctx, job.Version)
			}
		}
	}
}

func (m *monitor) allocationsStarted(ctx context.Context, version uint64) error {
	if len(m.failed) > 0 {
		if !m.sumUp(ctx, version, nil) {
			m.explainFailures(ctx)
		}
		if err := m.finish(ctx); err != nil {
			return err
		}
		return fmt.Errorf("%s failed", human.Count(len(m.failed), "allocation", "allocations"))
	}
	return m.finish(ctx)
}

// allStarted reports whether no desired allocation is pending.
func allStarted(list []*api.AllocationListStub) bool {
	for _, a := range list {
		if a.DesiredStatus == api.AllocDesiredRun && a.ClientStatus == api.AllocClientPending {
			return false
		}
	}
	return true
}

// sayAllocations reports changes of the allocations of a version.
func (m *monitor) sayAllocations(list []*api.AllocationListStub, version uint64) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	for _, a := range list {
		if a.JobVersion != version {
			continue
		}
		line := m.style.Status(a.ClientStatus)
		if h := view.Health(a.DeploymentStatus); h != "-" && a.ClientStatus == api.AllocClientRunning {
			line += ", " + m.style.Status(h)
		}
		if where := view.StubAddresses(a); where != "-" {
			line += " at " + where
		}
		_, known := m.seen[a.ID]
		if m.seen[a.ID] == line || (!known && a.ClientStatus == api.AllocClientComplete && a.DesiredStatus != api.AllocDesiredRun) {
			continue
		}
		m.seen[a.ID] = line
		m.out.Say("  %s %s %s", m.id(a.ID), a.Name, line)
		if a.ClientStatus == api.AllocClientFailed {
			m.failed[a.ID] = true
		}
	}
}

// explainFailures reports why allocations failed, and suggests commands.
func (m *monitor) explainFailures(ctx context.Context) {
	for _, id := range slices.Sorted(maps.Keys(m.failed)) {
		a, _, err := m.cl.Allocations().Get(ctx, id, nil)
		if err != nil {
			continue
		}
		m.out.Say("\nAllocation %s failed:", a)
		for _, task := range slices.Sorted(maps.Keys(a.TaskStates)) {
			for _, e := range lastEvents(a.TaskStates[task], 4) {
				m.out.Say("  %s: %s", task, cmp.Or(view.EventInWords(e), e.Type))
			}
		}
		m.out.Say("  \"reeve alloc logs -stderr %s\" shows its output.", api.ShortID(id))
	}
}

func lastEvents(s *api.TaskState, n int) []*api.TaskEvent {
	if s == nil {
		return nil
	}
	return s.Events[max(0, len(s.Events)-n):]
}
