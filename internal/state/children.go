// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Launches holds the times of a periodic job's launches. Zero times are unknown.
type Launches struct {
	Since   time.Time // earliest time after which due times count
	Last    time.Time // latest due time that was launched or skipped
	Skipped time.Time // latest due time that was skipped because an earlier child had not ended
}

// Launches returns the times of a periodic job's launches.
func (c *content) Launches(namespace, id string) (l Launches) {
	r := c.job(namespace, id)
	if r == nil || r.schedule == nil {
		return l
	}
	return Launches{unixNano(r.schedule.Since), unixNano(r.schedule.Last), unixNano(r.schedule.Skipped)}
}

// ChildrenCount returns the number of the job's children by status.
func (c *content) ChildrenCount(namespace, id string) api.JobChildrenSummary {
	if r := c.job(namespace, id); r != nil {
		return r.childrenSummary()
	}
	return api.JobChildrenSummary{}
}

func (r *jobRow) childrenSummary() api.JobChildrenSummary {
	return api.JobChildrenSummary{
		Pending: int64(r.children[childPending]),
		Running: int64(r.children[childRunning]),
		Dead:    int64(r.children[childDead]),
	}
}

// tokenName returns the key of an idempotency token in the tokens' index.
func tokenName(namespace, parent, token string) string {
	return jobName(namespace, parent) + "\x00" + token
}

// Dispatched returns the child that was dispatched from a job with an idempotency token,
// nil if it does not exist.
func (c *content) Dispatched(namespace, parent, token string) *api.Job {
	slot, ok := c.tokens.get(tokenName(namespace, parent, token))
	if !ok {
		return nil
	}
	if r := c.jobs.rows.at(slot); r != nil && *r != nil {
		return (*r).job
	}
	return nil
}

// DispatchedFrom returns the child that was dispatched with an idempotency token from a job or, if the
// job belongs to a stack, from any stack of the unit; nil if it does not exist.
func (c *content) DispatchedFrom(parent *api.Job, token string) *api.Job {
	if child := c.Dispatched(parent.Namespace, parent.ID, token); child != nil || parent.Stack == nil {
		return child
	}
	if unit, _, _, ok := api.ParseStackName(parent.ID); ok {
		for s := range c.StacksOfUnit(parent.Namespace, unit) {
			if child := c.Dispatched(s.Namespace, s.Name, token); child != nil {
				return child
			}
		}
	}
	return nil
}

// JobsWithScaling yields the jobs with scaling policies of a namespace, or of all
// namespaces if it is "*", ordered by namespace, then id.
func (c *content) JobsWithScaling(namespace string) iter.Seq[*api.Job] {
	prefix := jobName(namespace, "")
	if namespace == "*" {
		prefix = ""
	}
	return func(yield func(*api.Job) bool) {
		c.scaled.prefix(prefix, func(_ string, slot uint32) bool {
			return yield((*c.jobs.rows.at(slot)).job)
		})
	}
}

// indexJob updates the secondary indexes of jobs. old or job may be nil.
func (t *txn) indexJob(slot uint32, old, job *api.Job) {
	token := func(j *api.Job) string {
		if j == nil || j.DispatchIdempotencyToken == "" || j.ParentID == "" {
			return ""
		}
		return tokenName(j.Namespace, j.ParentID, j.DispatchIdempotencyToken)
	}
	if was, is := token(old), token(job); was != is {
		if was != "" {
			t.tokens.remove(was)
		}
		if is != "" {
			t.tokens.set(is, slot)
		}
	}
	scales := func(j *api.Job) bool { return j != nil && !j.Stop && j.HasScaling() }
	was, is := scales(old), scales(job)
	switch {
	case was && !is:
		t.scaled.remove(jobName(old.Namespace, old.ID))
	case is && !was:
		t.scaled.set(jobName(job.Namespace, job.ID), slot)
	}
	if was || is {
		t.touch(TableScaling)
	}
}

// unixNano converts Unix nanoseconds, where 0 means an unknown time.
func unixNano(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
