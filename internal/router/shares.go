// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
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
	stack *api.StackShare // nil for a job that is no stack, and for pools of names
	// preview tells who may preview the stack on the pool's host, one of the api.Preview constants or "".
	preview string
}

// applyShares takes in the shares of an update, and returns the jobs whose share has changed.
func (a *applier) applyShares(u *api.CatalogUpdate) (changed []string) {
	before := a.shares
	if u.Complete {
		a.shares = make(map[string]*api.StackShare, len(u.Stacks))
	}
	for _, s := range u.Stacks {
		if s == nil {
			continue
		}
		job := s.Namespace + "/" + s.Stack
		if s.Removed {
			delete(a.shares, job)
		} else {
			a.shares[job] = s
		}
		changed = append(changed, job)
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

// newSharedPool makes a pool, and divides it by stack if some of its targets belong to stacks, which
// are given by job. Each stack has its share of the pool's host. Targets without a stack have a
// share of 0 beside stacks.
func newSharedPool(key poolKey, targets []target, counts *counters, shares map[string]*api.StackShare) *pool {
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
	slices.SortFunc(jobs, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(shares[a]), rank(shares[b])), strings.Compare(a, b))
	})
	sum := 0.0
	for _, job := range jobs {
		s := stackPool{job: job, pool: newPool(key, byJob[job], counts), stack: shares[job]}
		if s.stack != nil {
			s.share = s.stack.HostShare(key.host)
		}
		if e := s.pool.exposure(); e != nil {
			s.preview = e.Preview
			p.byClient = p.byClient || e.Sticky == api.StickyClient && s.share > 0
			p.previews = p.previews || e.Preview != ""
		}
		sum += s.share
		s.upTo = sum
		p.stacks = append(p.stacks, s)
	}
	return p
}

// rank puts the newer end of a shift first: it has the positions of clients from 0 to its share.
func rank(s *api.StackShare) int {
	if s != nil && s.ShiftEnd == api.ShiftEndTo {
		return 0
	}
	return 1
}

// exposure returns the exposure that the pool's targets serve, or nil.
func (p *pool) exposure() *api.StackExposure {
	if len(p.targets) == 0 {
		return nil
	}
	return p.targets[0].exposure
}

// pickStack chooses a stack by the client's position, or draws one by share, and chooses an
// instance of it. The sum of the shares is that of stacks with targets, so a stack without any
// gives its share to the others. If no instance of the stack fits, another stack with a share
// serves the request.
func (p *pool) pickStack(position float64, session string, tried []*instance, now int64) (target, bool) {
	total := p.stacks[len(p.stacks)-1].upTo
	if total == 0 {
		return target{}, false
	}
	if position == anywhere {
		position = rand.Float64()
	}
	u := position * total
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
