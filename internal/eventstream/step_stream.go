// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Bounds of what a stream does about steps. It looks at the steps of changed jobs at most once
// per interval, and spends at most one part in stepShare of the time on that.
const (
	stepInterval = 200 * time.Millisecond
	stepShare    = 10
)

// Bounds of what a stream remembers of the steps that it sent. Of other jobs it sends all steps
// with the next change.
const (
	rememberedJobs  = 1000
	rememberedSteps = 20_000
)

// sentSteps is what a stream knows about the steps that its reader has.
type sentSteps struct {
	dirty map[api.NamespacedID]struct{} // jobs that changed since the last look
	sent  map[api.NamespacedID]*jobSteps
	count int // of the steps in sent
	next  time.Time
}

// noteSteps marks the selected jobs that a batch concerns.
func (s *Stream) noteSteps(b *state.Batch) {
	if !s.Topics.hasSteps() {
		return
	}
	for job := range jobsOf(s.store.Snapshot(), b) {
		if s.selectsSteps(job) {
			s.steps.mark(job)
		}
	}
}

func (t *sentSteps) mark(job api.NamespacedID) {
	if t.dirty == nil {
		t.dirty = map[api.NamespacedID]struct{}{}
	}
	t.dirty[job] = struct{}{}
}

// selectsSteps reports whether the reader may want steps of a job.
func (s *Stream) selectsSteps(job api.NamespacedID) bool {
	if s.Namespace != allNamespaces && s.Namespace != job.Namespace {
		return false
	}
	keys := s.Topics[api.TopicStep]
	return keys == nil || slices.ContainsFunc(keys, func(key string) bool { return isKeyOfJob(key, job.ID) })
}

// isKeyOfJob reports whether a key of the topic Step is a job, or a plan, phase or step of it.
func isKeyOfJob(key, job string) bool {
	rest, ok := strings.CutPrefix(key, job)
	return ok && (rest == "" || rest[0] == '/')
}

// remember stores what the reader has of a job, within the bounds.
func (t *sentSteps) remember(job api.NamespacedID, steps *jobSteps) {
	t.forget(job)
	if len(steps.states) == 0 || len(t.sent) >= rememberedJobs || t.count+len(steps.states) > rememberedSteps {
		return
	}
	if t.sent == nil {
		t.sent = map[api.NamespacedID]*jobSteps{}
	}
	t.sent[job] = steps
	t.count += len(steps.states)
}

func (t *sentSteps) forget(job api.NamespacedID) {
	if old := t.sent[job]; old != nil {
		t.count -= len(old.states)
		delete(t.sent, job)
	}
}

// sendSteps sends the changes of the steps of changed jobs, unless the last look was less than an
// interval ago. It returns the time until the next look; 0 if none is due.
func (s *Stream) sendSteps() (wait time.Duration, err error) {
	if len(s.steps.dirty) == 0 {
		return 0, nil
	}
	began := time.Now()
	if wait = s.steps.next.Sub(began); wait > 0 {
		return wait, nil
	}
	v := s.store.Snapshot()
	var changes []*event
	for job := range s.steps.dirty {
		now := s.hub.steps.load(v, job)
		if old := s.steps.sent[job]; old != nil {
			changes = append(changes, now.changesFrom(old)...)
		} else {
			changes = append(changes, now.all()...)
		}
		s.steps.remember(job, now)
	}
	clear(s.steps.dirty)
	took := time.Since(began)
	s.steps.next = began.Add(max(stepInterval, stepShare*took))
	return 0, s.sendPart(s.after, "", changes)
}

// sendPart sends the events that the reader receives as one message.
func (s *Stream) sendPart(index uint64, snapshot string, events []*event) error {
	admitted := events[:0:0]
	for _, e := range events {
		ok, err := s.admits(e.Event)
		if err != nil {
			return err
		}
		if ok {
			admitted = append(admitted, e)
		}
	}
	return s.out.part(index, snapshot, admitted)
}

// sendStepsOf sends all steps of the selected jobs, as a part of a snapshot.
func (s *Stream) sendStepsOf(v *state.Snapshot) error {
	s.steps = sentSteps{next: s.steps.next}
	if !s.Topics.hasSteps() {
		return nil
	}
	for job := range jobsWithSteps(v, s.Namespace) {
		if !s.selectsSteps(job) {
			continue
		}
		steps := s.hub.steps.load(v, job)
		if err := s.sendPart(v.Index(), api.SnapshotPart, steps.all()); err != nil {
			return err
		}
		s.steps.remember(job, steps)
	}
	return nil
}

// jobsWithSteps yields the jobs that may have plans: those registered, those removed a short
// while ago, and those of stacks that are not registered yet.
func jobsWithSteps(v *state.Snapshot, namespace string) iter.Seq[api.NamespacedID] {
	return func(yield func(api.NamespacedID) bool) {
		for j := range v.JobsPrefix(namespace, "") {
			if !yield(j.Key()) {
				return
			}
		}
		for u := range v.UninstalledJobs(namespace) {
			if v.Job(u.Namespace, u.JobID) == nil && !yield(u.Key()) {
				return
			}
		}
		for k := range v.Stacks(namespace) {
			if v.Job(k.Namespace, k.Name) == nil && v.Uninstalled(k.Namespace, k.Name) == nil && !yield(k.Key()) {
				return
			}
		}
	}
}
