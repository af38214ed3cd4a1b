// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

var routesByClaim = order[*api.RouteListStub]{
	key: func(r *api.RouteListStub) key {
		return key{id: fmt.Sprintf("%s %s %s %s", r.Claim, r.Namespace, r.JobID, r.Group)}
	},
}

// listRoutes lists the routes of the jobs that hold theirs, and those of stacks outside of Reeve.
// Prefix is of the claim.
func listRoutes(c *call, v *state.Snapshot) ([]*api.RouteListStub, uint64, error) {
	asked := c.query.Get("job")
	var all []*api.RouteListStub
	for job := range v.JobsPrefix(c.namespace, "") {
		if !job.Stop {
			all = append(all, routesOf(v, job)...)
		}
	}
	for stack := range v.Stacks(c.namespace) {
		all = append(all, externalRoutes(stack)...)
	}
	divide(all, func(r *api.RouteListStub) (float64, bool) {
		return server.HostShare(v, r.Namespace, r.JobID, r.Route.Host)
	})
	all = slices.DeleteFunc(all, func(r *api.RouteListStub) bool {
		return !strings.HasPrefix(r.Claim, c.prefix) || asked != "" && r.JobID != asked
	})
	page, err := pageOf(c, routesByClaim, slices.Values(all))
	return page, v.TableIndex(c.route.Tables...), err
}

// divide computes the share of its claim's traffic that each route receives. HTTP and gRPC are
// divided separately. As in routers, stacks divide a host by their shares: shareOf returns that of a
// job, and whether the job is a stack. Other jobs beside stacks receive nothing, and neither do
// routes without routable instances.
func divide(all []*api.RouteListStub, shareOf func(*api.RouteListStub) (share float64, isStack bool)) {
	type traffic struct{ namespace, protocol, claim string }
	of := func(r *api.RouteListStub) traffic { return traffic{r.Namespace, r.Route.Protocol, r.Claim} }
	sums, stacks := map[traffic]float64{}, map[traffic]bool{}
	shares, isStacks := make([]float64, len(all)), make([]bool, len(all))
	for i, r := range all {
		share, isStack := shareOf(r)
		shares[i], isStacks[i] = share, isStack
		switch {
		case isStack && !stacks[of(r)]:
			stacks[of(r)], sums[of(r)] = true, 0
		case !isStack && stacks[of(r)]:
			continue
		}
		switch {
		case !isStack:
			sums[of(r)] += float64(r.Weight * r.Routable)
		case r.Routable > 0:
			sums[of(r)] += share
		}
	}
	for i, r := range all {
		sum := sums[of(r)]
		switch {
		case sum == 0 || r.Routable == 0 || isStacks[i] != stacks[of(r)]:
		case isStacks[i]:
			r.Share = shares[i] / sum
		default:
			r.Share = float64(r.Weight*r.Routable) / sum
		}
	}
}

// externalRoutes returns the routes of a stack outside of Reeve, whose address counts as an instance.
func externalRoutes(s *api.Stack) (all []*api.RouteListStub) {
	if !s.IsExternal() || s.Status == api.StackTerminated {
		return nil
	}
	for _, r := range s.ExternalJob().Groups[0].Routes {
		all = append(all, &api.RouteListStub{
			Claim: r.Claim(), Namespace: s.Namespace, JobID: s.Name, Group: api.ShapeExternal, Route: r, Weight: 1, Routable: 1, Total: 1,
		})
	}
	return all
}

func routesOf(v *state.Snapshot, job *api.Job) (all []*api.RouteListStub) {
	for _, g := range job.Groups {
		if len(g.Routes) == 0 {
			continue
		}
		routable, total := 0, 0
		for a := range v.AllocationsByJob(job.Namespace, job.ID) {
			if a.Group != g.Name {
				continue
			}
			if a.IsRoutable() {
				routable++
			}
			if !a.IsTerminal() {
				total++
			}
		}
		total = max(total, g.Size())
		for _, r := range g.Routes {
			weight := 1
			if r.Weight != nil {
				weight = *r.Weight
			}
			all = append(all, &api.RouteListStub{
				Claim: r.Claim(), Namespace: job.Namespace, JobID: job.ID, Group: g.Name, Route: r,
				Weight: weight, Routable: routable, Total: total,
			})
		}
	}
	slices.SortStableFunc(all, func(a, b *api.RouteListStub) int { return cmp.Compare(a.Claim, b.Claim) })
	return all
}
