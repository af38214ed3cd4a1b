// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// quotaSums returns the usage of every quota.
func quotaSums(v *Snapshot) map[string]map[string]api.QuotaUse {
	sums := map[string]map[string]api.QuotaUse{}
	for q := range v.QuotasPrefix("") {
		if used := v.QuotaUsed(q.Name); len(used) > 0 {
			sums[q.Name] = used
		}
	}
	return sums
}

// recomputedSums is quotaSums from nothing but namespaces and allocations.
func recomputedSums(v *Snapshot) map[string]map[string]api.QuotaUse {
	sums := map[string]map[string]api.QuotaUse{}
	for a := range v.Allocations() {
		use, pool := a.QuotaUse()
		var counted []string
		for _, n := range slices.Collect(v.NamespacesPrefix("")) {
			covers := n.Name == a.Namespace || strings.HasPrefix(a.Namespace, n.Name+"/")
			if !covers || n.Quota == "" || use == (api.QuotaUse{}) || slices.Contains(counted, n.Quota) {
				continue
			}
			counted = append(counted, n.Quota)
			if sums[n.Quota] == nil {
				sums[n.Quota] = map[string]api.QuotaUse{}
			}
			sums[n.Quota][pool] = sums[n.Quota][pool].Add(use)
		}
	}
	return sums
}

func recomputedJobs(v *Snapshot) map[string]api.QuotaUse {
	sums := map[string]api.QuotaUse{}
	for a := range v.Allocations() {
		if use, pool := a.QuotaUse(); use != (api.QuotaUse{}) && len(v.QuotasOf(a.Namespace)) > 0 {
			key := a.Namespace + " " + a.JobID + " " + pool
			sums[key] = sums[key].Add(use)
		}
	}
	return sums
}

// TestUsageOfQuotasIsThatOfTheAllocations changes namespaces, quotas, jobs and allocations at random
// and compares the sums with those of all allocations, also in a restored snapshot.
func TestUsageOfQuotasIsThatOfTheAllocations(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := New()
		index := uint64(10)
		apply := func(c Command) { // may be rejected: what is in use cannot be deleted
			index++
			s.Apply(index, []Command{c})
		}
		spaces := []string{"default", "a", "a/b", "a/b/c", "a-x", "b", "ab"}
		names := []string{"q1", "q2", "q3"}
		pools := []string{"default", "gpu", "all"}
		pick := func(list []string) string { return list[r.IntN(len(list))] }
		for _, name := range names {
			apply(PutQuota(&api.Quota{Name: name}, nil))
		}
		apply(&RegisterNode{Node: &api.Node{ID: "n", Name: "n", Status: api.NodeStatusReady}})
		moved := 0
		for step := range 400 {
			namespace := pick(spaces)
			id := pick([]string{"web", "db"})
			switch r.IntN(10) {
			case 0, 1:
				n := &api.Namespace{Name: namespace}
				if r.IntN(3) > 0 {
					n.Quota = pick(names)
				}
				apply(PutNamespace(n, nil))
			case 2:
				apply(DeleteNamespace(namespace, nil))
			case 3:
				apply(DeleteQuota(pick(names)))
				apply(PutQuota(&api.Quota{Name: pick(names)}, nil))
			case 4, 5:
				job := testJob(id)
				job.Namespace, job.NodePool = namespace, pick(pools)
				job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(r.IntN(500)), MemoryMB: ptr(r.IntN(500)), MemoryMaxMB: ptr(r.IntN(900) - 1)}
				if r.IntN(4) == 0 {
					job.Groups[0].Tasks[0].Resources.Cores = ptr(1 + r.IntN(4))
				}
				apply(&RegisterJob{Job: job})
			case 6, 7:
				job := s.Snapshot().Job(namespace, id)
				if job == nil {
					continue
				}
				p := &Placement{EvalID: "e", Job: job, Time: 1}
				for i := range 1 + r.IntN(3) {
					p.Place = append(p.Place, &api.Allocation{
						ID: fmt.Sprintf("a%d-%d", step, i), Namespace: namespace, JobID: id, Group: "web", NodeID: "n",
						Name: api.AllocName(id, "web", i), DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
					})
				}
				for a := range s.Snapshot().AllocationsByJob(namespace, id) {
					if r.IntN(3) == 0 {
						p.Stop = append(p.Stop, Stop{ID: a.ID})
					}
				}
				apply(&CommitPlacement{Placement: p})
			case 8:
				for a := range s.Snapshot().AllocationsByJob(namespace, id) {
					status := pick([]string{api.AllocClientRunning, api.AllocClientComplete, api.AllocClientFailed, api.AllocClientUnknown})
					apply(&UpdateAllocations{Allocations: []*api.Allocation{{ID: a.ID, ClientStatus: status}}, Time: 2})
				}
			case 9:
				for a := range s.Snapshot().AllocationsByJob(namespace, id) {
					if a.IsClientTerminal() {
						apply(&Collect{Allocations: []string{a.ID}})
					}
				}
			}
			v := s.Snapshot()
			if step%40 == 39 {
				var text bytes.Buffer
				if _, err := v.WriteTo(&text); err != nil {
					t.Fatal(err)
				}
				restored, err := Restore(&text)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(quotaSums(v), quotaSums(restored.Snapshot())); diff != "" {
					t.Fatalf("seed %d, step %d: restored (-before +after):\n%s", seed, step, diff)
				}
				s = restored
				v = s.Snapshot()
			}
			want := recomputedSums(v)
			if diff := cmp.Diff(want, quotaSums(v)); diff != "" {
				t.Fatalf("seed %d, step %d (-recomputed +kept):\n%s", seed, step, diff)
			}
			if len(want) > 0 {
				moved++
			}
			jobs := map[string]api.QuotaUse{}
			for _, namespace := range []string{"default", "a", "a-x", "b", "ab"} {
				v.QuotaJobs(namespace, func(u api.QuotaJobUsage) { jobs[u.Namespace+" "+u.JobID+" "+u.NodePool] = u.QuotaUse })
			}
			if diff := cmp.Diff(recomputedJobs(v), jobs); diff != "" {
				t.Fatalf("seed %d, step %d, by job (-recomputed +kept):\n%s", seed, step, diff)
			}
		}
		if moved < 100 {
			t.Errorf("seed %d: quotas were used in %d steps only", seed, moved)
		}
	}
}

// TestASharedQuotaCountsOnce lets a namespace and its parent name one quota.
func TestASharedQuotaCountsOnce(t *testing.T) {
	s := New()
	job := testJob("web")
	job.Namespace, job.NodePool = "a/b", "gpu"
	job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(100), MemoryMB: ptr(64)}
	for i, c := range []Command{
		PutQuota(&api.Quota{Name: "q"}, nil), PutNamespace(&api.Namespace{Name: "a", Quota: "q"}, nil),
		PutNamespace(&api.Namespace{Name: "a/b", Quota: "q"}, nil), &RegisterJob{Job: job},
		&CommitPlacement{Placement: &Placement{Job: job, Place: []*api.Allocation{{ID: "x", NodeID: "n", Group: "web"}}}},
	} {
		must(t, s.Apply(uint64(1+i), []Command{c}))
	}
	want := map[string]api.QuotaUse{"gpu": {CPU: 100, MemoryMB: 64, MemoryMaxMB: 64, Allocations: 1}}
	if diff := cmp.Diff(want, s.Snapshot().QuotaUsed("q")); diff != "" {
		t.Error(diff)
	}
}

func TestQuotasInUseStay(t *testing.T) {
	s := New()
	try := func(index uint64, c Command) error { return s.Apply(index, []Command{c})[0] }
	if err := try(1, PutNamespace(&api.Namespace{Name: "dev", Quota: "team"}, nil)); api.CodeOf(err) != api.CodeInvalid || !strings.Contains(err.Error(), "reeve quota apply") {
		t.Errorf("a namespace with an unknown quota: %v", err)
	}
	must(t, s.Apply(2, []Command{PutQuota(goldenQuota(), nil)}))
	must(t, s.Apply(3, []Command{PutNamespace(&api.Namespace{Name: "dev", Quota: "team"}, nil)}))
	if err := try(4, DeleteQuota("team")); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), `"dev"`) && !strings.Contains(err.Error(), "dev") {
		t.Errorf("delete a quota in use: %v", err)
	}
	must(t, s.Apply(5, []Command{PutNamespace(&api.Namespace{Name: "dev"}, nil)}))
	must(t, s.Apply(6, []Command{DeleteQuota("team")}))
	if err := try(7, DeleteQuota("team")); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("delete an unknown quota: %v", err)
	}
	for _, n := range []*api.Namespace{{Name: "a", Quota: "q"}, {Name: "a", NodePoolConfiguration: &api.NamespaceNodePools{}}} {
		if level, does := Needs(PutNamespace(n, nil)); level != 3 || does == "" {
			t.Errorf("%+v needs level %d (%q)", n, level, does)
		}
	}
	if level, _ := Needs(PutNamespace(&api.Namespace{Name: "a"}, nil)); level != 1 {
		t.Errorf("a namespace without a quota needs level %d", level)
	}
}

// BenchmarkMeter measures what usage costs per placed and stopped allocation.
func BenchmarkMeter(b *testing.B) {
	for _, limited := range []bool{false, true} {
		b.Run(fmt.Sprintf("limited=%t", limited), func(b *testing.B) {
			s := New()
			job := testJob("web")
			job.Namespace, job.NodePool = "a/b", "default"
			job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(100), MemoryMB: ptr(64)}
			parent := &api.Namespace{Name: "a"}
			if limited {
				parent.Quota = "q"
			}
			for i, c := range []Command{
				PutQuota(&api.Quota{Name: "q"}, nil), PutNamespace(parent, nil), PutNamespace(&api.Namespace{Name: "a/b"}, nil), &RegisterJob{Job: job},
			} {
				must(b, s.Apply(uint64(1+i), []Command{c}))
			}
			a := &api.Allocation{ID: "x", Namespace: "a/b", JobID: "web", Group: "web", Job: job, DesiredStatus: api.AllocDesiredRun}
			t := &txn{content: &s.work, gen: s.gen, index: 10}
			b.ReportAllocs()
			for b.Loop() {
				t.meter(nil, a)
				t.meter(a, nil)
			}
		})
	}
}
