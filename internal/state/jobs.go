// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A jobRow holds all state of a job and the rows that refer to it. It outlives a purged
// job while any row refers to it.
type jobRow struct {
	gen         uint64
	change      int // 1 + index in the changes of this generation's entry
	namespace   string
	id          string
	job         *api.Job // nil when purged or never registered
	versions    []jobVersion
	scaling     map[string][]api.ScalingEvent // by group, newest first
	queued      map[string]int                // by group, from the newest evaluation
	schedule    *schedule                     // of a periodic job
	newest      uint32                        // 1 + slot of the newest evaluation
	blocked     uint32                        // 1 + slot of the blocked evaluation; 0: none
	decisions   []*api.Decision               // oldest first; replaced, never modified
	restarts    []*api.JobRestart             // oldest first; replaced, never modified
	callbacks   []*api.Callback               // oldest first; replaced, never modified
	decided     uint64                        // index of the last operator decision about its plans
	groups      []groupCount
	used        []usedVersion
	live        int // number of allocations that are to run and have not ended
	open        int // number of evaluations that have not ended
	children    [3]int
	summarized  uint64 // index of the summary's last change
	allocations list
	evaluations list
	deployments list
}

// A jobVersion is one kept version of a job.
type jobVersion struct {
	job        *api.Job
	submission *api.JobSubmission
}

// A usedVersion counts the allocations that were created from a version. It keeps the job
// while it has allocations, even if the version is no longer kept.
type usedVersion struct {
	job   *api.Job
	count int
}

// jobName returns the name of a job's row, which sorts by namespace, then id.
func jobName(namespace, id string) string { return namespace + "\x00" + id }

// Job returns the current version of a job; nil if it does not exist.
func (c *content) Job(namespace, id string) *api.Job {
	if r := c.job(namespace, id); r != nil {
		return r.job
	}
	return nil
}

func (c *content) job(namespace, id string) *jobRow {
	if r := c.jobs.find(jobName(namespace, id)); r != nil {
		return *r
	}
	return nil
}

// Jobs yields all jobs, ordered by namespace, then id.
func (c *content) Jobs() iter.Seq[*api.Job] { return c.JobsPrefix("*", "") }

// JobsPrefix yields the jobs whose id begins with prefix, of a namespace or of all
// namespaces if it is "*", ordered by namespace, then id.
func (c *content) JobsPrefix(namespace, prefix string) iter.Seq[*api.Job] {
	rows := jobName(namespace, prefix)
	if namespace == "*" {
		rows = ""
	}
	return func(yield func(*api.Job) bool) {
		c.jobs.prefix(rows, func(_ string, r **jobRow) bool {
			row := *r
			if row.job == nil || !strings.HasPrefix(row.id, prefix) {
				return true
			}
			return yield(row.job)
		})
	}
}

// JobsKnown yields the jobs of a namespace, or of all namespaces if it is "*". For an
// unknown job with an allocation that may run, it yields nil. The order is by namespace,
// then id.
func (c *content) JobsKnown(namespace string) iter.Seq2[api.NamespacedID, *api.Job] {
	rows := jobName(namespace, "")
	if namespace == "*" {
		rows = ""
	}
	return func(yield func(api.NamespacedID, *api.Job) bool) {
		c.jobs.prefix(rows, func(_ string, r **jobRow) bool {
			row := *r
			return row.job == nil && row.live == 0 || yield(api.NamespacedID{Namespace: row.namespace, ID: row.id}, row.job)
		})
	}
}

// JobVersions returns the kept versions of a job, newest first.
func (c *content) JobVersions(namespace, id string) []*api.Job {
	r := c.job(namespace, id)
	if r == nil {
		return nil
	}
	versions := make([]*api.Job, len(r.versions))
	for i := range r.versions {
		versions[i] = r.versions[i].job
	}
	return versions
}

// JobVersion returns one kept version of a job, nil if it is not kept.
func (c *content) JobVersion(namespace, id string, version uint64) *api.Job {
	if v := c.jobVersion(namespace, id, version); v != nil {
		return v.job
	}
	return nil
}

// Submission returns the source text of a kept version; nil if it does not exist.
func (c *content) Submission(namespace, id string, version uint64) *api.JobSubmission {
	if v := c.jobVersion(namespace, id, version); v != nil {
		return v.submission
	}
	return nil
}

func (c *content) jobVersion(namespace, id string, version uint64) *jobVersion {
	r := c.job(namespace, id)
	if r == nil {
		return nil
	}
	for i := range r.versions {
		if r.versions[i].job.Version == version {
			return &r.versions[i]
		}
	}
	return nil
}

// ScalingEvents returns a job's last scaling events by group, newest first.
func (c *content) ScalingEvents(namespace, id string) map[string][]api.ScalingEvent {
	if r := c.job(namespace, id); r != nil {
		return r.scaling
	}
	return nil
}

// editJob returns a job's row for writing. It creates the row if necessary.
func (t *txn) editJob(namespace, id string) (uint32, *jobRow) {
	key := api.NamespacedID{Namespace: namespace, ID: id}
	if t.lastOK && key == t.lastJob {
		return t.lastSlot, t.editJobAt(t.lastSlot)
	}
	name := jobName(namespace, id)
	slot, row := t.jobs.ensure(t.gen, name)
	if *row == nil {
		*row = &jobRow{gen: t.gen, namespace: namespace, id: id}
	}
	t.lastJob, t.lastSlot, t.lastOK = key, slot, true
	return slot, t.editJobAt(slot)
}

// editJobAt returns the row of a slot for writing.
func (t *txn) editJobAt(slot uint32) *jobRow {
	row := *t.jobs.rows.at(slot)
	if row.gen == t.gen {
		return row
	}
	c := *row
	c.gen, c.change = t.gen, 0
	c.groups = slices.Clone(row.groups)
	c.used = slices.Clone(row.used)
	*t.jobs.rows.edit(t.gen, slot) = &c
	return &c
}

// putJob makes job the current job with its name. If version is true, it is a new version,
// and its source text is kept beside it.
func (t *txn) putJob(job *api.Job, version bool, submission *api.JobSubmission) {
	slot, row := t.editJob(job.Namespace, job.ID)
	old := row.job
	if old == nil {
		uninstalls.delete(t, jobName(job.Namespace, job.ID))
	}
	row.job = job
	row.summarized = t.index
	if version {
		row.versions = append([]jobVersion{{job, submission}}, row.versions...)
		row.versions = trimVersions(row.versions)
		t.touch(TableJobVersions)
		t.renewPins(row, old, job)
	} else {
		t.replaceVersion(row, job)
	}
	row.reschedule(old, job)
	t.countChild(old, -1)
	t.countChild(job, +1)
	t.indexJob(slot, old, job)
	t.emit(TableJobs, Put, orNil(old), job)
	row.change = len(t.changes)
	t.markDirty(slot)
}

// replaceVersion makes job the stored object of its version.
func (t *txn) replaceVersion(row *jobRow, job *api.Job) {
	for i := range row.versions {
		if row.versions[i].job.Version == job.Version {
			row.versions = slices.Clone(row.versions)
			row.versions[i].job = job
			t.touch(TableJobVersions)
			return
		}
	}
}

// trimVersions keeps the newest versions and all tagged versions.
func trimVersions(versions []jobVersion) []jobVersion {
	kept, untagged := versions[:0:0], 0
	for _, v := range versions {
		if v.job.VersionTag == nil {
			if untagged++; untagged > api.JobTrackedVersions {
				continue
			}
		}
		kept = append(kept, v)
	}
	return kept
}

// deleteJob deletes a job and its versions.
func (t *txn) deleteJob(namespace, id string) {
	slot, row := t.editJob(namespace, id)
	old := row.job
	if old == nil {
		t.dropJob(slot)
		return
	}
	if old.Callback != nil && !old.IsPeriodic() && !old.IsParameterized() {
		t.callBack(slot, row, true) // this very entry may end the job
		row = t.editJobAt(slot)
	}
	t.forgetDecisions(row)
	t.forgetRestarts(row)
	t.forgetCallbacks(slot, 0)
	t.endClaimsOf(namespace, id)
	t.endPinsOf(namespace, id)
	row.job, row.versions, row.scaling, row.queued, row.schedule, row.change = nil, nil, nil, nil, nil, 0
	t.countChild(old, -1)
	t.indexJob(slot, old, nil)
	t.touch(TableJobVersions)
	t.emit(TableJobs, Delete, old, nil)
	t.dropJob(slot)
}

// dropJob removes a job's row when nothing refers to it any more.
func (t *txn) dropJob(slot uint32) {
	row := *t.jobs.rows.at(slot)
	if row.job == nil && row.allocations.len()+row.evaluations.len()+row.deployments.len()+len(row.callbacks) == 0 && row.children == [3]int{} {
		t.endPinsOf(row.namespace, row.id)
		t.jobs.remove(t.gen, jobName(row.namespace, row.id), slot)
		t.lastOK = false
	}
}

// useVersion counts an allocation created from job (by +1) or removed (by -1).
func (r *jobRow) useVersion(job *api.Job, by int) {
	if job == nil {
		return
	}
	for i := range r.used {
		if u := &r.used[i]; u.job == job || !isOrphaned(job) && u.job.Version == job.Version && u.job.CreateIndex == job.CreateIndex {
			if u.count += by; u.count == 0 {
				r.used = slices.Delete(r.used, i, i+1)
			}
			return
		}
	}
	r.used = append(r.used, usedVersion{job, by})
}

// resolve returns the version of the job for new allocations: a kept version, or one that
// allocations still use.
func (r *jobRow) resolve(version uint64) *api.Job {
	for _, u := range r.used {
		if u.job.Version == version && (r.job == nil || u.job.CreateIndex == r.job.CreateIndex) {
			return u.job
		}
	}
	for _, v := range r.versions {
		if v.job.Version == version {
			return v.job
		}
	}
	return nil
}

// orNil prevents a nil pointer from becoming a non-nil interface.
func orNil[T any](p *T) any {
	if p == nil {
		return nil
	}
	return p
}
