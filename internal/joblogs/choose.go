// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package joblogs

import (
	"cmp"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// MaxAllocations is the maximum number of allocations whose output one stream contains.
const MaxAllocations = 50

// A Query selects output of a job.
type Query struct {
	Group, Task string // "": all
	Type        string // "": both
	Follow      bool
	FromEnd     bool // Offset counts backwards from the end of each file
	Offset      int64
}

// Choose returns the allocations whose output is shown: those that run or, if none does, the newest one of
// each instance. The newest ones come first. It also returns how many it left out.
func (q *Query) Choose(all []*api.Allocation) (chosen []*api.Allocation, left int) {
	var ended []*api.Allocation
	for _, a := range all {
		switch {
		case q.Group != "" && a.Group != q.Group, q.Task != "" && !slices.Contains(tasksOf(a), q.Task):
		case !a.IsClientTerminal() && a.ClientStatus != api.AllocClientPending:
			chosen = append(chosen, a)
		case a.IsClientTerminal():
			ended = append(ended, a)
		}
	}
	if len(chosen) == 0 {
		chosen = newestOfEach(ended)
	}
	slices.SortFunc(chosen, newestFirst)
	left = max(0, len(chosen)-MaxAllocations)
	return chosen[:len(chosen)-left], left
}

func newestFirst(a, b *api.Allocation) int {
	return cmp.Or(cmp.Compare(b.CreateIndex, a.CreateIndex), cmp.Compare(a.ID, b.ID))
}

func newestOfEach(all []*api.Allocation) []*api.Allocation {
	newest := map[string]*api.Allocation{}
	for _, a := range all {
		if old := newest[InstanceOf(a)]; old == nil || newestFirst(a, old) < 0 {
			newest[InstanceOf(a)] = a
		}
	}
	chosen := make([]*api.Allocation, 0, len(newest))
	for _, a := range newest {
		chosen = append(chosen, a)
	}
	return chosen
}

// InstanceOf names the instance whose output an allocation has. Jobs on every node have one per node.
func InstanceOf(a *api.Allocation) string {
	if a.Job != nil && (a.Job.Type == api.JobTypeSystem || a.Job.Type == api.JobTypeSysBatch) {
		return a.Group + "@" + api.ShortID(a.NodeID)
	}
	return api.InstanceName(a.Group, a.Index())
}

// tasksOf returns the names of an allocation's tasks, in the order of its job.
func tasksOf(a *api.Allocation) []string {
	var names []string
	if a.Job != nil {
		if g := a.Job.Group(a.Group); g != nil {
			for _, t := range g.Tasks {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

// A Source is the output of a task of one kind.
type Source struct {
	Alloc      *api.Allocation
	Task, Type string
}

// SourcesOf returns the output that the query selects of an allocation.
func (q *Query) SourcesOf(a *api.Allocation) []Source {
	var sources []Source
	for _, task := range tasksOf(a) {
		if q.Task != "" && task != q.Task {
			continue
		}
		for _, kind := range []string{api.LogStdout, api.LogStderr} {
			if q.Type == "" || q.Type == kind {
				sources = append(sources, Source{a, task, kind})
			}
		}
	}
	return sources
}
