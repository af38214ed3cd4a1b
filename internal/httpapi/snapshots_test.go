// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/snapshotfile"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// registerSleeper registers a job without instances.
func (h *harness) registerSleeper(id string) {
	h.t.Helper()
	if _, err := h.server.RegisterJob(h.t.Context(), &api.RegisterJobRequest{Job: sleeper(id)}); err != nil {
		h.t.Fatal(err)
	}
}

func sleeper(id string) *api.Job {
	return &api.Job{ID: id, Datacenters: []string{"*"}, Groups: []*api.Group{{Name: "g", Count: new(int), Tasks: []*api.Task{{
		Name: "t", Driver: "raw_exec", Config: map[string]any{"command": "sleep", "args": []any{"600"}},
	}}}}}
}

// TestSnapshotsForNomadsClient saves a snapshot with Nomad's client, which compares the file
// with the header Digest.
func TestSnapshotsForNomadsClient(t *testing.T) {
	h := newHarness(t)
	h.registerSleeper("one")
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body, err := c.Operator().Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	file, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	meta, store, err := snapshotfile.Load(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if meta.Jobs != 1 || meta.Index > h.server.Store().Index() || store.Snapshot().Job("default", "one") == nil {
		t.Errorf("the snapshot is %+v, and the server's index %d", meta, h.server.Store().Index())
	}
}

func TestClientsNoticeADamagedSnapshot(t *testing.T) {
	h := newHarness(t)
	cl, err := client.New(client.Config{Address: h.http.URL, HTTPClient: &http.Client{Transport: flipping{h.http.Client().Transport}}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := cl.Operator().SaveSnapshot(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if _, err := io.ReadAll(body); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("a damaged snapshot was accepted: %v", err)
	}
}

// flipping changes the last byte of each answer.
type flipping struct{ http.RoundTripper }

func (f flipping) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := f.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	b[len(b)-1] ^= 1
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return resp, err
}

// TestRestoreForNomadsClient saves, changes and restores with Nomad's client, on a server with
// a log of its own.
func TestRestoreForNomadsClient(t *testing.T) {
	h := newHarness(t)
	h.registerSleeper("one")
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body, err := c.Operator().Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	file, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	h.registerSleeper("two")
	before := h.server.Store().Snapshot()

	// What is not whole changes nothing.
	for name, bad := range map[string][]byte{"nothing": nil, "half": file[:len(file)/2], "text": []byte("text that is no snapshot")} {
		got := h.do(http.MethodPut, "/v1/operator/snapshot", string(bad))
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, "snapshot") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	if v := h.server.Store().Snapshot(); v.Job("default", "two") == nil || v.HasRestore() || v.Timeline() != before.Timeline() {
		t.Error("a refused restore changed the state")
	}

	if _, err := c.Operator().SnapshotRestore(bytes.NewReader(file), nil); err != nil {
		t.Fatal(err)
	}
	v := h.server.Store().Snapshot()
	if v.Job("default", "one") == nil || v.Job("default", "two") != nil || v.HasRestore() {
		t.Errorf("job one: %t, two: %t", v.Job("default", "one") != nil, v.Job("default", "two") != nil)
	}
	if v.Index() <= before.Index() || v.Timeline() == before.Timeline() || v.Trust() == nil {
		t.Errorf("index %d after %d, timeline %q after %q", v.Index(), before.Index(), v.Timeline(), before.Timeline())
	}
	// The server leads and works.
	h.registerSleeper("three")
	if !h.server.IsLeader() || h.server.Store().Snapshot().Job("default", "three") == nil {
		t.Error("the server does not work after the restore")
	}
}

// TestRestoreReachesEveryServer restores into two servers, from a log that is longer than theirs.
func TestRestoreReachesEveryServer(t *testing.T) {
	other := newHarness(t)
	for i := range 60 {
		other.registerSleeper(fmt.Sprint("job-", i))
	}
	saved, err := other.server.SaveSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	first, second := pairOfServers(t)
	if saved.Meta.Index <= first.Store().Index() {
		t.Fatalf("the snapshot's index is %d, the cluster's %d", saved.Meta.Index, first.Store().Index())
	}
	if _, err := second.RestoreSnapshot(t.Context(), strings.NewReader("")); api.CodeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "not the leader") {
		t.Errorf("a server that does not lead: %v", err)
	}
	answer, err := first.RestoreSnapshot(t.Context(), saved)
	if err != nil {
		t.Fatal(err)
	}
	if !answer.Foreign || answer.Index <= saved.Meta.Index {
		t.Errorf("the answer is %+v", answer)
	}
	if _, err := first.RegisterJob(t.Context(), &api.RegisterJobRequest{Job: sleeper("later")}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the other server has it all", func() bool {
		v := second.Store().Snapshot()
		return v.Job("default", "later") != nil && v.Index() >= first.Store().Index()
	})
	v, w := first.Store().Snapshot(), second.Store().Snapshot()
	if w.Job("default", "job-59") == nil || v.ClusterID() != w.ClusterID() || v.ClusterID() != saved.Meta.ClusterID {
		t.Errorf("the clusters are %s and %s", v.ClusterID(), w.ClusterID())
	}
	// Snapshots of the log continue at the log's own indexes.
	if err := first.Replica().Snapshot(); err != nil {
		t.Error(err)
	}
}
