// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/plantree"
)

// watchPlan watches the plan deploy of the job: its whole tree while it waits for an
// operator, otherwise only its status. It ends if the query fails, because the monitor's
// result does not depend on it.
func (m *monitor) watchPlan(ctx context.Context, updates chan<- update) {
	q := &client.QueryOptions{}
	for {
		list, meta, err := m.cl.Plans().OfJob(ctx, m.jobID, q)
		if err != nil {
			return
		}
		for _, pl := range list {
			if pl.Name != api.PlanDeploy {
				continue
			}
			if pl.Status == api.PlanWaiting {
				if tree, _, err := m.cl.Plans().Get(ctx, m.jobID, pl.Name, nil); err == nil {
					pl = tree
				}
			}
			select {
			case updates <- update{plan: pl}:
			case <-ctx.Done():
				return
			}
		}
		q.Index = meta.Index
	}
}

// sayWait reports that a deployment waits for an operator, with the reason and the next
// commands.
func (m *monitor) sayWait(pl *api.Plan) {
	if pl == nil {
		return
	}
	line := ""
	if why := waitsFor(pl); why != "" {
		line = strings.Join(append([]string{m.style.Yellow("Waiting: ") + why}, plantree.Next(pl)...), "\n    ")
	}
	if m.waits != line {
		m.waits = line
		if line != "" {
			m.out.Say("  %s", line)
		}
	}
}

// waitsFor returns the reason why a plan waits for an operator, or "".
func waitsFor(pl *api.Plan) string {
	if pl.Status != api.PlanWaiting {
		return ""
	}
	if pl.Message != "" || pl.Interrupted {
		return cmp.Or(pl.Message, "plan "+pl.Name+" is interrupted")
	}
	for _, phase := range pl.Phases {
		if phase.Status != api.PlanWaiting {
			continue
		}
		if phase.Message != "" {
			return "phase " + phase.Name + ": " + phase.Message
		}
		for _, s := range phase.Steps {
			if s.Status == api.PlanWaiting {
				return s.Name + ": " + cmp.Or(s.Message, "waits for an operator to continue it")
			}
		}
	}
	return "waits for an operator to continue it"
}
