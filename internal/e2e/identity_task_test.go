// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// TestATaskReadsItsVariable runs a task on one of three servers, which reads the variable of its job
// with its identity, and no other. Its token ends with its allocation.
func TestATaskReadsItsVariable(t *testing.T) {
	const canary = "canary-2b77e1f0"
	m := newMembers(t, 3)
	m.form()
	ctx, operator := t.Context(), m.all[1].Client
	for path, value := range map[string]string{"nomad/jobs/web": canary, "nomad/jobs/other": "no"} {
		m.all[1].eventually("the variable is stored", func(ctx context.Context) error {
			_, err := operator.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: path}, Items: map[string]string{"password": value}})
			return err
		})
	}
	script := fmt.Sprintf(`export REEVE_ADDR=http://127.0.0.1:%s
%[2]s var get -item password nomad/jobs/web > "$NOMAD_TASK_DIR/own" || exit 1
%[2]s var get -item password nomad/jobs/other > "$NOMAD_TASK_DIR/other" 2>&1 && exit 1
unset NOMAD_TOKEN
NOMAD_TOKEN=$(cat "$NOMAD_SECRETS_DIR/nomad_token") %[2]s var get -item password nomad/jobs/web > "$NOMAD_TASK_DIR/file" || exit 1
exec sleep 86400`, testbed.MemberPort, reeve)
	job := testbed.ShellJob("web", 1, script)
	job.Groups[0].Tasks[0].Identity = &api.Identity{Env: true, File: true}
	m.all[1].register(job)
	allocs := m.all[1].allocations("web", "runs", running(1))
	task := job.Groups[0].Tasks[0].Name
	var local, token string
	m.all[1].eventually("the task has read its variable", func(context.Context) error {
		for _, a := range m.all {
			secret, _ := filepath.Glob("/run/reeve/*/" + allocs[0].ID + "/" + task + "/nomad_token")
			if text, err := os.ReadFile(filepath.Join(a.Dir, "node/alloc", allocs[0].ID, task, "local/file")); err == nil && string(text) == canary && len(secret) == 1 {
				local = filepath.Join(a.Dir, "node/alloc", allocs[0].ID, task, "local")
				text, err := os.ReadFile(secret[0])
				token = string(text)
				return err
			}
		}
		return errors.New("no task has")
	})
	if own, err := os.ReadFile(filepath.Join(local, "own")); err != nil || string(own) != canary {
		t.Errorf("with the variable NOMAD_TOKEN it read %q, %v", own, err)
	}
	if other, err := os.ReadFile(filepath.Join(local, "other")); err != nil || !strings.Contains(string(other), "which needs the capability variables:read") {
		t.Errorf("of another job's variable it read %q, %v", other, err)
	}
	var bearers []*client.Client
	for i := range m.all {
		bearers = append(bearers, m.bearing(i, token))
		if v, _, err := bearers[i].Variables().Get(ctx, "nomad/jobs/web", nil); err != nil || v.Items["password"] != canary {
			t.Errorf("server %d: %v, %v", i+1, v, err)
		}
	}
	for _, a := range m.all {
		if strings.Contains(a.Output(), token) || len(filesWith(t, filepath.Join(a.Dir, "server"), token)) > 0 {
			t.Errorf("%s keeps the token", a.Dir)
		}
	}
	if _, err := operator.Jobs().Deregister(ctx, "web", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, bearer := range bearers {
		m.all[i].eventually("the token of a stopped task is refused", func(ctx context.Context) error {
			_, _, err := bearer.Variables().Get(ctx, "nomad/jobs/web", nil)
			if api.CodeOf(err) != api.CodeForbidden {
				return fmt.Errorf("server %d: %v", i+1, err)
			}
			return nil
		})
	}
}
