// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/heap"
)

// blocked holds the evaluations that wait for a change, at most one per job.
//
// Waking every evaluation that a change might help is correct but ruinous: one task that
// ends on a full fleet would cause thousands of jobs to be evaluated for room that one of
// them gets. A change is therefore an *offer* of the free room on a node. It wakes only as
// many evaluations as the room suffices for, most urgent first. When the woken evaluations
// are done, the offer is repeated to those that have not examined it yet, so room that the
// first ones did not take is not lost.
//
// Similar jobs are blocked for similar reasons. Evaluations are grouped by what would help
// them, so an offer takes as many steps as there are distinct wants.
type blocked struct {
	byJob map[api.NamespacedID]*item
	wants map[demandKey]*demandSet
	sets  map[string]*classSet
	known map[uintptr]*classSet // by address of the map of classes

	// smallest is a lower bound of the need of every sized want. Most offers are too small
	// for all wants and end at this check. The bound is exact after a scan of all wants.
	smallest api.Usage
	unsized  int // number of items of unknown size

	limited map[string]map[api.NamespacedID]*item // items that wait for a quota, by each quota of their namespace
}

// An item is one blocked evaluation.
type item struct {
	eval   *api.Evaluation
	want   *demandSet // nil: no change of a node helps
	count  int64      // waiting instances
	slot   int
	limits limits
}

// A demand is a lower bound of what one waiting instance of an evaluation takes.
type demand struct {
	api.Usage
	sized bool // reports whether Usage is known
	count int64
	fixed bool // reports whether its instances belong to certain nodes

	limits limits // if it waits for a quota
}

// A demandKey identifies what helps an evaluation: the node classes and the room.
type demandKey struct {
	classes *classSet
	need    api.Usage
	sized   bool
	fixed   bool
}

// A demandSet holds the blocked evaluations with one wantKey.
type demandSet struct {
	demandKey
	waiting heap.Indexed[*item] // by priority, then age
}

// A classSet holds the node classes that an evaluation examined: true for those that could
// take what it lacks, false for those that could not.
type classSet struct {
	key     string
	any     bool // reports whether a change of any node helps
	classes map[string]bool
	wants   int
}

// An offer is the room that a change has freed on a node.
type offer struct {
	node, class string
	index       uint64    // index of the change; evaluations of a later snapshot have seen it
	free        api.Usage // free room now
	sized       bool      // reports whether free is known
	whole       bool      // reports whether each evaluation may have all of the room
	lacks       func(e *api.Evaluation, node string) bool
}

func newBlocked() *blocked {
	return &blocked{
		byJob: map[api.NamespacedID]*item{}, wants: map[demandKey]*demandSet{},
		sets: map[string]*classSet{}, known: map[uintptr]*classSet{}, smallest: unlimited,
		limited: map[string]map[api.NamespacedID]*item{},
	}
}

var unlimited = api.Usage{CPU: math.MaxInt64, MemoryMB: math.MaxInt64, DiskMB: math.MaxInt64}

func (b *blocked) add(e *api.Evaluation, n demand) {
	i := &item{eval: e, count: max(n.count, 1), slot: -1, limits: n.limits}
	b.byJob[e.JobKey()] = i
	b.limit(i)
	if !needsRoom(e) {
		return
	}
	if !n.sized {
		n.Usage = api.Usage{}
		b.unsized++
	} else {
		b.smallest = least(b.smallest, n.Usage)
	}
	key := demandKey{classes: b.set(e), need: n.Usage, sized: n.sized, fixed: n.fixed}
	w := b.wants[key]
	if w == nil {
		w = &demandSet{demandKey: key, waiting: heap.NewIndexed(
			func(x, y *item) bool { return moreUrgentEvaluation(x.eval, y.eval) },
			func(i *item) *int { return &i.slot },
		)}
		b.wants[key] = w
		key.classes.wants++
	}
	i.want = w
	w.waiting.Put(i)
}

// least returns the minimum of both in every dimension.
func least(u, v api.Usage) api.Usage {
	return api.Usage{CPU: min(u.CPU, v.CPU), MemoryMB: min(u.MemoryMB, v.MemoryMB), DiskMB: min(u.DiskMB, v.DiskMB)}
}

func moreUrgentEvaluation(x, y *api.Evaluation) bool {
	if x.Priority != y.Priority {
		return x.Priority > y.Priority
	}
	if x.CreateIndex != y.CreateIndex {
		return x.CreateIndex < y.CreateIndex
	}
	return x.ID < y.ID
}

// evaluationOf returns the job's blocked evaluation, or nil.
func (b *blocked) evaluationOf(job api.NamespacedID) *api.Evaluation {
	if i := b.byJob[job]; i != nil {
		return i.eval
	}
	return nil
}

func (b *blocked) remove(job api.NamespacedID) {
	i := b.byJob[job]
	if i == nil {
		return
	}
	delete(b.byJob, job)
	b.unlimit(i)
	w := i.want
	if w == nil {
		return
	}
	w.waiting.Remove(i)
	if !w.sized {
		b.unsized--
	}
	if w.waiting.Len() > 0 {
		return
	}
	delete(b.wants, w.demandKey)
	if w.classes.wants--; w.classes.wants == 0 {
		delete(b.sets, w.classes.key)
		delete(b.known, addressOf(w.classes.classes))
	}
}

// take removes and returns the evaluations that the offer wakes, as many as its room
// suffices for. It subtracts their expected usage from the offer.
func (b *blocked) take(o *offer) (woken []*api.Evaluation) {
	for {
		if b.unsized == 0 && o.sized {
			if _, fits := b.smallest.Fits(o.free); !fits {
				return woken
			}
		}
		best, smallest := (*item)(nil), unlimited
		for _, w := range b.wants {
			if w.sized {
				smallest = least(smallest, w.need)
			}
			if !w.helpedBy(o) {
				continue
			}
			if i := w.first(o, best); i != nil {
				best = i
			}
		}
		b.smallest = smallest
		if best == nil {
			return woken
		}
		woken = append(woken, best.eval)
		if w := best.want; w.sized && o.sized && !o.whole {
			o.free = o.free.Sub(usageOf(w.need, min(best.count, copiesThatFit(w.need, o.free))))
		}
		b.remove(best.eval.JobKey())
	}
}

// copiesThatFit returns how often need fits into free, but at least 1.
func copiesThatFit(need, free api.Usage) int64 {
	n := int64(math.MaxInt32)
	for _, d := range [...][2]int64{{need.CPU, free.CPU}, {need.MemoryMB, free.MemoryMB}, {need.DiskMB, free.DiskMB}} {
		if d[0] > 0 {
			n = min(n, d[1]/d[0])
		}
	}
	return max(n, 1)
}

func usageOf(need api.Usage, n int64) api.Usage {
	return api.Usage{CPU: need.CPU * n, MemoryMB: need.MemoryMB * n, DiskMB: need.DiskMB * n}
}

// first returns the most urgent evaluation that has not examined the offer yet, if it is
// more urgent than best.
func (w *demandSet) first(o *offer, best *item) *item {
	top, ok := w.waiting.First()
	if !ok || best != nil && !moreUrgentEvaluation(top.eval, best.eval) {
		return nil
	}
	if w.open(top, o) {
		return top
	}
	var found *item
	for _, i := range w.waiting.Items() {
		if (best == nil || moreUrgentEvaluation(i.eval, best.eval)) && w.open(i, o) {
			found, best = i, i
		}
	}
	return found
}

// open reports whether the offer is news to the evaluation.
func (w *demandSet) open(i *item, o *offer) bool {
	return i.eval.SnapshotIndex < o.index && (!w.fixed || o.lacks == nil || o.lacks(i.eval, o.node))
}

func (w *demandSet) helpedBy(o *offer) bool {
	if w.sized && o.sized {
		if _, fits := w.need.Fits(o.free); !fits {
			return false
		}
	}
	return w.classes.helpedBy(o.class)
}

func (s *classSet) helpedBy(class string) bool {
	if s.any {
		return true
	}
	could, looked := s.classes[class]
	return could || !looked
}

// set returns the set of the evaluation's classes.
func (b *blocked) set(e *api.Evaluation) *classSet {
	address := addressOf(e.ClassEligibility)
	if e.EscapedComputedClass {
		address = 0
	}
	if s := b.known[address]; s != nil && address != 0 {
		return s
	}
	key := classKey(e)
	s := b.sets[key]
	if s == nil {
		s = &classSet{key: key, any: e.EscapedComputedClass, classes: e.ClassEligibility}
		if s.any {
			s.classes = nil
		}
		b.sets[key] = s
		if address != 0 {
			b.known[address] = s // the set references the map and so keeps its address valid
		}
	}
	return s
}

func addressOf(m map[string]bool) uintptr { return reflect.ValueOf(m).Pointer() }

func classKey(e *api.Evaluation) string {
	if e.EscapedComputedClass {
		return "*"
	}
	var key strings.Builder
	for _, class := range slices.Sorted(maps.Keys(e.ClassEligibility)) {
		if e.ClassEligibility[class] {
			key.WriteByte('+')
		} else {
			key.WriteByte('-')
		}
		key.WriteString(class)
		key.WriteByte(' ')
	}
	return key.String()
}
