// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// maxSteps bounds the search on one node. If the search finishes within it, the result is
// optimal; otherwise, the result is the best set seen.
const maxSteps = 4096

// A victimSearch searches one node for the cheapest set of victims that makes room for one
// more instance.
//
// It walks over sets in the order of the victims, lowest priority first. It prunes a
// branch when even the fewest and least important victims that could still make room would
// cost more than the best set known. It takes equal victims in order only, so that many
// equal victims cost no more than few. Victims that every set needs, for example because
// only they hold a port, are in every set from the start.
type victimSearch struct {
	batch    *batch
	losses   *groupLosses
	page     *page
	at       int   // index of the node in the page
	slot     int32 // slot of the node
	capacity api.Usage
	need     api.Usage
	rest     overlay // taken on the node, without the ending allocations
	victims  []victim
	ending   []*api.Allocation // not in rest

	largest  api.Usage // upper bound of what one victim frees
	everyone []int
	picked   []int
	steps    int

	forced []int
	found  bool
	best   preemptionCost
	set    []int
}

// fits reports whether the node has room without the picked victims, where lacking is the
// amount still lacking.
func (s *victimSearch) fits(picked []int, lacking api.Usage) bool {
	if _, enough := lacking.Fits(api.Usage{}); !enough || !s.batch.choosy {
		return enough
	}
	return s.fitsAll(picked)
}

// fitsAll is fits for all resources, not only amounts.
func (s *victimSearch) fitsAll(picked []int) bool {
	rest := s.rest.fork()
	for _, i := range picked {
		rest.hold(s.victims[i].alloc, -1)
	}
	_, why := s.batch.roomObstacle(s.page, s.at, s.slot, &rest)
	return why.reason == ""
}

// lacking returns the amounts that the node lacks.
func (s *victimSearch) lacking() api.Usage {
	d := s.rest.used.Add(s.need).Sub(s.capacity)
	return api.Usage{CPU: max(d.CPU, 0), MemoryMB: max(d.MemoryMB, 0), DiskMB: max(d.DiskMB, 0)}
}

// run finds the best set. It reports whether one exists.
func (s *victimSearch) run() bool {
	lacking, all := s.lacking(), api.Usage{}
	for i := range s.victims {
		u := s.victims[i].usage
		all = all.Add(u)
		s.largest = api.Usage{CPU: max(s.largest.CPU, u.CPU), MemoryMB: max(s.largest.MemoryMB, u.MemoryMB), DiskMB: max(s.largest.DiskMB, u.DiskMB)}
		s.everyone = append(s.everyone, i)
	}
	if _, enough := lacking.Fits(all); !enough || !s.fitsAll(s.everyone) {
		return false
	}
	s.addForcedVictims()
	s.picked = append(s.picked, s.forced...)
	so := s.costOf(s.forced)
	so.excess = 0
	for _, i := range s.forced {
		lacking = lacking.Sub(s.victims[i].usage)
		s.losses.add(s.victims[i].group)
	}
	s.branch(0, lacking, so)
	for _, i := range s.forced {
		s.losses.drop(s.victims[i].group)
	}
	if !s.found {
		s.dropUnneeded(s.everyone)
	}
	return true
}

// addForcedVictims finds the victims without which all other victims together are not
// enough.
func (s *victimSearch) addForcedVictims() {
	if !s.batch.choosy {
		return
	}
	for i := range s.victims {
		if s.victims[i].more && !s.fitsAll(slices.Delete(slices.Clone(s.everyone), i, i+1)) {
			s.forced = append(s.forced, i)
		}
	}
}

// minVictims returns a lower bound of the number of further victims needed to free the
// lacking amounts.
func (s *victimSearch) minVictims(lacking api.Usage) int {
	return max(1, over(lacking.CPU, s.largest.CPU), over(lacking.MemoryMB, s.largest.MemoryMB), over(lacking.DiskMB, s.largest.DiskMB))
}

func over(lacking, largest int64) int {
	if lacking <= 0 {
		return 0
	}
	if largest <= 0 {
		return 1
	}
	return int((lacking + largest - 1) / largest)
}

func (s *victimSearch) branch(from int, lacking api.Usage, so preemptionCost) {
	if s.fits(s.picked, lacking) {
		so.excess = s.excess(lacking)
		if !s.found || so.compare(s.best) < 0 {
			s.found, s.best, s.set = true, so, append(s.set[:0], s.picked...)
		}
		return
	}
	for i := from; i < len(s.victims); i++ {
		if s.steps++; s.steps > maxSteps {
			return
		}
		v := &s.victims[i]
		if slices.Contains(s.forced, i) || !s.helps(v, lacking) {
			continue
		}
		if i > from && v.alike(&s.victims[i-1]) {
			continue
		}
		least := so
		more := s.minVictims(lacking)
		least.count += more
		least.priority += more * v.priority // later victims have no lower priority
		if s.found && least.compareCoarse(s.best) > 0 {
			return
		}
		next := so
		next.count++
		next.priority += v.priority
		next.over += s.losses.add(v.group)
		if !s.found || next.compareCoarse(s.best) <= 0 {
			s.picked = append(s.picked, i)
			s.branch(i+1, lacking.Sub(v.usage), next)
			s.picked = s.picked[:len(s.picked)-1]
		}
		s.losses.drop(v.group)
	}
}

// helps reports whether preempting the victim frees a resource that the node lacks.
func (s *victimSearch) helps(v *victim, lacking api.Usage) bool {
	return lacking.CPU > 0 && v.usage.CPU > 0 || lacking.MemoryMB > 0 && v.usage.MemoryMB > 0 ||
		lacking.DiskMB > 0 && v.usage.DiskMB > 0 || v.more && s.batch.choosy
}

// excess returns the share of the node that is freed beyond the lacking amounts: negative
// amounts are excess.
func (s *victimSearch) excess(lacking api.Usage) float64 {
	share := func(lacking, capacity int64) float64 {
		if lacking >= 0 || capacity <= 0 {
			return 0
		}
		return float64(-lacking) / float64(capacity)
	}
	return share(lacking.CPU, s.capacity.CPU) + share(lacking.MemoryMB, s.capacity.MemoryMB) + share(lacking.DiskMB, s.capacity.DiskMB)
}

// dropUnneeded removes unneeded victims from a set that makes room, the most important
// first. It is the fallback when the walk exceeded its limit before it found a set.
func (s *victimSearch) dropUnneeded(set []int) {
	for i := len(set) - 1; i >= 0; i-- {
		without := slices.Delete(slices.Clone(set), i, i+1)
		if s.fitsAll(without) {
			set = without
		}
	}
	s.found, s.set, s.best = true, set, s.costOf(set)
}

func (s *victimSearch) costOf(set []int) preemptionCost {
	var h preemptionCost
	lacking := s.lacking()
	for _, i := range set {
		v := &s.victims[i]
		h.count++
		h.priority += v.priority
		h.over += s.losses.add(v.group)
		lacking = lacking.Sub(v.usage)
	}
	for _, i := range set {
		s.losses.drop(s.victims[i].group)
	}
	h.excess = s.excess(lacking)
	return h
}
