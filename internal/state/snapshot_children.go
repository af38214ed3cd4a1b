// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"reflect"

	"github.com/reeve-run/reeve/api"
)

// A child of a periodic or parameterized job shares its unchanged fields with its parent,
// and a snapshot preserves that: ten thousand children of a job are written, and read
// back, without ten thousand copies of its groups. Jobs are written in the order of their
// ids, so a parent precedes its children.

// A parentVersion identifies the version of its parent from which a child was created.
type parentVersion struct {
	Version     uint64
	CreateIndex uint64
	Fields      []string // fields of the job that are equal to the parent's
}

// shared lists the fields of a job that refer to values on the heap.
var shared = func() (fields []int) {
	t := reflect.TypeFor[api.Job]()
	for i := range t.NumField() {
		if holdsElsewhere(t.Field(i).Type.Kind()) {
			fields = append(fields, i)
		}
	}
	return fields
}()

func holdsElsewhere(k reflect.Kind) bool {
	return k == reflect.Pointer || k == reflect.Slice || k == reflect.Map
}

// strip returns a child without the fields that it shares with a kept version of its
// parent, and that version. It returns any other job unchanged, with nil.
func (v *Snapshot) strip(job *api.Job) (*api.Job, *parentVersion) {
	if job.ParentID == "" {
		return job, nil
	}
	parent := v.job(job.Namespace, job.ParentID)
	if parent == nil || !isBefore(parent, job) {
		return job, nil
	}
	for _, kept := range parent.versions {
		if !sameGroups(kept.job, job) {
			continue
		}
		child := *job
		like := &parentVersion{Version: kept.job.Version, CreateIndex: kept.job.CreateIndex}
		from, to := reflect.ValueOf(kept.job).Elem(), reflect.ValueOf(&child).Elem()
		for _, i := range shared {
			if f := to.Field(i); !f.IsNil() && sameObject(f, from.Field(i)) {
				f.SetZero()
				like.Fields = append(like.Fields, from.Type().Field(i).Name)
			}
		}
		return &child, like
	}
	return job, nil
}

// isBefore reports whether the row is read before the job's row.
func isBefore(r *jobRow, job *api.Job) bool {
	return jobName(r.namespace, r.id) < jobName(job.Namespace, job.ID)
}

func sameGroups(a, b *api.Job) bool {
	return len(a.Groups) > 0 && len(a.Groups) == len(b.Groups) && &a.Groups[0] == &b.Groups[0]
}

func sameObject(a, b reflect.Value) bool {
	return !b.IsNil() && a.UnsafePointer() == b.UnsafePointer() && (a.Kind() != reflect.Slice || a.Len() == b.Len())
}

// share restores the shared fields of a stripped child from its parent.
func (l *loader) share(r *versionRecord) error {
	if r.Like == nil {
		return nil
	}
	row := l.job(r.Job.Namespace, r.Job.ParentID)
	if row != nil {
		for _, kept := range row.versions {
			if kept.job.Version != r.Like.Version || kept.job.CreateIndex != r.Like.CreateIndex {
				continue
			}
			from, to := reflect.ValueOf(kept.job).Elem(), reflect.ValueOf(r.Job).Elem()
			for _, name := range r.Like.Fields {
				if f := to.FieldByName(name); f.IsValid() && holdsElsewhere(f.Kind()) {
					f.Set(from.FieldByName(name))
				}
			}
			shareStrings(r.Job, kept.job)
			return nil
		}
	}
	return fmt.Errorf("job %q is like version %d of job %q, which is missing", r.Job.ID, r.Like.Version, r.Job.ParentID)
}

// shareStrings replaces a child's strings with equal strings of its parent.
func shareStrings(child, parent *api.Job) {
	child.ParentID = parent.ID
	if child.Name == child.ID {
		child.Name = child.ID
	}
	for _, s := range [][2]*string{
		{&child.Region, &parent.Region}, {&child.Namespace, &parent.Namespace},
		{&child.Type, &parent.Type}, {&child.NodePool, &parent.NodePool},
	} {
		if *s[0] == *s[1] {
			*s[0] = *s[1]
		}
	}
}
