// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/snapshotfile"
)

// registerSleeper registers a job without instances.
func (h *harness) registerSleeper(id string) {
	h.t.Helper()
	job := &api.Job{ID: id, Datacenters: []string{"*"}, Groups: []*api.Group{{Name: "g", Count: new(int), Tasks: []*api.Task{{
		Name: "t", Driver: "raw_exec", Config: map[string]any{"command": "sleep", "args": []any{"600"}},
	}}}}}
	if _, err := h.server.RegisterJob(h.t.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
		h.t.Fatal(err)
	}
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
