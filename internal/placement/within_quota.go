// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A request takes its amount from the order's budget before it looks for a node, and returns it if
// it finds none. What its predecessor uses is returned to the budget at the same time, because both
// change in one log entry.

// A refusedRequest is a request that a quota refuses.
type refusedRequest struct {
	batch     *batch
	request   *Request
	obstacles []api.QuotaObstacle
}

// overQuota reports whether a quota refuses the request. If not, overQuota takes its amount.
func (b *batch) overQuota(r *Request) bool {
	p := b.pass
	if p.order.Budget == nil {
		return false
	}
	p.returnReplaced(r)
	use, pool := r.Group.QuotaUse(), poolOf(r.Job)
	if obstacles := p.order.Budget.Obstacles(use, pool); len(obstacles) > 0 {
		p.takeReplaced(r)
		p.refused = append(p.refused, refusedRequest{b, r, obstacles})
		return true
	}
	p.order.Budget.Take(use, pool)
	return false
}

// returnQuota undoes overQuota for a request that found no node.
func (b *batch) returnQuota(r *Request) {
	if b.pass.order.Budget == nil {
		return
	}
	b.pass.order.Budget.Return(r.Group.QuotaUse(), poolOf(r.Job))
	b.pass.takeReplaced(r)
}

func (p *pass) returnReplaced(r *Request) {
	if use, pool, ok := p.replacedUse(r); ok {
		p.order.Budget.Return(use, pool)
	}
}

func (p *pass) takeReplaced(r *Request) {
	if use, pool, ok := p.replacedUse(r); ok {
		p.order.Budget.Take(use, pool)
	}
}

// replacedUse returns what the allocation that the request replaces uses, if it still counts.
func (p *pass) replacedUse(r *Request) (use api.QuotaUse, pool string, ok bool) {
	if r.Replaces == nil || p.order.Counts != nil && !p.order.Counts(r.Replaces.Alloc.ID) {
		return api.QuotaUse{}, "", false
	}
	use, pool = r.Replaces.Alloc.QuotaUse()
	return use, pool, use != api.QuotaUse{}
}

func poolOf(j *api.Job) string {
	if j == nil || j.NodePool == "" {
		return api.NodePoolDefault
	}
	return j.NodePool
}

// explainQuotas records the requests that quotas refuse.
func (p *pass) explainQuotas() {
	for _, over := range p.refused {
		group := over.request.Group.Name
		add(&p.out.Queued, group, 1)
		if p.out.Quota == "" {
			p.out.Quota = over.obstacles[0].Quota
		}
		m := p.out.Failed[group]
		switch {
		case m == nil:
			if p.out.Failed == nil {
				p.out.Failed = make(map[string]*api.PlacementMetrics)
			}
			all := over.batch.feasibility.metrics(p.view)
			m = &api.PlacementMetrics{NodePool: all.NodePool, NodesInPool: all.NodesInPool, NodesAvailable: all.NodesAvailable}
			p.out.Failed[group] = m
		default:
			m.CoalescedFailures++
		}
		if len(m.QuotaExhausted) > 0 {
			continue // the first refusal of the group explains the others
		}
		for _, o := range over.obstacles {
			if text := o.Text(); !slices.Contains(m.QuotaExhausted, text) {
				m.QuotaExhausted = append(m.QuotaExhausted, text)
			}
		}
	}
}
