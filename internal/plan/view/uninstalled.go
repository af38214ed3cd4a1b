// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Uninstalled returns the complete plan uninstall of a removed job. Its elements have
// the same ids as before the removal. Whole adds phases, steps and decisions.
func Uninstalled(u *api.Uninstalled, whole bool) *api.Plan {
	key, at := u.Key(), time.Unix(0, u.EndedAt)
	p := &api.Plan{
		ID: UninstallID(key), Name: api.PlanUninstall, Namespace: u.Namespace, JobID: u.JobID, JobVersion: u.JobVersion,
		Strategy: api.StrategySerial, Status: tree.Complete, Message: "the job is removed", Since: at,
		Completed: u.Allocations + 1, Total: u.Allocations + 1,
	}
	if !whole {
		return p
	}
	stepID := func(phase, step string) string {
		return ident.Derive("step", key.Namespace, key.ID, api.PlanUninstall, phase, step, "")
	}
	phase := func(name, strategy string, steps int) *api.Phase {
		return &api.Phase{
			ID: ident.Derive("phase", key.Namespace, key.ID, api.PlanUninstall, name), Name: name, Strategy: strategy, Status: tree.Complete,
			Completed: steps, Total: steps, Steps: []*api.Step{},
		}
	}
	kill := phase(derive.PhaseKill, api.StrategyParallel, u.Allocations)
	for _, k := range u.Killed {
		name, ended := derive.KillName(k.Group, k.Index, k.ID), time.Unix(0, k.EndedAt)
		kill.Steps = append(kill.Steps, &api.Step{
			ID: stepID(derive.PhaseKill, name), Name: name, Status: tree.Complete, Since: ended,
			Group: k.Group, Index: k.Index, Allocation: k.ID, JobVersion: k.JobVersion,
		})
		if ended.After(kill.Since) {
			kill.Since = ended
		}
	}
	slices.SortFunc(kill.Steps, func(a, b *api.Step) int { return strings.Compare(a.Name, b.Name) })
	if more := u.Allocations - len(u.Killed); more > 0 {
		kill.Message = fmt.Sprintf("%d more steps are complete; a removed job shows %d", more, len(u.Killed))
	}
	forget := phase(derive.PhaseDeregister, api.StrategySerial, 1)
	forget.After, forget.Since = []string{derive.PhaseKill}, at
	forget.Steps = append(forget.Steps, &api.Step{
		ID: stepID(derive.PhaseDeregister, derive.PhaseDeregister), Name: derive.PhaseDeregister, Status: tree.Complete, Since: at, JobVersion: u.JobVersion,
	})
	p.Phases, p.Decisions = []*api.Phase{kill, forget}, slices.Clone(u.Decisions)
	return p
}

// UninstallID returns the id of a job's plan uninstall.
func UninstallID(job api.NamespacedID) string {
	return ident.Derive("plan", job.Namespace, job.ID, api.PlanUninstall)
}
