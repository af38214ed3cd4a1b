// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var routesByClaim = order[*api.RouteListStub]{
	key: func(r *api.RouteListStub) key {
		return key{id: fmt.Sprintf("%s %s %s %s", r.Claim, r.Namespace, r.JobID, r.Group)}
	},
}

// listRoutes lists the routes of the jobs that hold theirs. Prefix is of the
// claim.
func listRoutes(c *call, v *state.Snapshot) ([]*api.RouteListStub, uint64, error) {
	asked := c.query.Get("job")
	var all []*api.RouteListStub
	for job := range v.JobsPrefix(c.namespace, "") {
		if !job.Stop {
			all = append(all, routesOf(v, job)...)
		}
	}
	divide(all)
	all = slices.DeleteFunc(all, func(r *api.RouteListStub) bool {
		return !strings.HasPrefix(r.Claim, c.prefix) || asked != "" && r.JobID != asked
	})
	page, err := pageOf(c, routesByClaim, slices.Values(all))
	return page, v.TableIndex(c.route.Tables...), err
}

// divide says what part of its claim's traffic each route gets. HTTP and gRPC are
// divided apart from one another.
func divide(all []*api.RouteListStub) {
	type traffic struct{ namespace, protocol, claim string }
	of := func(r *api.RouteListStub) traffic { return traffic{r.Namespace, r.Route.Protocol, r.Claim} }
	sums := map[traffic]int{}
	for _, r := range all {
		sums[of(r)] += r.Weight * r.Routable
	}
	for _, r := range all {
		if sum := sums[of(r)]; sum > 0 {
			r.Share = float64(r.Weight*r.Routable) / float64(sum)
		}
	}
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
