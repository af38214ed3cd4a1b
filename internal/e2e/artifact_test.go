// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// programTar returns an archive with a shell script.
func programTar(t *testing.T, name, script string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(script))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(script)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestArtifactIsFetchedOncePerNode runs a program from an archive in several instances, isolated and
// not: the server gets one request. A restart of the task keeps its files, and so does one of the agent.
func TestArtifactIsFetchedOncePerNode(t *testing.T) {
	archive := programTar(t, "bin/hello", "#!/bin/sh\necho \"hello from $0\"\necho changed >> ${0%/*}/state\nexec sleep 86400\n")
	var requests atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("X-Job") != "isolated" && r.Header.Get("X-Job") != "plain" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Write(archive)
	}))
	defer s.Close()
	m := newMachine(t)
	for id, driver := range map[string]string{"isolated": "exec", "plain": "raw_exec"} {
		job := testbed.Job(id, driver, 3, map[string]any{"command": "${NOMAD_TASK_DIR}/app/bin/hello"})
		job.Groups[0].Tasks[0].Artifacts = []*api.Artifact{{
			Source: s.URL + "/app.tar", Destination: "local/app", Chown: true, Headers: map[string]string{"X-Job": "${NOMAD_JOB_ID}"},
			Options: map[string]string{"checksum": fmt.Sprintf("sha256:%x", sha256.Sum256(archive))},
		}}
		m.register(job)
		for _, a := range m.allocations(id, "run", running(3)) {
			m.waitForLog(a.ID, "task", "hello from ")
		}
	}
	if n := requests.Load(); n != 1 {
		t.Errorf("the server got %d requests, want 1", n)
	}
	m.Kill()
	m.start()
	m.waitReady()
	a := m.allocations("plain", "run", running(3))[0]
	if err := m.Client.Allocations().Restart(t.Context(), a.ID, api.RestartAllocationRequest{TaskName: "task"}); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(m.Dir, "node/alloc", a.ID, "task/local/app/bin/state")
	m.eventually("the task has started twice in its directory", func(context.Context) error {
		if b, err := os.ReadFile(state); err != nil || string(b) != "changed\nchanged\n" {
			return fmt.Errorf("%q, %w", b, err)
		}
		return nil
	})
	if n := requests.Load(); n != 1 {
		t.Errorf("after the restarts the server got %d requests, want 1", n)
	}
}

// TestArtifactFailureIsExplained registers jobs whose artifacts cannot be fetched. Their tasks show the cause,
// and never a secret.
func TestArtifactFailureIsExplained(t *testing.T) {
	const canary = "canary-7f3d11aa"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			w.Write([]byte("x"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer s.Close()
	withUser := strings.Replace(s.URL, "http://", "http://u:"+canary+"@", 1)
	m := newMachine(t)
	for id, c := range map[string]struct {
		artifact api.Artifact
		want     string
	}{
		"missing":  {api.Artifact{Source: withUser + "/none?token=" + canary}, "answered 404 Not Found"},
		"checksum": {api.Artifact{Source: s.URL + "/file", Options: map[string]string{"checksum": "sha256:" + strings.Repeat("0", 64)}}, "and not 0000"},
		"outside":  {api.Artifact{Source: s.URL + "/file", Destination: "${NOMAD_META_out}"}, "leads out of the task's directory"},
	} {
		job := testbed.ShellJob(id, 1, "exec sleep 86400")
		job.Meta = map[string]string{"out": "../../x"}
		job.Groups[0].Tasks[0].Artifacts = []*api.Artifact{&c.artifact}
		m.register(job)
		m.eventually(id+" shows its failure", func(ctx context.Context) error {
			allocs, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
			if err != nil || len(allocs) == 0 || allocs[0].TaskStates["task"] == nil {
				return errors.Join(err, errors.New("no state"))
			}
			for _, e := range allocs[0].TaskStates["task"].Events {
				if strings.Contains(e.DisplayMessage, canary) {
					t.Errorf("an event shows a secret: %s", e.DisplayMessage)
				}
				if e.Type == api.EventDownloadFailed && strings.Contains(e.DisplayMessage, c.want) {
					return nil
				}
			}
			return fmt.Errorf("%+v", allocs[0].TaskStates["task"].Events)
		})
	}
	if strings.Contains(m.Output(), canary) {
		t.Error("the agent's log shows a secret")
	}
}
