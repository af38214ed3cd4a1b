// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// blocked holds the evaluations that wait for a change, at most one per job.
//
// Jobs that are alike are blocked alike, so evaluations are kept by what would
// help them: a change of one class of nodes then costs as many steps as there
// are different wants, not as there are evaluations.
type blocked struct {
	byJob   map[api.NamespacedID]*api.Evaluation
	byWant  map[string]*want
	wantOf  map[string]*want  // by evaluation id
	changes map[string]uint64 // by class: index of the last change that could help
	newest  uint64            // of all classes
}

// want is what a set of blocked evaluations waits for.
type want struct {
	key     string
	any     bool            // a change of any node helps
	classes map[string]bool // by class that was looked at: could it help; others could
	waiting map[string]*api.Evaluation
}

func newBlocked() *blocked {
	return &blocked{
		byJob: map[api.NamespacedID]*api.Evaluation{}, byWant: map[string]*want{},
		wantOf: map[string]*want{}, changes: map[string]uint64{},
	}
}

func (b *blocked) add(e *api.Evaluation) {
	key := wantKey(e)
	w := b.byWant[key]
	if w == nil {
		w = &want{key: key, any: e.EscapedComputedClass, classes: e.ClassEligibility, waiting: map[string]*api.Evaluation{}}
		b.byWant[key] = w
	}
	w.waiting[e.ID] = e
	b.wantOf[e.ID] = w
	b.byJob[e.JobKey()] = e
}

func (b *blocked) remove(e *api.Evaluation) {
	w := b.wantOf[e.ID]
	if w == nil {
		return
	}
	delete(w.waiting, e.ID)
	if len(w.waiting) == 0 {
		delete(b.byWant, w.key)
	}
	delete(b.wantOf, e.ID)
	delete(b.byJob, e.JobKey())
}

// change notes that nodes of the class may take more since the index, and
// takes out the evaluations that this could help.
func (b *blocked) change(class string, index uint64) (woken []*api.Evaluation) {
	b.changes[class] = max(b.changes[class], index)
	b.newest = max(b.newest, index)
	for _, w := range b.byWant {
		if !w.helpedBy(class) {
			continue
		}
		for _, e := range w.waiting {
			woken = append(woken, e)
		}
	}
	for _, e := range woken {
		b.remove(e)
	}
	slices.SortFunc(woken, func(x, y *api.Evaluation) int { return strings.Compare(x.ID, y.ID) })
	return woken
}

// missedChange reports whether something that could help happened after the
// state the evaluation was worked out on.
func (b *blocked) missedChange(e *api.Evaluation) bool {
	if b.newest <= e.SnapshotIndex {
		return false
	}
	w := want{any: e.EscapedComputedClass, classes: e.ClassEligibility}
	for class, index := range b.changes {
		if index > e.SnapshotIndex && w.helpedBy(class) {
			return true
		}
	}
	return false
}

func (w *want) helpedBy(class string) bool {
	if w.any {
		return true
	}
	could, looked := w.classes[class]
	return could || !looked
}

// wantKey is the same for evaluations that the same changes help.
func wantKey(e *api.Evaluation) string {
	if e.EscapedComputedClass {
		return "*"
	}
	classes := make([]string, 0, len(e.ClassEligibility))
	for class, could := range e.ClassEligibility {
		if could {
			class = "+" + class
		} else {
			class = "-" + class
		}
		classes = append(classes, class)
	}
	slices.Sort(classes)
	return strings.Join(classes, " ")
}
