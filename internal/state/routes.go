// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// CheckRoutes refuses a job that claims a route which another one holds. The
// router is shared, so that one may be of any namespace; one that is stopped, or
// only starts others, holds nothing. Within a job, groups may share a claim.
func (c *content) CheckRoutes(job *api.Job) error {
	wanted := map[string]string{} // claim: who wants it
	for _, g := range job.Groups {
		for i, r := range g.Routes {
			wanted[r.Claim()] = fmt.Sprintf("group %q, route %d", g.Name, i+1)
		}
	}
	if len(wanted) == 0 || !holdsRoutes(job) {
		return nil
	}
	var taken []string
	for other := range c.Jobs() {
		if !holdsRoutes(other) || other.Key() == job.Key() {
			continue
		}
		for _, g := range other.Groups {
			for _, r := range g.Routes {
				claim := r.Claim()
				if who, ok := wanted[claim]; ok {
					taken = append(taken, fmt.Sprintf("%s: %s is routed to group %q of job %q in namespace %q",
						who, claim, g.Name, other.ID, other.Namespace))
					delete(wanted, claim) // said once, of however many groups
				}
			}
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return &api.Error{
		Code:    api.CodeConflict,
		Message: fmt.Sprintf("job %q wants routes that other jobs hold: choose another host, path or port, or stop those jobs first", job.ID),
		Detail:  taken,
	}
}

func holdsRoutes(job *api.Job) bool {
	return !job.Stop && !job.IsPeriodic() && !job.IsParameterized()
}
