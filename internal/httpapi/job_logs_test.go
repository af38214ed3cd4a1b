// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/state"
)

// jobLogs returns what a stream of a job's output says, sorted.
func jobLogs(t *testing.T, base, query string) (status int, told []string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/v1/job/web/logs?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		var f api.JobLogFrame
		if resp.StatusCode != http.StatusOK {
			told = append(told, lines.Text())
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		if f.Allocation != "" {
			told = append(told, strings.TrimSpace(f.Allocation[:1]+" "+f.Type+" "+f.Event+string(f.Data)+" "+f.Error))
		}
	}
	slices.Sort(told)
	return resp.StatusCode, told
}

// newJobWithLogs serves a job with an allocation on this agent's node, on another agent's, and on one that is
// down.
func newJobWithLogs(t *testing.T) string {
	t.Helper()
	srv := newIdleServer(t)
	other := httptest.NewServer(New(Config{Node: echoNode("remote"), NodeID: func() string { return remoteNode }}))
	t.Cleanup(other.Close)
	srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
	job := srv.Store().Snapshot().Job("default", "web")
	for i, id := range []string{localNode, remoteNode, downNode} {
		srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: id, Name: "n", HTTPAddr: other.Listener.Addr().String(), Status: api.NodeStatusReady}})
		srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{{
			ID: strings.Repeat(string(rune('a'+i)), 8), Namespace: "default", JobID: "web", Job: job, NodeID: id, Name: "web.web[0]", Group: job.Groups[0].Name,
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
		}}}})
	}
	// Its allocation is lost, but read before the state says so.
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: downNode, Name: "n", HTTPAddr: "127.0.0.1:1", Status: api.NodeStatusReady}})
	handler := New(Config{Server: srv.Server, Node: echoNode("local"), NodeID: func() string { return localNode }})
	t.Cleanup(handler.Close)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestTheLogsOfAJobComeFromAllItsNodes(t *testing.T) {
	base := newJobWithLogs(t)
	status, got := jobLogs(t, base, "type=stdout")
	if status != http.StatusOK || len(got) != 9 || !strings.Contains(got[8], "does not answer") {
		t.Fatalf("%d %q", status, got)
	}
	want := []string{"a stdout begin", "a stdout end", "a stdout one", "a stdout two", "b stdout begin", "b stdout end", "b stdout one", "b stdout two"}
	if diff := cmp.Diff(want, got[:8]); diff != "" {
		t.Error(diff)
	}
	c, err := client.New(client.Config{Address: base})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var read []string
	for f, err := range c.Jobs().Logs(t.Context(), "web", client.JobLogOptions{Type: api.LogStdout}) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, strings.TrimSpace(f.Allocation[:1]+" "+f.Type+" "+f.Event+string(f.Data)+" "+f.Error))
	}
	slices.Sort(read)
	if diff := cmp.Diff(got, read); diff != "" {
		t.Errorf("by the client: %s", diff)
	}
	if status, got := jobLogs(t, base, "task=main&group=web"); status != http.StatusOK || len(got) != 18 {
		t.Errorf("both kinds: %d %q", status, got)
	}
	for query, part := range map[string]string{
		"group=none":                  "it has: web",
		"task=none":                   "it has: main",
		"type=both":                   "use stdout or stderr",
		"origin=middle":               "use start or end",
		"offset=-1":                   "not a number of bytes",
		"offset=99999999999999999999": "not a number of bytes",
		"follow=perhaps":              "neither true nor false",
		"namespace=other":             "not found",
	} {
		if status, got := jobLogs(t, base, query); status/100 != 4 || !strings.Contains(strings.Join(got, ""), part) {
			t.Errorf("%s: %d %q, want %q", query, status, got, part)
		}
	}
}
