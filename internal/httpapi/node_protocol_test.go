// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

// agents serves the harness's handler as an agent does, and counts connections.
func (h *harness) agents() (address string, connections func() int) {
	h.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	opened := make(chan struct{}, 1000)
	s := NewServer(h.handler, slog.New(slog.DiscardHandler))
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened <- struct{}{}
		}
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	h.t.Cleanup(func() {
		s.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			h.t.Error(err)
		}
	})
	return "http://" + l.Addr().String(), func() int { return len(opened) }
}

func testNodeOf(id string) *api.Node {
	return &api.Node{
		ID: id, Name: id, Attributes: map[string]string{"driver.mock": "1"},
		Drivers: map[string]*api.DriverStatus{"mock": {Detected: true, Healthy: true}},
		Resources: &api.NodeResources{
			CPU: api.NodeCPU{CPUShares: 4000}, Memory: api.NodeMemory{MemoryMB: 4000}, Disk: api.NodeDisk{DiskMB: 40000},
			MinDynamicPort: api.DynamicPortMin, MaxDynamicPort: api.DynamicPortMax,
		},
	}
}

// firstAllocations reads a node's stream until something is to run.
func firstAllocations(ctx context.Context, nodes client.Nodes, n *api.Node) (*api.NodeAllocations, error) {
	for m, err := range nodes.Stream(ctx, n.ID, api.Position{}) {
		if err != nil || len(m.Allocations) > 0 {
			return m, err
		}
	}
	return nil, io.EOF
}

func TestAgentsAndPeopleGetTheSameStream(t *testing.T) {
	h := newHarness(t)
	address, connections := h.agents()
	agent, err := client.New(client.Config{Address: address, Multiplex: true})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	n := testNodeOf("7b1f0d0e-1111-4222-8333-444455556666")
	if _, err := agent.Nodes().Register(ctx, n); err != nil {
		t.Fatal(err)
	}
	h.register("web")
	got, err := firstAllocations(ctx, agent.Nodes(), n)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Allocations) != 1 || len(got.Jobs) != 1 || got.Jobs[0].ID != "web" {
		t.Fatalf("the stream began with %+v, want the allocation and its job", got)
	}

	// The same over HTTP/1.1 as JSON.
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.http.URL+"/v1/node/"+n.ID+"/allocations/stream", nil)
	resp, err := h.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	plain := new(api.NodeAllocations)
	if kind := resp.Header.Get("Content-Type"); kind != "application/x-ndjson" {
		t.Errorf("without Accept the stream is %s", kind)
	}
	if err := decodeLine(resp.Body, plain); err != nil {
		t.Fatal(err)
	}
	got.HasVolumes, got.HasPrefetches = plain.HasVolumes, plain.HasPrefetches
	got.Complete, got.Index, got.ClusterID, got.Timeline = plain.Complete, plain.Index, plain.ClusterID, plain.Timeline // one came after the registration, one at once
	if diff := cmp.Diff(plain, got); diff != "" {
		t.Errorf("an agent is told otherwise than a person (-person +agent):\n%s", diff)
	}

	// What the agent says now goes in its own encoding.
	id := got.Allocations[0].ID
	now := time.Now().UTC()
	index, err := agent.Nodes().UpdateAllocations(ctx, n.ID, []*api.Allocation{{
		ID: id, ClientStatus: api.AllocClientRunning, JobID: "not the node's to say",
		TaskStates: map[string]*api.TaskState{"main": {State: api.TaskStateRunning, StartedAt: now}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	stored := h.server.Store().Snapshot().Allocation(id)
	if stored.ClientStatus != api.AllocClientRunning || stored.JobID != "web" || stored.ModifyIndex != index ||
		!stored.TaskStates["main"].StartedAt.Equal(now) {
		t.Errorf("after the report the allocation is %+v", stored)
	}
	if n := connections(); n != 1 {
		t.Errorf("the agent opened %d connections, want one for everything", n)
	}
}

func decodeLine(r io.Reader, v any) error {
	var line []byte
	for b := make([]byte, 1); ; {
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		if b[0] == '\n' {
			return json.Unmarshal(line, v)
		}
		line = append(line, b[0])
	}
}

func TestReportsThatAreNoReports(t *testing.T) {
	h := newHarness(t)
	n := testNodeOf("7b1f0d0e-1111-4222-8333-444455556666")
	if _, err := h.client.Nodes().Register(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	path := "/v1/node/" + n.ID + "/allocations"
	for name, c := range map[string]struct {
		body, want string
		status     int
	}{
		"garbage":        {"\x0a\xff", "is no " + nodeproto.Media, http.StatusBadRequest},
		"nothing at all": {"", "Index", http.StatusOK},
		"without an ID":  {"\x0a\x04\x2a\x02\x0a\x00", "has no ID", http.StatusBadRequest},
	} {
		a := h.do(http.MethodPut, path, c.body, "Content-Type", nodeproto.Media)
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: got %d %s, want %d with %q", name, a.status, a.body, c.status, c.want)
		}
	}
	index := h.server.Store().Index()
	for body, want := range map[string]string{ // in both encodings
		`[null]`:                             "Alloc[0] must be an object",
		`[{}]`:                               "Alloc[0] has no ID",
		`[{"ID": "a"}]`:                      `Alloc[0].ClientStatus is ""`,
		`[{"ID": "a", "ClientStatus": "?"}]`: `Alloc[0].ClientStatus is "?"`,
		`[{"ID": "a", "ClientStatus": "failed"}, {"ClientStatus": "failed"}]`: "Alloc[1] has no ID",
	} {
		var allocs []*api.Allocation
		if err := json.Unmarshal([]byte(body), &allocs); err != nil {
			t.Fatal(err)
		}
		if a := h.do(http.MethodPut, path, `{"Alloc": `+body+`}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, want) {
			t.Errorf("%s as JSON: got %d %s, want %q", body, a.status, a.body, want)
		}
		if allocs[0] == nil {
			continue // the encoding has no place for it
		}
		encoded, err := nodeproto.EncodeReport(allocs)
		if err != nil {
			t.Fatal(err)
		}
		if a := h.do(http.MethodPut, path, string(encoded), "Content-Type", nodeproto.Media); a.status != http.StatusBadRequest || !strings.Contains(a.body, want) {
			t.Errorf("%s as %s: got %d %s, want %q", body, nodeproto.Media, a.status, a.body, want)
		}
	}
	if now := h.server.Store().Index(); now != index {
		t.Errorf("rejected reports changed the state: index %d, want %d", now, index)
	}
}

func TestManyNodesShareConnections(t *testing.T) {
	h := newHarness(t)
	address, connections := h.agents()
	c, err := client.New(client.Config{Address: address, Multiplex: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const nodes = 100
	began, ended := make(chan error, nodes), make(chan struct{}, nodes)
	for i := range nodes {
		n := testNodeOf(api.NewID())
		n.Name = strings.Repeat("n", i+1)
		if _, err := c.Nodes().Register(ctx, n); err != nil {
			t.Fatal(err)
		}
		go func() {
			first := true
			for _, err := range c.Nodes().Stream(ctx, n.ID, api.Position{}) {
				if first {
					began <- err
				}
				first = false
			}
			ended <- struct{}{}
		}()
	}
	for range nodes {
		if err := <-began; err != nil {
			t.Fatal(err)
		}
	}
	if n := connections(); n != 1 {
		t.Errorf("%d streams are held over %d connections, want one", nodes, n)
	}
	cancel()
	for range nodes {
		<-ended
	}
}
