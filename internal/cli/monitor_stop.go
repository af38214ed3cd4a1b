// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
)

// stopped waits until a stopped job has no running allocations, and reports it. A purged
// job and its evaluation may no longer exist by then.
func (m *monitor) stopped(ctx context.Context, evalID string, purged bool) error {
	defer m.out.Done()
	e, err := m.evaluation(ctx, evalID)
	switch {
	case err == nil:
		if err := m.placed(e); err != nil {
			return err
		}
	case !purged || api.CodeOf(err) != api.CodeNotFound:
		return err
	}
	if err := m.waitStopped(ctx); err != nil {
		return err
	}
	word := "stopped"
	if purged {
		if err := m.waitRemoved(ctx); err != nil {
			return err
		}
		word = "stopped and deleted"
	}
	fmt.Fprintf(m.c.Stdout, "Job %q is %s.\n", m.jobID, word)
	return nil
}

// waitStopped waits until no allocation of the job runs. It filters all allocations,
// because a purged job has no list of its own.
func (m *monitor) waitStopped(ctx context.Context) error {
	q := withResources()
	q.Filter = fmt.Sprintf("JobID == %q", m.jobID)
	for {
		list, meta, err := m.cl.Allocations().List(ctx, q)
		if err != nil {
			return err
		}
		running := 0
		for _, a := range list {
			if a.ClientStatus == api.AllocClientRunning || a.ClientStatus == api.AllocClientPending {
				running++
			}
		}
		if running == 0 {
			m.out.Done()
			return nil
		}
		m.out.Show("%s to end (%s)", human.Count(running, "allocation has", "allocations have"), human.Duration(m.c.Now().Sub(m.started)))
		q.Index = meta.Index
	}
}

// waitRemoved waits until the plan uninstall of a purged job is complete, and reports
// its reasons to wait. The plan does not exist if the job was registered again, or was
// removed some time before.
func (m *monitor) waitRemoved(ctx context.Context) error {
	q := &client.QueryOptions{}
	for {
		pl, meta, err := m.cl.Plans().Get(ctx, m.jobID, api.PlanUninstall, q)
		switch {
		case api.CodeOf(err) == api.CodeNotFound, err == nil && pl.Status == api.PlanComplete:
			m.out.Done()
			return nil
		case err != nil:
			return err
		}
		m.sayWait(pl)
		m.out.Show("plan uninstall: %d of %d steps are complete (%s)", pl.Completed, pl.Total, human.Duration(m.c.Now().Sub(m.started)))
		q.Index = meta.Index
	}
}
