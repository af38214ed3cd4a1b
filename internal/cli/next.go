// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// next writes what could be done now, below the page.
func (p *page) next(commands ...string) {
	if len(commands) == 0 {
		return
	}
	p.WriteByte('\n')
	for _, command := range commands {
		p.line("%s", p.style.dim(command))
	}
}

// jobNext suggests what to look at next, when something of a job is not well.
func (p *page) jobNext(s *jobStatus) {
	var commands []string
	for _, a := range s.Allocations {
		if a.ClientStatus == api.AllocClientFailed && a.DesiredStatus == api.AllocDesiredRun {
			commands = append(commands, fmt.Sprintf("Why it failed:  reeve alloc status %s", api.ShortID(a.ID)))
			break
		}
	}
	if d := s.Deployment; d != nil && d.Status == api.DeploymentFailed && d.JobVersion == s.Version && s.Version > 0 {
		commands = append(commands, fmt.Sprintf("Go back:  reeve job history -p %s; reeve job revert %s VERSION", s.ID, s.ID))
	}
	p.next(commands...)
}

// allocationNext suggests what to look at next for an allocation.
func (p *page) allocationNext(a *api.Allocation) {
	id := api.ShortID(a.ID)
	for _, task := range taskOrder(a) {
		s := a.TaskStates[task]
		if s != nil && (s.Failed || s.Restarts > 0) {
			p.next(fmt.Sprintf("What it said:  reeve alloc logs -stderr %s %s", id, task))
			return
		}
	}
	if a.NextAllocation != "" {
		p.next(fmt.Sprintf("Its replacement:  reeve alloc status %s", api.ShortID(a.NextAllocation)))
	}
}
