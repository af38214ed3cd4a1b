// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A stackPool is the part of a pool that belongs to one stack.
type stackPool struct {
	job   string
	upTo  float64 // sum of the shares up to and with this stack, of all that have targets
	share float64
	pool  *pool
}

// applyShares takes in the shares of an update, and returns the jobs whose share has changed.
func (a *applier) applyShares(u *api.CatalogUpdate) (changed []string) {
	before := a.shares
	if u.Complete {
		a.shares = make(map[string]float64, len(u.Stacks))
	}
	for _, s := range u.Stacks {
		job := s.Namespace + "/" + s.Stack
		share, known := before[job]
		if s.Removed {
			delete(a.shares, job)
		} else {
			a.shares[job] = s.Share
		}
		if s.Removed || !known || share != s.Share {
			changed = append(changed, job)
		}
	}
	if u.Complete {
		for job := range before {
			if _, stays := a.shares[job]; !stays {
				changed = append(changed, job)
			}
		}
	}
	return changed
}

// newSharedPool makes a pool, and divides it by stack if some of its targets belong to stacks, whose
// shares are given by job. Targets without a stack have a share of 0 beside stacks.
func newSharedPool(key poolKey, targets []target, counts *counters, shares map[string]float64) *pool {
	p := newPool(key, targets, counts)
	isShared := func(t target) bool { _, ok := shares[t.job]; return ok }
	if len(shares) == 0 || !slices.ContainsFunc(targets, isShared) {
		return p
	}
	byJob := make(map[string][]target)
	var jobs []string
	for _, t := range targets {
		if byJob[t.job] == nil {
			jobs = append(jobs, t.job)
		}
		byJob[t.job] = append(byJob[t.job], t)
	}
	slices.SortFunc(jobs, strings.Compare)
	sum := 0.0
	for _, job := range jobs {
		sum += shares[job]
		p.stacks = append(p.stacks, stackPool{job: job, upTo: sum, share: shares[job], pool: newPool(key, byJob[job], counts)})
	}
	return p
}

// pickStack draws a stack by share, and an instance of it. The sum of the shares is that of
// stacks with targets, so a stack without any gives its share to the others. If no
// instance of the stack fits, another stack with a share serves the request.
func (p *pool) pickStack(session string, tried []*instance, now int64) (target, bool) {
	total := p.stacks[len(p.stacks)-1].upTo
	if total == 0 {
		return target{}, false
	}
	u := rand.Float64() * total
	drawn := 0
	for drawn < len(p.stacks)-1 && (p.stacks[drawn].share == 0 || u >= p.stacks[drawn].upTo) {
		drawn++
	}
	if t, ok := p.stacks[drawn].pool.pick(session, tried, now); ok {
		return t, true
	}
	for i := range p.stacks {
		if i != drawn && p.stacks[i].share > 0 {
			if t, ok := p.stacks[i].pool.pick(session, tried, now); ok {
				return t, true
			}
		}
	}
	return target{}, false
}
