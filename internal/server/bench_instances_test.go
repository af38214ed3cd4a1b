// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// A crowd is jobs of 100 instances each, ten jobs to a domain, 250 instances to
// a node.
func crowd(tb testing.TB, jobs int) *server.Server {
	tb.Helper()
	const each, perNode, perDomain = 100, 250, 10
	srv, err := server.New(server.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	store := srv.Store()
	apply := func(cmds ...state.Command) {
		for i, err := range store.Apply(store.Index()+1, cmds) {
			if err != nil {
				tb.Fatalf("%s: %v", cmds[i].Name(), err)
			}
		}
	}
	nodes := jobs * each / perNode
	for n := range nodes {
		apply(&state.RegisterNode{Node: &api.Node{ID: fmt.Sprintf("n%04d", n), Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible}})
	}
	healthy := true
	for i := range jobs {
		job := serviceJob(fmt.Sprintf("job-%05d", i), each)
		job.Domain = fmt.Sprintf("domain-%d", i/perDomain)
		job.Canonicalize()
		apply(&state.RegisterJob{Job: job})
		job = store.Snapshot().Job(job.Namespace, job.ID)
		p := &state.Placement{Job: job, Time: 1}
		var updates []*api.Allocation
		for k := range each {
			// The same jobs meet on a node, however many nodes there are.
			n := i/perNode*each + k
			a := &api.Allocation{
				ID: fmt.Sprintf("a%05d-%03d", i, k), Namespace: job.Namespace, JobID: job.ID, Job: job, Group: job.Groups[0].Name,
				Name: api.AllocName(job.ID, job.Groups[0].Name, k), NodeID: fmt.Sprintf("n%04d", n%nodes),
			}
			p.Place = append(p.Place, a)
			updates = append(updates, &api.Allocation{ID: a.ID, ClientStatus: api.AllocClientRunning, DeploymentStatus: &api.AllocDeploymentStatus{Healthy: &healthy}})
		}
		apply(&state.CommitPlacement{Placement: p}, &state.UpdateAllocations{Allocations: updates, Time: 2})
	}
	return srv
}

// instanceQuestions are ways of asking for some instances among many.
var instanceQuestions = []struct {
	name string
	want int
	ask  func(tb testing.TB, srv *server.Server) int
}{
	{"job", 100, func(tb testing.TB, srv *server.Server) int {
		return len(allInstances(tb, srv, server.InstanceFilter{Namespace: "default", Job: "job-00007"}))
	}},
	{"index", 1, func(tb testing.TB, srv *server.Server) int {
		list, _, err := srv.Instances(tb.Context(), "default", "job-00007")
		if err != nil {
			tb.Fatal(err)
		}
		return len(api.FindInstances(list, list[42].Name))
	}},
	{"domain", 1000, func(tb testing.TB, srv *server.Server) int {
		domain := "domain-3"
		return len(allInstances(tb, srv, server.InstanceFilter{Namespace: "default", Domain: &domain}))
	}},
	{"node", 250, func(tb testing.TB, srv *server.Server) int {
		return len(allInstances(tb, srv, server.InstanceFilter{Namespace: "default", Node: "n0042"}))
	}},
	{"page", 100, func(tb testing.TB, srv *server.Server) int {
		jobs, _ := srv.InstancesByJob(server.InstanceFilter{Namespace: "default", From: &api.NamespacedID{Namespace: "default", ID: "job-00100"}})
		for list := range jobs {
			return len(list)
		}
		return 0
	}},
}

func allInstances(tb testing.TB, srv *server.Server, f server.InstanceFilter) []*api.Instance {
	tb.Helper()
	list, _, err := srv.AllInstances(tb.Context(), f)
	if err != nil {
		tb.Fatal(err)
	}
	return list
}

// BenchmarkInstances asks 250,000 instances of 2,500 jobs on 1,000 nodes.
func BenchmarkInstances(b *testing.B) {
	srv := crowd(b, 2500)
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n := len(allInstances(b, srv, server.InstanceFilter{Namespace: "*"})); n != 250_000 {
				b.Fatalf("%d instances", n)
			}
		}
	})
	for _, q := range instanceQuestions {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := q.ask(b, srv); n != q.want {
					b.Fatalf("%d instances, want %d", n, q.want)
				}
			}
		})
	}
}

// TestSomeInstancesCostWhatTheyAre asks for the same instances among few and among
// four times as many: what is not asked for costs nothing but a look at the jobs.
func TestSomeInstancesCostWhatTheyAre(t *testing.T) {
	few, many := crowd(t, 250), crowd(t, 1000)
	for _, q := range instanceQuestions {
		if n := q.ask(t, many); n != q.want {
			t.Errorf("by %s: %d instances, want %d", q.name, n, q.want)
		}
		among := func(srv *server.Server) float64 { return testing.AllocsPerRun(5, func() { q.ask(t, srv) }) }
		if a, b := among(few), among(many); b > 1.05*a+50 {
			t.Errorf("by %s: %.0f objects among 25,000, %.0f among 100,000", q.name, a, b)
		}
	}
}
