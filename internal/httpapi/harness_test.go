// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// harness is a real server behind the handler, on loopback.
type harness struct {
	t       *testing.T
	server  *server.Server
	handler *Handler
	http    *httptest.Server
	client  *client.Client
}

func newHarness(t *testing.T, change ...func(*Config)) *harness {
	t.Helper()
	return newHarnessOf(t, server.Config{}, change...)
}

// newHarnessOf returns a harness whose server has more settings than others.
func newHarnessOf(t *testing.T, config server.Config, change ...func(*Config)) *harness {
	t.Helper()
	config.DataDir, config.Addr, config.Member, config.Logger = t.TempDir(), "127.0.0.1:4646", founder(t), slog.New(slog.DiscardHandler)
	s, err := server.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.IsLeader() && s.Store().Snapshot().Level() == state.Level {
		wait.Until(t, "a root key is active", func() bool { return s.Store().Snapshot().ActiveRootKey() != nil })
	}
	c := Config{Server: s, Name: "test", Version: "0.0.0", Router: func() *api.RouterStatus { return &api.RouterStatus{} }}
	for _, f := range change {
		f(&c)
	}
	if c.Door == nil {
		c.Door = doorFor(t, door.Process{UID: uint32(os.Geteuid())})
	}
	h := &harness{t: t, server: s, handler: New(c)}
	h.http = httptest.NewUnstartedServer(h.handler)
	h.http.Config.ConnContext = c.Door.Mark
	h.http.Start()
	if h.client, err = client.New(client.Config{Address: h.http.URL}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.client.Close()
		h.handler.Close()
		h.http.Client().CloseIdleConnections()
		h.http.CloseClientConnections()
		h.http.Close()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

// doorToken is that of doorFor.
const doorToken = "the-agents-own-secret-token"

// doorFor is a door all of whose callers are the same.
func doorFor(t *testing.T, caller door.Process) *door.Door {
	t.Helper()
	d, err := door.New(door.Config{
		Token: doorToken, TokenFile: "agent.token",
		Identify: func(_, _ netip.AddrPort) (door.Process, error) { return caller, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   string
}

func (h *harness) do(method, path, body string, header ...string) answer {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.http.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.Host = req.Header.Get("Host") // "": that of the URL
	resp, err := h.http.Client().Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

// get reads a good answer into v.
func (h *harness) get(path string, v any) answer {
	h.t.Helper()
	a := h.do(http.MethodGet, path, "")
	if a.status != http.StatusOK {
		h.t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	if v != nil {
		if err := json.Unmarshal([]byte(a.body), v); err != nil {
			h.t.Fatalf("GET %s: %v in %s", path, err, a.body)
		}
	}
	return a
}

// testJob is a job that nothing is wrong with.
func testJob(id string) *api.Job {
	count := 1
	return &api.Job{
		ID: id, Name: id, Type: api.JobTypeService, Datacenters: []string{"*"}, Meta: map[string]string{"team": "web"},
		Groups: []*api.Group{{
			Name: "web", Count: &count,
			Tasks: []*api.Task{{Name: "main", Driver: "mock", Config: map[string]any{"run_for": "1h"}}},
		}},
	}
}

func (h *harness) register(id string) *api.RegisterJobResponse {
	h.t.Helper()
	resp, err := h.client.Jobs().Register(h.t.Context(), &api.RegisterJobRequest{Job: testJob(id)})
	if err != nil {
		h.t.Fatal(err)
	}
	return resp
}

// An idleServer is a server whose state only the test changes: of its loops, only
// the catalog's runs.
type idleServer struct{ *server.Server }

func newIdleServer(tb testing.TB) *idleServer {
	tb.Helper()
	s, err := server.New(server.Config{Addr: "127.0.0.1:4646", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Catalog().Run(ctx, s.Store()) }()
	tb.Cleanup(func() {
		cancel()
		<-done
	})
	if err := s.Catalog().WaitSeen(ctx, 1); err != nil { // the content at the start counts as changed
		tb.Fatal(err)
	}
	return &idleServer{s}
}

// apply writes to the state and fails the test if a command is rejected.
func (s *idleServer) apply(t testing.TB, commands ...state.Command) uint64 {
	t.Helper()
	index := s.Store().Index() + 1
	for _, err := range s.Store().Apply(index, commands) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return index
}

// storedJob is a job as the server's verbs would have it stored.
func storedJob(id string) *api.Job {
	job := testJob(id)
	job.Namespace = api.DefaultNamespace
	job.Canonicalize()
	return job
}
