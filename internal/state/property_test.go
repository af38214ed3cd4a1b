// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// model is the store as one would write it without a thought for speed: maps,
// and everything else worked out from them.
type model struct {
	jobs        map[string]*api.Job
	nodes       map[string]string // status by id
	evaluations map[string]*api.Evaluation
	allocations map[string]*api.Allocation
	past        map[string]bool // ids of allocations whose job was purged since
}

func newModel() *model {
	return &model{map[string]*api.Job{}, map[string]string{}, map[string]*api.Evaluation{}, map[string]*api.Allocation{}, map[string]bool{}}
}

func (m *model) status(id string) string {
	job := m.jobs[id]
	any, open := false, false
	for _, a := range m.allocations {
		if a.JobID == id {
			any = true
			if !a.IsTerminal() {
				return api.JobStatusRunning
			}
		}
	}
	for _, e := range m.evaluations {
		if e.JobID == id {
			any = true
			open = open || !e.IsTerminal()
		}
	}
	if open || !any && !job.Stop {
		return api.JobStatusPending
	}
	return api.JobStatusDead
}

// check compares everything that the model knows with the snapshot.
func (m *model) check(t *rapid.T, v *Snapshot) {
	t.Helper()
	type job struct {
		Status  string
		Stop    bool
		Version uint64
		Allocs  []string
		Evals   []string
		Summary map[string]int
	}
	want, got := map[string]job{}, map[string]job{}
	for id, j := range m.jobs {
		w := job{Status: m.status(id), Stop: j.Stop, Version: j.Version, Summary: map[string]int{}}
		for _, a := range m.allocations {
			if a.JobID == id {
				w.Allocs = append(w.Allocs, a.ID+" "+a.ClientStatus+" "+a.DesiredStatus+" "+a.NodeID)
				if !m.past[a.ID] || !a.IsClientTerminal() { // a job that was registered again has no past
					w.Summary[a.ClientStatus]++
				}
			}
		}
		for _, e := range m.evaluations {
			if e.JobID == id {
				w.Evals = append(w.Evals, e.ID+" "+e.Status)
			}
		}
		slices.Sort(w.Allocs)
		slices.Sort(w.Evals)
		want[id] = w
	}
	for j := range v.Jobs() {
		g := job{Status: j.Status, Stop: j.Stop, Version: j.Version, Summary: map[string]int{}}
		for a := range v.AllocationsByJob(j.Namespace, j.ID) {
			g.Allocs = append(g.Allocs, a.ID+" "+a.ClientStatus+" "+a.DesiredStatus+" "+a.NodeID)
		}
		for e := range v.EvaluationsByJob(j.Namespace, j.ID) {
			g.Evals = append(g.Evals, e.ID+" "+e.Status)
		}
		slices.Sort(g.Allocs)
		slices.Sort(g.Evals)
		for _, s := range v.JobSummary(j.Namespace, j.ID).Summary {
			for status, n := range map[string]int{
				api.AllocClientPending: s.Starting, api.AllocClientRunning: s.Running, api.AllocClientComplete: s.Complete,
				api.AllocClientFailed: s.Failed, api.AllocClientLost: s.Lost,
			} {
				if n != 0 {
					g.Summary[status] += n
				}
			}
		}
		got[j.ID] = g
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("jobs (-model +store):\n%s", diff)
	}
	var ids []string
	for a := range v.Allocations() {
		ids = append(ids, a.ID)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(m.allocations)), ids); diff != "" && len(ids)+len(m.allocations) > 0 {
		t.Fatalf("allocations in order (-model +store):\n%s", diff)
	}
	if v.AllocationCount() != len(m.allocations) {
		t.Fatalf("AllocationCount = %d, want %d", v.AllocationCount(), len(m.allocations))
	}
	for id := range m.nodes {
		n := 0
		for _, a := range m.allocations {
			if a.NodeID == id {
				n++
			}
		}
		for range v.AllocationsByNode(id) {
			n--
		}
		if n != 0 {
			t.Fatalf("node %s lacks %d allocations", id, n)
		}
	}
}

// world draws commands and tells the model what they should do.
type world struct {
	model
	t     *rapid.T
	store *Store // to look jobs up
	made  int
	// purged are the jobs that an earlier command of the same entry removed.
	purged map[string]bool
}

// id is sometimes in UUID form and sometimes not.
func (w *world) id(kind string) string {
	w.made++
	if w.made%3 == 0 {
		return fmt.Sprintf("%s-%d", kind, w.made)
	}
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", w.made*2654435761%(1<<32), w.made)
}

func pick[T any](w *world, m map[string]T) (string, bool) {
	if len(m) == 0 {
		return "", false
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(w.t, "pick"), true
}

func (w *world) evaluation(job string) *api.Evaluation {
	e := &api.Evaluation{
		ID: w.id("eval"), Namespace: api.DefaultNamespace, JobID: job, Type: api.JobTypeService,
		Status: rapid.SampledFrom([]string{api.EvalStatusPending, api.EvalStatusBlocked, api.EvalStatusComplete}).Draw(w.t, "evaluation"),
	}
	w.evaluations[e.ID] = e
	return e
}

func (w *world) command() Command {
	job := fmt.Sprintf("job-%d", rapid.IntRange(0, 3).Draw(w.t, "job"))
	switch rapid.IntRange(0, 9).Draw(w.t, "command") {
	case 0:
		j := testJob(job)
		j.Priority = rapid.IntRange(1, 3).Draw(w.t, "priority")
		c := &RegisterJob{Job: j, Submission: &api.JobSubmission{Source: job, Format: "hcl2"}, Evaluation: w.evaluation(job)}
		stored := *j
		if old := w.jobs[job]; old != nil {
			if stored.Version = old.Version; old.Stop || old.Priority != j.Priority {
				stored.Version++
			}
		}
		w.jobs[job] = &stored
		return c
	case 1:
		c := &DeregisterJob{Namespace: api.DefaultNamespace, ID: job, Purge: rapid.Bool().Draw(w.t, "purge")}
		if old := w.jobs[job]; old != nil {
			stopped := *old
			if !old.Stop {
				stopped.Version++
			}
			stopped.Stop = true
			w.jobs[job] = &stopped
			if c.Purge && !w.holds(job) {
				delete(w.jobs, job)
				w.purged[job] = true
				for id, a := range w.allocations {
					if a.JobID == job {
						w.past[id] = true
					}
				}
			}
		}
		return c
	case 2:
		node := &api.Node{ID: w.id("node"), Status: api.NodeStatusReady}
		w.nodes[node.ID] = node.Status
		return &RegisterNode{Node: node}
	case 3, 4, 5:
		return w.place(job)
	case 6:
		id, ok := pick(w, w.allocations)
		if !ok {
			return &DeleteEvaluations{}
		}
		a := w.allocations[id].Copy()
		a.ClientStatus = rapid.SampledFrom([]string{api.AllocClientRunning, api.AllocClientComplete, api.AllocClientFailed}).Draw(w.t, "status")
		w.allocations[id] = a
		return &UpdateAllocations{NodeID: a.NodeID, Allocations: []*api.Allocation{{ID: id, ClientStatus: a.ClientStatus}}}
	case 7:
		id, ok := pick(w, w.evaluations)
		if !ok {
			return &DeleteEvaluations{}
		}
		e := w.evaluations[id].Copy()
		e.Status = api.EvalStatusComplete
		w.evaluations[id] = e
		return &PutEvaluations{Evaluations: []*api.Evaluation{e}}
	case 8:
		c := &Collect{}
		for id, a := range w.allocations {
			if a.IsTerminal() {
				c.Allocations = append(c.Allocations, id)
				delete(w.allocations, id)
			}
		}
		for id, e := range w.evaluations {
			if e.IsTerminal() {
				c.Evaluations = append(c.Evaluations, id)
				delete(w.evaluations, id)
			}
		}
		slices.Sort(c.Allocations)
		slices.Sort(c.Evaluations)
		return c
	}
	id, _ := pick(w, w.nodes)
	delete(w.nodes, id)
	return &DeleteNode{IDs: []string{id}}
}

// holds reports whether something of the job may be running.
func (w *world) holds(job string) bool {
	for _, a := range w.allocations {
		if a.JobID == job && a.HoldsResources() {
			return true
		}
	}
	return false
}

// place is a placement of some new allocations and some stops.
func (w *world) place(job string) Command {
	p := &Placement{EvalID: w.id("eval"), Time: 7}
	if stored := w.store.Snapshot().Job(api.DefaultNamespace, job); stored != nil && w.jobs[job] != nil && w.jobs[job].Version == stored.Version {
		p.Job = stored
		for range rapid.IntRange(0, 3).Draw(w.t, "place") {
			node, ok := pick(w, w.nodes)
			if !ok {
				break
			}
			a := &api.Allocation{
				ID: w.id("alloc"), Namespace: stored.Namespace, JobID: job, Job: stored, Group: "web", Name: api.AllocName(job, "web", w.made),
				EvalID: p.EvalID, NodeID: node, DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
			}
			p.Place = append(p.Place, a)
			if !w.purged[job] { // else it is of a job that is not the stored one any more, and refused
				w.allocations[a.ID] = a
			}
		}
	}
	if id, ok := pick(w, w.allocations); ok && len(p.Place) == 0 {
		a := w.allocations[id].Copy()
		a.DesiredStatus = api.AllocDesiredStop
		w.allocations[id] = a
		p.Stop = append(p.Stop, Stop{ID: id, Description: "stopped"})
	}
	return &CommitPlacement{p}
}

// TestStoreIsItsModel applies random commands and compares the store with the
// model, its snapshots with what they were when they were taken, a second store
// that is fed the log with the first, and one restored from a snapshot file
// with the one that wrote it.
func TestStoreIsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store, twin := New(), New()
		w := &world{model: *newModel(), t: t, store: store, purged: map[string]bool{}}
		type old struct {
			snapshot *Snapshot
			text     string
		}
		var olds []old
		entries := rapid.IntRange(1, 40).Draw(t, "entries")
		for index := uint64(1); index <= uint64(entries); index++ {
			var commands []Command
			clear(w.purged)
			for range rapid.IntRange(1, 3).Draw(t, "commands") {
				commands = append(commands, w.command())
			}
			entry := EncodeCommands(commands)
			for _, s := range []*Store{store, twin} {
				decoded, err := DecodeCommands(entry)
				if err != nil {
					t.Fatal(err)
				}
				s.Apply(index, decoded)
			}
			w.check(t, store.Snapshot())
			if index%8 == 0 {
				olds = append(olds, old{store.Snapshot(), dumpText(t, store.Snapshot())})
			}
		}
		for _, o := range olds {
			if text := dumpText(t, o.snapshot); text != o.text {
				t.Fatalf("a snapshot changed after it was taken (-then +now):\n%s", cmp.Diff(o.text, text))
			}
		}
		if a, b := dumpText(t, store.Snapshot()), dumpText(t, twin.Snapshot()); a != b {
			t.Fatalf("two stores fed the same log differ (-one +other):\n%s", cmp.Diff(a, b))
		}
		var file bytes.Buffer
		if _, err := store.Snapshot().WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		restored, err := Restore(&file)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := dumpText(t, store.Snapshot()), dumpText(t, restored.Snapshot()); a != b {
			t.Fatalf("the restored store differs (-written +restored):\n%s", cmp.Diff(a, b))
		}
	})
}

func dumpText(t *rapid.T, v *Snapshot) string {
	t.Helper()
	return dumpOf(v).text(failer{t})
}
