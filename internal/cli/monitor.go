// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// A monitor follows the effects of a change of a job: its evaluation, then its
// deployment or, without one, its allocations. It reports progress on stderr.
type monitor struct {
	c       *cli
	cl      *client.Client // in the job's namespace
	out     *term.Live
	style   term.Style
	jobID   string
	wide    bool
	started time.Time
	seen    map[string]string // last report, by allocation id
	failed  map[string]bool   // failed allocations
	waits   string            // last reported reason to wait
	trouble *teller
	pulls   pullReport
}

func (c *cli) monitor(cl *client.Client, jobID string, wide bool) *monitor {
	out := c.live()
	cl = c.patient(cl, out.Say)
	return &monitor{
		c: c, cl: cl, out: out, style: c.stderrStyle(), jobID: jobID, wide: wide,
		started: c.Now(), seen: map[string]string{}, failed: map[string]bool{}, trouble: c.teller(cl, jobID, out),
	}
}

// startTimeout limits the time that the monitor waits for a job without a deployment.
const startTimeout = 30 * time.Second

func (m *monitor) id(id string) string {
	if m.wide {
		return id
	}
	return api.ShortID(id)
}

// follow waits for an evaluation and its effects.
func (m *monitor) follow(ctx context.Context, evalID string) error {
	defer m.out.Done()
	e, err := m.evaluation(ctx, evalID)
	if err != nil {
		return err
	}
	if err := m.placed(e); err != nil {
		return err
	}
	job, _, err := m.cl.Jobs().Get(ctx, m.jobID, nil)
	if err != nil {
		return err
	}
	d, err := m.deploymentOf(ctx, e, job)
	switch {
	case err != nil:
		return err
	case d != nil && (d.IsActive() || d.ModifyIndex > e.CreateIndex):
		return m.deployment(ctx, d)
	}
	return m.allocations(ctx, job) // no deployment, or it has ended
}

// evaluation waits until an evaluation is processed.
func (m *monitor) evaluation(ctx context.Context, id string) (*api.Evaluation, error) {
	m.out.Show("waiting for evaluation %s", m.id(id))
	q := &client.QueryOptions{}
	for {
		e, meta, err := m.cl.Evaluations().Get(ctx, id, q)
		if err != nil {
			return nil, err
		}
		if e.Status != api.EvalStatusPending {
			return e, nil
		}
		q.Index = meta.Index
	}
}

// placed reports the result of an evaluation. It fails unless all instances were placed.
func (m *monitor) placed(e *api.Evaluation) error {
	switch {
	case e.Status == api.EvalStatusFailed:
		return fmt.Errorf("evaluation %s failed: %s", m.id(e.ID), cmp.Or(e.StatusDescription, "no reason given"))
	case e.Status == api.EvalStatusCanceled:
		m.out.Say("Evaluation %s was canceled: %s", m.id(e.ID), cmp.Or(e.StatusDescription, "a newer evaluation replaces it"))
	case len(e.FailedGroups) > 0:
		p := &term.Page{Style: m.style, Now: m.c.Now()}
		view.PlacementFailures(p, e.FailedGroups)
		m.out.Say("%s", strings.TrimRight(p.String(), "\n"))
		m.out.Say("The other instances are queued until resources become available.\n"+
			"\"reeve job explain %[1]s\" lists all obstacles; \"reeve job stop %[1]s\" gives up.", view.JobArgs(e.Namespace, m.jobID))
		return exitWith(exitBlocked)
	}
	return nil
}

// deploymentOf returns the deployment that an evaluation created or continued, or nil.
func (m *monitor) deploymentOf(ctx context.Context, e *api.Evaluation, job *api.Job) (*api.Deployment, error) {
	if e.DeploymentID != "" {
		d, _, err := m.cl.Deployments().Get(ctx, e.DeploymentID, nil)
		return d, err
	}
	d, _, err := m.cl.Jobs().LatestDeployment(ctx, job.ID, nil)
	if err != nil || d == nil || d.JobVersion != job.Version {
		return nil, err
	}
	return d, nil
}

// finish prints the running allocations of the job with their addresses.
func (m *monitor) finish(ctx context.Context) error {
	m.out.Done()
	stubs, _, err := m.cl.Jobs().Allocations(ctx, m.jobID, false, withResources())
	if err != nil {
		return err
	}
	var current []*api.AllocationListStub
	for _, a := range stubs {
		if a.DesiredStatus == api.AllocDesiredRun {
			current = append(current, a)
		}
	}
	if len(current) == 0 {
		return nil
	}
	p := m.c.page()
	view.AllocationsWithAddresses(p, current)
	_, err = p.WriteTo(m.c.Stdout)
	return err
}
