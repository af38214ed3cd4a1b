// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/state"
)

// echoNode is a node agent that says what it was asked, and whose exec sends
// its input back.
func echoNode(name string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s?%s", name, r.Method, r.URL.Path, r.URL.RawQuery)
	})
	mux.HandleFunc("GET /v1/client/fs/logs/{alloc}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "{\"File\":\"main.stdout.0\",\"Offset\":3,\"Data\":\"b25l\"}\n{}\n{\"File\":\"main.stdout.0\",\"Offset\":6,\"Data\":\"dHdv\"}\n")
	})
	mux.HandleFunc("GET /v1/client/allocation/{alloc}/exec", func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for {
			var in api.ExecInput
			if wsjson.Read(r.Context(), conn, &in) != nil {
				return
			}
			if in.Stdin != nil && len(in.Stdin.Data) > 0 {
				wsjson.Write(r.Context(), conn, api.ExecOutput{Stdout: &api.ExecIO{Data: bytes.ToUpper(in.Stdin.Data)}})
			}
			if in.Stdin != nil && in.Stdin.Close {
				wsjson.Write(r.Context(), conn, api.ExecOutput{Exited: true, Result: &api.ExecResult{ExitCode: 7}})
				conn.Read(r.Context()) // until the caller closes
				return
			}
		}
	})
	return mux
}

const (
	localNode, remoteNode, downNode = "11111111-0000-0000-0000-000000000000", "22222222-0000-0000-0000-000000000000", "33333333-0000-0000-0000-000000000000"
)

// newProxied is an API whose state has an allocation on this agent's node, on
// another agent's, and on one that is down: aaaa, bbbb and cccc.
func newProxied(t *testing.T) *client.Client {
	t.Helper()
	srv := newIdleServer(t)
	// The other agent is no server: it gets what is about its node.
	other := New(Config{Node: echoNode("remote"), NodeID: func() string { return remoteNode }})
	remote := httptest.NewServer(other)
	t.Cleanup(remote.Close)
	srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
	job := srv.Store().Snapshot().Job("default", "web")
	for i, id := range []string{localNode, remoteNode, downNode} {
		srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: id, Name: "n", HTTPAddr: remote.Listener.Addr().String(), Status: api.NodeStatusReady}})
		srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{{
			ID: strings.Repeat(string(rune('a'+i)), 8), Namespace: "default", JobID: "web", Job: job, NodeID: id, Name: "web.web[0]", Group: "web",
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
		}}}})
	}
	srv.apply(t, &state.UpdateNodeStatus{NodeID: downNode, Status: api.NodeStatusDown, Time: 2})
	return serve(t, New(Config{Server: srv.Server, Node: echoNode("local"), NodeID: func() string { return localNode }}))
}

func TestRequestsAboutTasksGoToTheirNode(t *testing.T) {
	c := newProxied(t)
	read := func(alloc, path string) (string, error) {
		body, err := c.FS().Cat(t.Context(), alloc, path)
		if err != nil {
			return "", err
		}
		defer body.Close()
		data, err := io.ReadAll(body)
		return string(data), err
	}
	for alloc, want := range map[string]string{
		"aaaaaaaa": "local GET /v1/client/fs/cat/aaaaaaaa?path=x%2Fy",
		"aaaa":     "local GET /v1/client/fs/cat/aaaaaaaa?path=x%2Fy",
		"bbbbbbbb": "remote GET /v1/client/fs/cat/bbbbbbbb?path=x%2Fy",
		"bb":       "remote GET /v1/client/fs/cat/bbbbbbbb?path=x%2Fy",
	} {
		if got, err := read(alloc, "x/y"); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", alloc, got, err, want)
		}
	}
	for alloc, want := range map[string]api.ErrorCode{"cccccccc": api.CodeUnavailable, "dddddddd": api.CodeNotFound} {
		if _, err := read(alloc, "x"); api.CodeOf(err) != want {
			t.Errorf("%s: got %v, want code %s", alloc, err, want)
		}
	}
}

func TestANodeThatCannotBeAskedSaysWhy(t *testing.T) {
	for want, n := range map[string]*api.Node{
		"":                                {ID: remoteNode, Name: "n", Status: api.NodeStatusReady, HTTPAddr: "127.0.0.1:1"},
		"see: reeve node status 22222222": {ID: remoteNode, Name: "n", Status: api.NodeStatusDown, HTTPAddr: "127.0.0.1:1"},
		"node 22222222 (n) has no address, so nothing can be read from it": {ID: remoteNode, Name: "n", Status: api.NodeStatusReady},
	} {
		if err := awayFrom(n); (err != nil) != (want != "") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestExecThroughAProxy(t *testing.T) {
	c := newProxied(t)
	for _, alloc := range []string{"aaaaaaaa", "bbbbbbbb"} {
		var out bytes.Buffer
		code, err := c.Allocations().Exec(t.Context(), alloc, client.Exec{
			Task: "main", Command: []string{"cat"}, Stdin: strings.NewReader("hello"), Stdout: &out,
		})
		if err != nil || code != 7 || out.String() != "HELLO" {
			t.Errorf("%s: got exit %d, %q, %v; want 7 and HELLO", alloc, code, out.String(), err)
		}
	}
	if _, err := c.Allocations().Exec(t.Context(), "zz", client.Exec{Task: "main", Command: []string{"cat"}}); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("an unknown allocation: got %v, want not_found", err)
	}
}

func TestLogsAreFrames(t *testing.T) {
	c := newProxied(t)
	for _, alloc := range []string{"aaaaaaaa", "bbbbbbbb"} {
		var got []string
		for frame, err := range c.FS().Logs(t.Context(), alloc, client.LogOptions{Task: "main"}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(frame.Data))
		}
		if strings.Join(got, "|") != "one|two" {
			t.Errorf("%s: got %q, want one and two", alloc, got)
		}
	}
}

func TestAnAgentWithoutAServerForwards(t *testing.T) {
	h := newHarness(t)
	h.register("web")
	agent := serve(t, New(Config{
		Servers: func() []string { return []string{h.http.Listener.Addr().String()} },
		Node:    echoNode("own"), NodeID: func() string { return localNode },
	}))
	if job, _, err := agent.Jobs().Get(t.Context(), "web", nil); err != nil || job.ID != "web" {
		t.Errorf("got %v, %v; want the job", job, err)
	}
	if health, err := agent.Status().Health(t.Context()); err != nil || health.Client == nil || !health.Client.Ok || health.Server != nil {
		t.Errorf("health is %+v, %v; want a good client and no server", health, err)
	}
	alone := serve(t, New(Config{}))
	if _, _, err := alone.Jobs().List(t.Context(), nil); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("an agent that knows no server: got %v, want unavailable", err)
	}
}

func TestNodeProtocol(t *testing.T) {
	h := newHarness(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	nodes := h.client.Nodes()
	if _, err := nodes.Heartbeat(ctx, testNode); api.CodeOf(err) != api.CodeNotFound {
		t.Fatalf("heartbeat of an unknown node: got %v, want not_found", err)
	}
	resp, err := nodes.Register(ctx, &api.Node{ID: testNode, Name: "n"})
	if err != nil || resp.HeartbeatTTL <= 0 || resp.Status != api.NodeStatusReady {
		t.Fatalf("register: got %+v, %v", resp, err)
	}
	if _, err := nodes.Heartbeat(ctx, testNode); err != nil {
		t.Fatalf("heartbeat: %v", err)
	}
	for message, err := range nodes.Stream(ctx, testNode, api.Position{}) {
		if err != nil || !message.Complete {
			t.Errorf("the stream's first message is %+v, %v; want a complete one", message, err)
		}
		break
	}
	if _, err := nodes.UpdateAllocations(ctx, testNode, nil); err != nil {
		t.Errorf("an empty report: %v", err)
	}
}

// TestAgentsOfEarlierReleasesMayServeNodes checks that the secrets of earlier agents are
// neither needed nor shown.
func TestAgentsOfEarlierReleasesMayServeNodes(t *testing.T) {
	h := newHarness(t)
	path, secret := "/v1/node/"+testNode, []string{"X-Reeve-Node-Secret", "hush"}
	if got := h.do(http.MethodPut, path+"/register", `{"Node": {"ID": "`+testNode+`", "Name": "n", "SecretID": "hush"}}`, secret...); got.status != http.StatusOK {
		t.Fatalf("register: %d %s", got.status, got.body)
	}
	for _, verb := range []string{"/heartbeat", "/allocations"} {
		if got := h.do(http.MethodPut, path+verb, "{}", secret...); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", verb, got.status, got.body)
		}
	}
	for _, shown := range []string{path, "/v1/nodes?resources=true", "/v1/nodes?filter=" + url.QueryEscape(`SecretID matches "h.*"`)} {
		if got := h.do(http.MethodGet, shown, ""); strings.Contains(got.body, "hush") {
			t.Errorf("%s shows the secret: %s", shown, got.body)
		}
	}
}
