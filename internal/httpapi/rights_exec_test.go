// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// withCommands is a server with users whose node refuses each command with the request that it received.
// Its one allocation has a task of each kind.
func withCommands(t *testing.T, node http.Handler) *harness {
	t.Helper()
	srv := newIdleServer(t)
	srv.apply(t, &state.RaiseLevel{Level: state.Level})
	c := Config{Server: srv.Server, Node: node, NodeID: func() string { return localNode }}
	withUsers(t)(&c)
	h := &harness{t: t, server: srv.Server, handler: New(c)}
	t.Cleanup(h.handler.Close)
	job := storedJob("web")
	free := job.Groups[0].Tasks[0]
	free.Name, free.Driver = "free", "raw_exec"
	free.Actions = []*api.Action{{Name: "flush", Command: "/bin/flush"}}
	kept := *free
	kept.Name, kept.Driver = "kept", "exec"
	kept.Actions = []*api.Action{{Name: "dump", Command: "/bin/dump"}}
	later := *free
	later.Name, later.Driver, later.Actions = "later", "some-plugin", nil
	job.Groups[0].Tasks = append(job.Groups[0].Tasks, &kept, &later)
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: localNode, Name: "n", Status: api.NodeStatusReady}})
	srv.apply(t, &state.RegisterJob{Job: job})
	stored := h.server.Store().Snapshot().Job("default", "web")
	srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: stored, Time: 1, Place: []*api.Allocation{{
		ID: "aaaaaaaa-0000", Namespace: "default", JobID: "web", Job: stored, NodeID: localNode, Name: "web.web[0]", Group: stored.Groups[0].Name,
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
	}}}})
	h.policy("exec", `namespace "default" { capabilities = ["alloc-exec", "read-job"] }`)
	h.policy("node-exec", `namespace "default" { capabilities = ["alloc-exec", "alloc-node-exec", "read-job"] }`)
	h.policy("only-node", `namespace "default" { capabilities = ["alloc-node-exec", "read-job"] }`)
	h.policy("write", `namespace "default" { policy = "write" }`)
	return h
}

// TestCommandsWithoutIsolationNeedTheirOwnCapability asks for commands and actions in tasks of all kinds,
// also in forms that name the task differently to the server than to the node.
func TestCommandsWithoutIsolationNeedTheirOwnCapability(t *testing.T) {
	h := withCommands(t, requestNode("node"))
	ask := func(policy, path string) answer {
		p, _ := h.user(policy)
		return p.ask(t, h.handler, http.MethodGet, path, "")
	}
	const direct = "/v1/client/allocation/aaaaaaaa-0000/exec?command=%5B%22sh%22%5D&task="
	const action = "/v1/job/web/action?action="
	for _, test := range []struct {
		policy, path string
		status       int
		want         string
	}{
		{"exec", direct + "kept", http.StatusConflict, "node aaaaaaaa-0000"},
		{"exec", direct + "kept", http.StatusConflict, "isolated=true"},
		{"exec", direct + "free", http.StatusForbidden, `needs the capability alloc-node-exec: driver raw_exec does not isolate task "free"`},
		{"exec", direct + "later", http.StatusForbidden, "driver some-plugin"},
		{"exec", direct, http.StatusForbidden, "alloc-node-exec"},
		{"exec", direct + "none", http.StatusForbidden, "alloc-node-exec"},
		{"exec", direct + "kept&task=free", http.StatusConflict, "isolated=true"},
		{"exec", direct + "free&task=kept", http.StatusForbidden, "alloc-node-exec"},
		{"exec", direct + "free&isolated=true", http.StatusForbidden, "alloc-node-exec"},
		{"exec", direct + "kept&isolated=false", http.StatusConflict, "isolated=true"},
		{"exec", "/v1/client/allocation/aaaaaaaa/exec?task=free", http.StatusForbidden, "alloc-node-exec"},
		{"exec", action + "dump", http.StatusConflict, "isolated=true"},
		{"exec", action + "flush", http.StatusForbidden, "needs the capability alloc-node-exec"},
		{"exec", action + "flush&task=free&allocID=aaaaaaaa-0000", http.StatusForbidden, "alloc-node-exec"},
		{"write", direct + "kept", http.StatusConflict, "node"},
		{"write", direct + "free", http.StatusForbidden, `add "alloc-node-exec"`},
		{"write", action + "flush", http.StatusForbidden, "alloc-node-exec"},
		{"node-exec", direct + "free", http.StatusConflict, "node"},
		{"node-exec", direct + "kept", http.StatusConflict, "node"},
		{"node-exec", action + "flush", http.StatusConflict, "action=flush&task=free"},
		{"only-node", direct + "free", http.StatusForbidden, "needs the capability alloc-exec"},
		{"only-node", action + "flush", http.StatusForbidden, "needs the capability alloc-exec"},
	} {
		got := ask(test.policy, test.path)
		if got.status != test.status || !strings.Contains(got.body, test.want) {
			t.Errorf("%s: %s: %d %s, want %d with %q", test.policy, test.path, got.status, got.body, test.status, test.want)
		}
		if test.policy == "node-exec" && strings.Contains(got.body, "isolated") {
			t.Errorf("%s: the node is told to refuse: %s", test.path, got.body)
		}
	}
	manager, _ := h.user()
	if got := manager.ask(t, h.handler, http.MethodGet, direct+"free", ""); got.status != http.StatusConflict {
		t.Errorf("a management token: %d %s", got.status, got.body)
	}
}

// TestALostCapabilityEndsTheCommand takes the capability away while a command runs.
func TestALostCapabilityEndsTheCommand(t *testing.T) {
	begun := make(chan struct{}, 2)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/client/allocation/{alloc}/exec", func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	})
	h := withCommands(t, mux)
	p, _ := h.user("node-exec")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.ask(t, h.handler, http.MethodGet, "/v1/client/allocation/aaaaaaaa-0000/exec?task=free", "")
	}()
	<-begun
	h.policy("node-exec", `namespace "default" { capabilities = ["alloc-exec", "read-job"] }`)
	<-ended
}
