// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bufio"
	"io"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/jsondoc"
)

// chunk is the number of objects per frame.
const chunk = 1024

// A headerRecord describes the state as a whole.
type headerRecord struct {
	Index   uint64
	Indexes map[string]uint64 // by table name
	Ahead   uint64            `json:",omitempty"` // excess of Index over the log's
	// Level is the feature level, and Version the version that raised it.
	Level   int    `json:",omitempty"`
	Version string `json:",omitempty"`
}

// An endRecord counts the objects in the file.
type endRecord struct {
	Jobs, Nodes, Evaluations, Deployments, Allocations int
	NodePools                                          int `json:",omitempty"`
	Decisions, Restarts                                int `json:",omitempty"`
	Domains                                            int `json:",omitempty"`
	Callbacks                                          int `json:",omitempty"`

	Nouns map[string]int `json:",omitempty"` // by name
}

// A jobRecord is the written form of a jobRow.
type jobRecord struct {
	Namespace  string
	ID         string
	Current    uint64 // version
	Exists     bool   // false: purged, but with allocations
	Versions   []versionRecord
	Used       []*api.Job                    `json:",omitempty"` // versions that are not kept but have allocations
	Scaling    map[string][]api.ScalingEvent `json:",omitempty"`
	Queued     map[string]int                `json:",omitempty"`
	Schedule   *schedule                     `json:",omitempty"`
	Summarized uint64
	Decisions  []*api.Decision   `json:",omitempty"`
	Restarts   []*api.JobRestart `json:",omitempty"`
	Decided    uint64            `json:",omitempty"`
	Callbacks  []*api.Callback   `json:",omitempty"`
}

type versionRecord struct {
	Job        *api.Job
	Submission *api.JobSubmission `json:",omitempty"`
	Like       *parentVersion     `json:",omitempty"` // set for a child: the version of its parent with its missing fields
}

// WriteTo writes the snapshot as a stream for Restore. It returns the number of bytes.
func (v *Snapshot) WriteTo(w io.Writer) (int64, error) {
	b := bufio.NewWriterSize(w, 1<<18)
	f := newFrameWriter(b)
	header := headerRecord{Index: v.index, Indexes: map[string]uint64{}, Ahead: v.ahead, Level: v.cluster.level, Version: v.cluster.levelVersion}
	for t := range tableCount() {
		if v.indexes[t] != 0 || t.isInFirstFormat() {
			header.Indexes[t.String()] = v.indexes[t]
		}
	}
	writeJSON(f, frameHeader, header)
	var end endRecord
	if v.cluster.scheduler.ModifyIndex != 0 {
		writeJSON(f, frameScheduler, v.cluster.scheduler)
	}
	for _, n := range nouns {
		n.write(v, f, &end)
	}
	if v.cluster.id != "" {
		writeJSON(f, frameCluster, clusterRecord{v.cluster.id, v.cluster.timelines})
	}
	end.Jobs = v.writeJobs(f)
	end.Decisions, end.Restarts = v.decisions.ids.len(), v.restarts.ids.len()
	end.Callbacks = v.callbacks.ids.len()
	end.Nodes = writeChunks(f, frameNodes, v.Nodes())
	end.Evaluations = v.writeEvaluations(f)
	end.Deployments = writeChunks(f, frameDeployments, v.Deployments())
	end.Allocations = v.writeAllocations(f)
	writeJSON(f, frameEnd, end)
	if f.err == nil {
		f.err = b.Flush()
	}
	return f.size, f.err
}

func writeJSON(f *frameWriter, kind byte, record any) {
	text, err := jsondoc.Append(f.text[:0], record)
	f.text = text
	if err != nil && f.err == nil {
		f.err = err
	}
	f.frame(kind, text)
}

// writeChunks writes objects as JSON, chunk objects per frame.
func writeChunks[T any](f *frameWriter, kind byte, objects func(func(T) bool)) int {
	n, some := 0, []T(nil)
	for o := range objects {
		n++
		if some = append(some, o); len(some) == chunk {
			writeJSON(f, kind, some)
			some = some[:0]
		}
		if f.err != nil {
			return n
		}
	}
	if len(some) > 0 {
		writeJSON(f, kind, some)
	}
	return n
}

func (v *Snapshot) writeJobs(f *frameWriter) int {
	return writeChunks(f, frameJobs, func(yield func(*jobRecord) bool) {
		v.jobs.prefix("", func(_ string, r **jobRow) bool { return yield(v.record(*r)) })
	})
}

func (v *Snapshot) record(r *jobRow) *jobRecord {
	record := &jobRecord{
		Namespace: r.namespace, ID: r.id, Exists: r.job != nil,
		Scaling: r.scaling, Queued: r.queued, Schedule: r.schedule, Summarized: r.summarized,
		Decisions: r.decisions, Restarts: r.restarts, Decided: r.decided,
		Callbacks: r.callbacks,
	}
	if r.job != nil {
		record.Current = r.job.Version
	}
	for _, version := range r.versions {
		job, like := v.strip(version.job)
		record.Versions = append(record.Versions, versionRecord{job, version.submission, like})
	}
	for _, u := range r.used {
		if !r.keeps(u.job) && !isOrphaned(u.job) {
			record.Used = append(record.Used, u.job)
		}
	}
	return record
}

// keeps reports whether the version is among the kept ones.
func (r *jobRow) keeps(job *api.Job) bool {
	for _, v := range r.versions {
		if v.job.Version == job.Version && v.job.CreateIndex == job.CreateIndex {
			return true
		}
	}
	return false
}
