// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A routeClaim is a job's claim to a route.
type routeClaim struct {
	where  string // first route that makes the claim
	shared bool   // reports whether all of the job's routes with this claim are shared
}

// claimsOf returns the job's claims. Groups of one job may share a claim.
func claimsOf(job *api.Job) map[string]routeClaim {
	claims := map[string]routeClaim{}
	for _, g := range job.Groups {
		for i, r := range g.Routes {
			c, again := claims[r.Claim()]
			if !again {
				c = routeClaim{fmt.Sprintf("group %q, route %d", g.Name, i+1), true}
			}
			c.shared = c.shared && r.Shared
			claims[r.Claim()] = c
		}
	}
	return claims
}

// CheckRoutes rejects a job that claims a route of another job, unless both share it and
// belong to the same namespace. The router serves all namespaces, so the other job may
// belong to any. Jobs that are stopped, or only start children, hold no routes.
func (c *content) CheckRoutes(job *api.Job) error {
	wanted := claimsOf(job)
	if len(wanted) == 0 || !holdsRoutes(job) {
		return nil
	}
	var taken []string
	for other := range c.Jobs() {
		if !holdsRoutes(other) || other.Key() == job.Key() || !hasRoutes(other) {
			continue
		}
		held := claimsOf(other)
		for _, g := range other.Groups {
			for _, r := range g.Routes {
				claim := r.Claim()
				mine, ok := wanted[claim]
				if ok = ok && !(mine.shared && held[claim].shared && other.Namespace == job.Namespace); ok {
					taken = append(taken, fmt.Sprintf("%s: %s is routed to group %q of job %q in namespace %q%s",
						mine.where, claim, g.Name, other.ID, other.Namespace, whyUnshared(mine.shared, held[claim].shared)))
					delete(wanted, claim) // report the claim once for all groups
				}
			}
		}
	}
	taken = append(taken, c.externalClaims(job, wanted)...)
	if len(taken) == 0 {
		return nil
	}
	return &api.Error{
		Code: api.CodeConflict,
		Message: fmt.Sprintf("job %q wants routes that other jobs hold: choose another host, path or port, stop those jobs first, "+
			"or share the routes with jobs of the same namespace by shared = true in each", job.ID),
		Detail: taken,
	}
}

// externalClaims describes the routes that a job wants and that stacks outside of Reeve hold.
func (c *content) externalClaims(job *api.Job, wanted map[string]routeClaim) (taken []string) {
	for s := range c.Stacks("*") {
		if !s.IsExternal() || s.Status == api.StackTerminated || s.Namespace == job.Namespace && s.Name == job.ID {
			continue
		}
		for _, r := range s.ExternalJob().Groups[0].Routes {
			claim := r.Claim()
			if mine, ok := wanted[claim]; ok && !(mine.shared && s.Namespace == job.Namespace) {
				taken = append(taken, fmt.Sprintf("%s: %s is routed to stack %s in namespace %q%s", mine.where, claim, s.Name, s.Namespace, whyUnshared(mine.shared, true)))
				delete(wanted, claim)
			}
		}
	}
	return taken
}

// whyUnshared explains why a claim is not shared.
func whyUnshared(mine, theirs bool) string {
	switch {
	case mine && theirs:
		return "; it is shared within one namespace only"
	case mine:
		return ", which does not share it: its route has no shared = true"
	case theirs:
		return ", which shares it: set shared = true here, too"
	}
	return ""
}

func hasRoutes(job *api.Job) bool {
	return slices.ContainsFunc(job.Groups, func(g *api.Group) bool { return len(g.Routes) > 0 })
}

func holdsRoutes(job *api.Job) bool {
	return !job.Stop && !job.IsPeriodic() && !job.IsParameterized()
}
