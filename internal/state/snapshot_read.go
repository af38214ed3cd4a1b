// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
)

// Restore returns a store with the content of a snapshot's WriteTo.
func Restore(r io.Reader) (*Store, error) {
	s := New()
	if err := s.Restore(r); err != nil {
		return nil, err
	}
	return s, nil
}

// Restore replaces the state with the content of a snapshot's WriteTo. If it fails, the
// store is unchanged. Subscribers get ErrFellBehind.
func (s *Store) Restore(r io.Reader) error {
	l := &loader{txn: txn{content: new(newContent()), gen: 1}}
	if err := l.read(r); err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work, s.gen = *l.content, 1
	s.publish()
	s.feed.reset(s.work.index)
	s.waiters.wake(s.work.index, 1<<tableCount()-1)
	return nil
}

// A loader builds the tables from a snapshot. Its generation is not published before it
// finishes, so everything is changed in place.
type loader struct {
	txn
	used map[usedKey]*api.Job
	seen endRecord
}

// A usedKey identifies a version of a job that is no longer among the kept ones.
type usedKey struct {
	job         api.NamespacedID
	version     uint64
	createIndex uint64
}

func (l *loader) read(r io.Reader) error {
	l.used = map[usedKey]*api.Job{}
	f, err := newFrameReader(bufio.NewReaderSize(r, 1<<18))
	if err != nil {
		return err
	}
	frames := readAhead(f)
	defer frames.stop()
	for n := 0; ; n++ {
		frame := <-frames.queue
		if err := frame.err; err != nil {
			return err
		}
		if (frame.kind == frameHeader) != (n == 0) {
			return fmt.Errorf("the snapshot is damaged: frame %d is of kind %d", n, frame.kind)
		}
		if err := l.frame(frame); err != nil {
			if newer := (*NewerError)(nil); errors.As(err, &newer) {
				return err
			}
			return fmt.Errorf("the snapshot is damaged: frame %d: %w", n, err)
		}
		if frame.kind == frameEnd {
			l.meterAll()
			return nil
		}
	}
}

func (l *loader) frame(f *aheadFrame) error {
	if f.decoded != nil {
		d := <-f.decoded
		if d.err != nil {
			return d.err
		}
		return d.load(l)
	}
	switch f.kind {
	case frameHeader:
		return l.header(f.payload)
	case frameScheduler:
		return l.loadSchedulerConfig(f.payload)
	case frameCluster:
		return l.loadCluster(f.payload)
	case frameEnd:
		var end endRecord
		if err := json.Unmarshal(f.payload, &end); err != nil {
			return err
		}
		if !reflect.DeepEqual(end, l.seen) {
			return fmt.Errorf("it holds %+v, and should hold %+v", l.seen, end)
		}
		return nil
	}
	if n := nounOfFrame(f.kind); n != nil {
		return n.load(l, f.payload)
	}
	return fmt.Errorf("unknown kind %d: it was written by a newer version of Reeve", f.kind)
}

func (l *loader) header(payload []byte) error {
	var h headerRecord
	if err := json.Unmarshal(payload, &h); err != nil {
		return err
	}
	if err := checkLevel(h.Level, h.Version); err != nil {
		return err
	}
	l.cluster.level, l.cluster.levelVersion = h.Level, h.Version
	l.index, l.txn.index = h.Index, h.Index
	l.content.index, l.content.ahead = h.Index, h.Ahead
	for t := range tableCount() {
		l.indexes[t] = h.Indexes[t.String()]
	}
	return nil
}

// loadEach stores and counts the objects of a frame.
func loadEach[T any](objects []*T, seen *int, store func(*T) error) error {
	for _, o := range objects {
		if o == nil {
			return fmt.Errorf("an object is null")
		}
		if err := store(o); err != nil {
			return err
		}
	}
	*seen += len(objects)
	return nil
}

func (l *loader) loadJob(r *jobRecord) error {
	slot, row := l.editJob(r.Namespace, r.ID)
	if row.job != nil || row.versions != nil {
		return fmt.Errorf("job %q occurs twice", r.ID)
	}
	row.scaling, row.queued, row.summarized, row.schedule = r.Scaling, r.Queued, r.Summarized, r.Schedule
	for _, v := range r.Versions {
		if v.Job == nil || v.Job.ID != r.ID || v.Job.Namespace != r.Namespace {
			return fmt.Errorf("job %q has a version that is not its own", r.ID)
		}
		if err := l.share(&v); err != nil {
			return err
		}
		if err := checkJob(v.Job); err != nil {
			return err
		}
		row.versions = append(row.versions, jobVersion{v.Job, v.Submission})
		if r.Exists && v.Job.Version == r.Current {
			row.job = v.Job
		}
	}
	if r.Exists && row.job == nil {
		return fmt.Errorf("job %q lacks its current version %d", r.ID, r.Current)
	}
	for _, j := range r.Used {
		if j == nil {
			return fmt.Errorf("job %q has a version that is null", r.ID)
		}
		if err := checkJob(j); err != nil {
			return err
		}
		l.used[usedKey{api.NamespacedID{Namespace: r.Namespace, ID: r.ID}, j.Version, j.CreateIndex}] = j
	}
	row.decided = r.Decided
	if err := l.loadDecisions(slot, row, r.Decisions); err != nil {
		return err
	}
	if err := l.loadRestarts(slot, row, r.Restarts); err != nil {
		return err
	}
	if err := l.loadCallbacks(slot, row, r.Callbacks); err != nil {
		return err
	}
	changed := l.indexes[TableScaling]
	l.indexJob(slot, nil, row.job)
	l.indexes[TableScaling] = changed
	if row.job != nil && row.job.ParentID != "" {
		_, parent := l.editJob(r.Namespace, row.job.ParentID)
		parent.children[childKind(row.job.Status)]++
	}
	return nil
}

func (l *loader) loadNode(n *api.Node) error {
	_, row := l.nodes.ensure(l.gen, n.ID)
	if row.node != nil {
		return fmt.Errorf("node %s occurs twice", n.ID)
	}
	row.node = n
	if n.NodePool != "" && l.NodePool(n.NodePool) == nil { // versions from before pools were stored
		nodePools.store(&l.txn, &api.NodePool{Name: n.NodePool, CreateIndex: n.CreateIndex, ModifyIndex: n.CreateIndex})
	}
	return nil
}

func (l *loader) loadEvaluation(e *api.Evaluation) error {
	slot, row := l.evaluations.ensure(l.gen, e.ID)
	if row.evaluation != nil {
		return fmt.Errorf("evaluation %s occurs twice", e.ID)
	}
	row.evaluation = e
	var job *jobRow
	row.job, job = l.editJob(e.Namespace, e.JobID)
	row.inJob = job.evaluations.add(slot)
	if job.newest == 0 || e.CreateIndex >= l.evaluations.rows.at(job.newest-1).evaluation.CreateIndex {
		job.newest = slot + 1
	}
	l.noteBlocked(job, slot, e)
	if !e.IsTerminal() {
		job.open++
	}
	return nil
}

func (l *loader) loadDeployment(d *api.Deployment) error {
	slot, row := l.deployments.ensure(l.gen, d.ID)
	if row.deployment != nil {
		return fmt.Errorf("deployment %s occurs twice", d.ID)
	}
	for name, g := range d.Groups {
		if g == nil {
			return fmt.Errorf("deployment %s: group %q is null", d.ID, name)
		}
	}
	if slices.Contains(d.Troubles, nil) {
		return fmt.Errorf("deployment %s: a trouble is null", d.ID)
	}
	readReason(&d.StatusReason, d.StatusDescription, reasons.Deployment)
	d.Groups = l.beginnings.share(d.Groups)
	row.deployment = d
	var job *jobRow
	row.job, job = l.editJob(d.Namespace, d.JobID)
	row.inJob = job.deployments.add(slot)
	return nil
}

// loadAllocation stores an allocation that was created from the given version of its job.
func (l *loader) loadAllocation(a *api.Allocation, version, createIndex uint64) error {
	job := l.job(a.Namespace, a.JobID)
	if job == nil {
		return fmt.Errorf("allocation %s is of a job that is missing", a.ID)
	}
	if a.Orphan {
		return l.loadOrphan(a)
	}
	if a.Job = l.used[usedKey{a.JobKey(), version, createIndex}]; a.Job == nil {
		for i := range job.versions {
			if v := job.versions[i].job; v.Version == version && v.CreateIndex == createIndex {
				a.Job = v
			}
		}
	}
	if a.Job == nil {
		return fmt.Errorf("allocation %s is made from version %d of job %q, which is missing", a.ID, version, a.JobID)
	}
	return l.linkLoaded(a, job)
}

func (l *loader) linkLoaded(a *api.Allocation, job *jobRow) error {
	slot, row := l.allocations.ensure(l.gen, a.ID)
	if row.allocation != nil {
		return fmt.Errorf("allocation %s occurs twice", a.ID)
	}
	row.allocation = a
	l.countOrphans(nil, a)
	l.linkAllocation(slot, row)
	job.count(a, +1)
	return nil
}
