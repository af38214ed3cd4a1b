// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// placed returns an allocation of a job on a node, which uses 100 MHz, 64 MB and 10 MB of disk.
func placed(job *api.Job, id, node string) *api.Allocation {
	return &api.Allocation{
		ID: id, Namespace: job.Namespace, JobID: job.ID, Job: job, NodeID: node, Name: api.AllocName(job.ID, "web", 0), Group: "web",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
		AllocatedResources: &api.AllocatedResources{
			Shared: api.AllocatedShared{DiskMB: 10},
			Tasks:  map[string]*api.AllocatedTask{"main": {CPU: api.AllocatedCPU{CPUShares: 100}, Memory: api.AllocatedMemory{MemoryMB: 64}}},
		},
	}
}

// topologyNode returns a node with 1,000 MHz, 1,024 MB and 2,048 MB of disk.
func topologyNode(id, datacenter, class string) *api.Node {
	n := &api.Node{
		ID: id, Name: "node-" + id, Datacenter: datacenter, NodeClass: class, Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
		Meta: map[string]string{"rack": "r-" + datacenter}, Resources: &api.NodeResources{},
	}
	n.Resources.CPU.CPUShares, n.Resources.Memory.MemoryMB, n.Resources.Disk.DiskMB = 1000, 1024, 2048
	return n
}

func TestTopologyHasAColumnPerProperty(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	for _, id := range []string{"b", "a", "c"} {
		class := "large"
		if id == "c" {
			class = ""
		}
		srv.apply(t, &state.RegisterNode{Node: topologyNode(id, "dc-"+id, class)})
	}
	srv.apply(t, &state.SetNodeEligibility{NodeID: "c", Eligibility: api.NodeIneligible})
	for _, id := range []string{"web", "db"} {
		srv.apply(t, &state.RegisterJob{Job: storedJob(id)})
	}
	web, db := srv.Store().Snapshot().Job("default", "web"), srv.Store().Snapshot().Job("default", "db")
	srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: web, Time: 1, Place: []*api.Allocation{placed(web, "w1", "a"), placed(web, "w2", "a"), placed(web, "w3", "b")}}},
		&state.CommitPlacement{Placement: &state.Placement{Job: db, Time: 1, Place: []*api.Allocation{placed(db, "d1", "b")}}})
	srv.apply(t, &state.UpdateAllocations{NodeID: "a", Time: 2, Allocations: []*api.Allocation{{ID: "w2", NodeID: "a", ClientStatus: api.AllocClientComplete}}})
	var got api.Topology
	a := request(h, http.MethodGet, "/v1/topology?job=web", "")
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	want := api.Topology{
		ID: []string{"a", "b", "c"}, Name: []string{"node-a", "node-b", "node-c"},
		Datacenter:  api.TextColumn{Values: []string{"dc-a", "dc-b", "dc-c"}, Codes: []int{0, 1, 2}},
		Zone:        api.TextColumn{Values: []string{"dc-a", "dc-b", "dc-c"}, Codes: []int{0, 1, 2}},
		NodeClass:   api.TextColumn{Values: []string{"large", ""}, Codes: []int{0, 0, 1}},
		NodePool:    api.TextColumn{Values: []string{"default"}, Codes: []int{0, 0, 0}},
		Status:      api.TextColumn{Values: []string{"ready"}, Codes: []int{0, 0, 0}},
		Eligibility: api.TextColumn{Values: []string{"eligible", "ineligible"}, Codes: []int{0, 0, 1}},
		Draining:    []bool{false, false, false}, Silent: []bool{false, false, false},
		CPU: []int64{1000, 1000, 1000}, CPUUsed: []int64{100, 200, 0},
		MemoryMB: []int64{1024, 1024, 1024}, MemoryUsed: []int64{64, 128, 0},
		DiskMB: []int64{2048, 2048, 2048}, DiskUsed: []int64{10, 20, 0},
		Allocations: []int{1, 2, 0}, JobCount: []int{1, 1, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for row, class := range []string{"large", "large", ""} {
		if got.NodeClass.At(row) != class {
			t.Errorf("row %d has the class %q, want %q", row, got.NodeClass.At(row), class)
		}
	}

	config := *srv.Store().Snapshot().SchedulerConfig()
	config.ZoneAttribute = "${meta.rack}"
	srv.apply(t, &state.SetSchedulerConfig{Config: &config})
	if a := request(h, http.MethodGet, "/v1/topology", ""); !strings.Contains(a.body, `"Zone":{"Values":["r-dc-a","r-dc-b","r-dc-c"],`) || strings.Contains(a.body, "JobCount") {
		t.Errorf("by rack and without a job: %s", a.body)
	}
}

func TestTopologyOfNothingHasNoNull(t *testing.T) {
	h := New(Config{Server: newIdleServer(t).Server})
	if a := request(h, http.MethodGet, "/v1/topology?job=none", ""); a.status != http.StatusOK || strings.Contains(a.body, "null") {
		t.Errorf("got %d %s, want empty columns", a.status, a.body)
	}
}

// Who may read nodes sees how full they are, but not where a job of another namespace runs.
func TestTopologyCountsOnlyJobsThatTheCallerMayRead(t *testing.T) {
	h := newHarness(t, withUsers(t))
	if _, err := h.server.PutNamespace(t.Context(), &api.Namespace{Name: "dev"}, nil); err != nil {
		t.Fatal(err)
	}
	h.policy("nodes", "node { policy = \"read\" }\nnamespace \"dev\" { policy = \"read\" }")
	n := topologyNode(testNode, "dc1", "large")
	n.Drivers = map[string]*api.DriverStatus{"mock": {Detected: true, Healthy: true}}
	if _, err := h.server.RegisterNode(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	h.registerWeb()
	v := h.server.Store().Snapshot
	wait.Until(t, "the job is placed", func() bool { return v().AllocationCount() == 1 })
	limited, _ := h.user("nodes")
	manager, _ := h.user()
	for _, c := range []struct {
		peer
		query  string
		status int
		says   string
	}{
		{limited, "", http.StatusOK, `"Allocations":[1]`},
		{limited, "?job=web", http.StatusForbidden, "read-job"},
		{limited, "?job=web&namespace=*", http.StatusOK, `"JobCount":[0]`},
		{limited, "?job=web&namespace=dev", http.StatusOK, `"JobCount":[0]`},
		{limited, "?namespace=dev&job=" + url.QueryEscape("../\x00<x>"), http.StatusOK, `"JobCount":[0]`},
		{manager, "?job=web", http.StatusOK, `"JobCount":[1]`},
		{manager, "?job=web&namespace=*", http.StatusOK, `"JobCount":[1]`},
	} {
		if got := c.ask(t, h.handler, http.MethodGet, "/v1/topology"+c.query, ""); got.status != c.status || !strings.Contains(got.body, c.says) {
			t.Errorf("%q: got %d %s, want %d and %s in it", c.query, got.status, got.body, c.status, c.says)
		}
	}
}

// A blocking query wakes when an allocation changes.
func TestTopologyBlocksUntilAnAllocationChanges(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		srv := newIdleServer(t)
		h := New(Config{Server: srv.Server})
		srv.apply(t, &state.RegisterNode{Node: topologyNode("a", "dc1", "large")}, &state.RegisterJob{Job: storedJob("web")})
		w, done := ask(h, fmt.Sprintf("/v1/topology?index=%d", srv.Store().Index()))
		synctest.Wait()
		select {
		case <-done:
			t.Fatalf("the query did not wait: %s", w.Body)
		default:
		}
		job := srv.Store().Snapshot().Job("default", "web")
		srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{placed(job, "w1", "a")}}})
		<-done
		if !strings.Contains(w.Body.String(), `"Allocations":[1]`) {
			t.Errorf("got %s, want one allocation", w.Body)
		}
	})
}

// applier returns a function that applies commands to a store, each time at the next index.
func applier(b *testing.B, store *state.Store) func(...state.Command) {
	index := uint64(1)
	return func(commands ...state.Command) {
		b.Helper()
		for _, err := range store.Apply(index, commands) {
			if err != nil {
				b.Fatal(err)
			}
		}
		index++
	}
}

// crowded returns a handler whose server has 10,000 nodes and 100,000 allocations of 100 jobs.
func crowded(b *testing.B) *Handler {
	b.Helper()
	srv := newIdleServer(b)
	apply := applier(b, srv.Store())
	ids := make([]string, 10_000)
	for i := range ids {
		n := topologyNode(api.NewID(), fmt.Sprintf("dc%d", i%3), []string{"small", "large", "gpu"}[i%3])
		n.Name, n.Meta["zone"] = fmt.Sprintf("worker-%05d.example.com", i), fmt.Sprintf("zone-%d", i%12)
		n.Drivers = map[string]*api.DriverStatus{"exec": {Detected: true, Healthy: true}, "container": {Detected: true, Healthy: true}, "raw_exec": {Detected: true, Healthy: true}}
		ids[i] = n.ID
		apply(&state.RegisterNode{Node: n})
	}
	for j := range 100 {
		apply(&state.RegisterJob{Job: storedJob(fmt.Sprintf("job-%03d", j))})
		job := srv.Store().Snapshot().Job("default", fmt.Sprintf("job-%03d", j))
		p := &state.Placement{Job: job, Time: 1}
		for i := range 1000 {
			a := placed(job, api.NewID(), ids[(j*1000+i*7)%len(ids)])
			a.Name = api.AllocName(job.ID, "web", i)
			p.Place = append(p.Place, a)
		}
		apply(&state.CommitPlacement{Placement: p})
	}
	return New(Config{Server: srv.Server})
}

// benchmarkAnswer measures an answer: its time, its bytes and its compressed bytes.
func benchmarkAnswer(b *testing.B, h *Handler, path string) {
	b.Helper()
	var size countingWriter
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != http.StatusOK {
		b.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	z, _ := gzip.NewWriterLevel(&size, gzip.BestSpeed)
	z.Write(w.Body.Bytes())
	z.Close()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	b.ReportMetric(float64(w.Body.Len()), "bytes")
	b.ReportMetric(float64(size), "gz-bytes")
}

type countingWriter int

func (w *countingWriter) Write(p []byte) (int, error) {
	*w += countingWriter(len(p))
	return len(p), nil
}

// BenchmarkTopology compares the ways to read ten thousand nodes with a hundred thousand allocations.
func BenchmarkTopology(b *testing.B) {
	h := crowded(b)
	for _, path := range []string{"/v1/topology", "/v1/topology?job=job-007", "/v1/nodes", "/v1/nodes?resources"} {
		b.Run(path, func(b *testing.B) { benchmarkAnswer(b, h, path) })
	}
}
