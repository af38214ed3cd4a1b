// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/top"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// topServer answers like one server of a cluster.
func topServer(t *testing.T, name string) *httptest.Server {
	answers := map[string]any{
		"/v1/status/leader":      "10.0.0.1:4646",
		"/v1/servers":            []*api.ServerStatus{{ID: name, Name: name, Address: "10.0.0.1:4646", Status: api.ServerAlive, Leader: true, Voter: true}},
		"/v1/operator/attention": []*api.Attention{},
		"/v1/metrics":            &api.MetricsSummary{Gauges: []*api.Gauge{{Name: "nomad.raft.appliedIndex", Value: 7}}},
		"/v1/jobs":               []*api.JobListStub{{ID: "job-of-" + name, Status: "running"}},
		"/v1/nodes":              []*api.NodeListStub{{ID: "1", Name: "node-of-" + name, Status: "ready"}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			t.Errorf("%s reads %s", name, r.URL)
		}
		if strings.HasSuffix(r.URL.Path, "s") && strings.HasPrefix(r.URL.Path, "/v1/jobs") && r.URL.Query().Get("per_page") == "" {
			t.Errorf("%s reads the whole list %s", name, r.URL)
		}
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server
}

// A screenCopy holds what a program wrote to its terminal.
type screenCopy struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screenCopy) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screenCopy) has(parts ...string) func() bool {
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, part := range parts {
			if !strings.Contains(s.text.String(), part) {
				return false
			}
		}
		return true
	}
}

// TestTopOnATerminalContinuesWithAnotherServer presses keys on a real terminal while the server
// that answers ends.
func TestTopOnATerminalContinuesWithAnotherServer(t *testing.T) {
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	defer tty.Close()
	if err := pty.Setsize(keyboard, &pty.Winsize{Rows: 24, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	screen := &screenCopy{}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		buffer := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buffer)
			if err != nil {
				return
			}
			screen.Write(buffer[:n])
		}
	}()
	one, two := topServer(t, "one"), topServer(t, "two")
	c := &cli{Process: Process{Stdin: tty, Stdout: tty, Stderr: tty, Getenv: func(string) string { return "" }, Now: time.Now}}
	reader := &topReader{c: c, servers: []string{one.URL, two.URL}, clients: map[string]*client.Client{}}
	ended := make(chan error, 1)
	go func() { ended <- c.watchTop(t.Context(), reader, tty, topIntervalLeast) }()
	press := func(keys string) {
		t.Helper()
		if _, err := keyboard.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	wait.Until(t, "the cluster is shown", screen.has("\x1b[?1049h", "10.0.0.1:4646", one.URL))
	press("3")
	wait.Until(t, "the jobs are shown", screen.has("job-of-one"))
	one.CloseClientConnections()
	one.Close()
	wait.Until(t, "the other server answers", screen.has("job-of-two", one.URL+" does not answer; continued with "+two.URL))
	press("\t")
	wait.Until(t, "the nodes are shown", screen.has("node-of-two"))
	press("q")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	wait.Until(t, "the terminal is returned", screen.has("\x1b[?1049l"))
	tty.Close()
	keyboard.Close()
	<-copied
}

func TestTopWithoutAnyServerFails(t *testing.T) {
	one, two := topServer(t, "one"), topServer(t, "two")
	one.Close()
	two.Close()
	c := &cli{Process: Process{Stderr: os.Stderr, Getenv: func(string) string { return "" }, Now: time.Now}}
	reader := &topReader{c: c, servers: []string{one.URL, two.URL}, clients: map[string]*client.Client{}}
	_, _, err := reader.read(context.Background(), top.Request{})
	if err == nil || !strings.Contains(err.Error(), "none of 2 servers answers; the first: is an agent running at") {
		t.Errorf("error %v", err)
	}
}

// TestTopWithoutALeaderAnswersAtOnce asks a server that would wait for a leader.
func TestTopWithoutALeaderAnswersAtOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/status/leader":
			w.Write([]byte(`""`))
		case "/v1/metrics":
			w.Write([]byte(`{"Gauges": [{"Name": "nomad.raft.appliedIndex", "Value": 3}]}`))
		case "/v1/jobs", "/v1/nodes":
			if !r.URL.Query().Has("stale") {
				t.Errorf("%s waits for the leader", r.URL)
			}
			w.Write([]byte(`[]`))
		default:
			t.Errorf("%s needs a leader", r.URL)
		}
	}))
	defer server.Close()
	c := &cli{Process: Process{Getenv: func(string) string { return "" }, Now: time.Now}}
	reader := &topReader{c: c, servers: []string{server.URL}, clients: map[string]*client.Client{}}
	s, notice, err := reader.read(t.Context(), top.Request{All: true})
	if err != nil || !strings.Contains(notice, "No server leads") || s.Counts.Applied != 3 {
		t.Errorf("%+v, %q, %v", s, notice, err)
	}
}
