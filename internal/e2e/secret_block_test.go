// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// secretJob prints the secret "db" of its task, in parts so that the log does not contain it.
func secretJob(id string) *api.Job {
	job := testbed.ShellJob(id, 1, `echo "got ${DB#canary-}"; exec sleep 86400`)
	t := job.Groups[0].Tasks[0]
	t.Secrets = []*api.Secret{{Name: "db", Provider: "nomad", Path: "nomad/jobs/" + id}}
	t.Env = map[string]string{"DB": "${secret.db.password}"}
	return job
}

// said waits until a task has an event with a text.
func (m *machine) said(job, text string) {
	m.t.Helper()
	m.eventually(job+" says "+text, func(ctx context.Context) error {
		allocs, _, err := m.Client.Jobs().Allocations(ctx, job, true, nil)
		if err != nil || len(allocs) == 0 || allocs[0].TaskStates["task"] == nil {
			return errors.Join(err, errors.New("no state"))
		}
		var all []string
		for _, e := range allocs[0].TaskStates["task"].Events {
			if all = append(all, e.DisplayMessage); strings.Contains(e.DisplayMessage, text) {
				return nil
			}
		}
		return errors.New(strings.Join(all, "\n"))
	})
}

// TestSecretIsAVariableOfTheTask starts a task before its variable exists. It waits, names the command, and starts
// once it has all items. Another job's variable stays out of reach. No file of the node or its servers contains the value.
func TestSecretIsAVariableOfTheTask(t *testing.T) {
	const canary = "canary-90fe4c12"
	members := newMembers(t, 1)
	members.form()
	m := members.all[0]
	job := secretJob("shop")
	m.register(job)
	m.said("shop", `reeve var put -namespace default nomad/jobs/shop password=VALUE`)
	if trouble := m.trouble("shop", api.TroubleSecret); !strings.Contains(trouble.Message, "nomad/jobs/shop") || trouble.Task != "task" {
		t.Errorf("the trouble does not name the variable: %+v", trouble)
	}
	put := func(path string, items map[string]string) {
		t.Helper()
		m.eventually("the variable is stored", func(ctx context.Context) error {
			_, err := m.Client.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: path}, Items: items})
			return err
		})
	}
	put("nomad/jobs/shop", map[string]string{"user": "shop"})
	m.said("shop", "has no item password")
	put("nomad/jobs/shop", map[string]string{"user": "shop", "password": canary})
	a := m.allocations("shop", "run", running(1))[0]
	m.waitForLog(a.ID, "task", "got 90fe4c12")

	put("nomad/jobs/other", map[string]string{"password": canary})
	thief := secretJob("thief")
	thief.Groups[0].Tasks[0].Secrets[0].Path = "nomad/jobs/other"
	m.register(thief)
	m.said("thief", "may not read the variable \"nomad/jobs/other\"")

	stored, _, err := m.Client.Allocations().Get(t.Context(), a.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v %s", stored, m.Output()); strings.Contains(text, canary) {
		t.Error("the allocation or the log shows the secret")
	}
	err = filepath.WalkDir(m.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(canary)) {
			t.Errorf("%s contains the secret", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSecretOfAPlugin runs a program of the node that provides the value, and one that does not exist.
func TestSecretOfAPlugin(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Join(m.Dir, "node/common_plugins/secrets")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "keeper"), []byte("#!/bin/sh\necho \"{\\\"result\\\": {\\\"password\\\": \\\"canary-$2-$STAGE\\\"}}\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	job := secretJob("keeps")
	job.Groups[0].Tasks[0].Secrets[0] = &api.Secret{Name: "db", Provider: "keeper", Path: "db/${NOMAD_JOB_ID}", Env: map[string]string{"STAGE": "test"}}
	m.register(job)
	m.waitForLog(m.allocations("keeps", "run", running(1))[0].ID, "task", "got db/keeps-test")

	job = secretJob("lost")
	job.Groups[0].Tasks[0].Secrets[0].Provider = "none"
	m.register(job)
	m.said("lost", `this node has no plugin "none"`)
}
