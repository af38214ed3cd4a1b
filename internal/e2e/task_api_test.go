// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// TestATaskReachesTheAPIOnItsSocket runs tasks on a node without a server, isolated and not. Each reads its
// variable with its identity, is refused without it, and replaces the socket by a link to a file of the host. The next
// agent creates the socket anew.
func TestATaskReachesTheAPIOnItsSocket(t *testing.T) {
	const canary = "canary-51c02e77"
	m := newMembers(t, 1)
	m.form()
	ctx, operator := t.Context(), m.all[0].Client
	node := m.on(m.spare, "host-2", "-join", m.net.Hosts()[0].Addr, "-join-token-file", m.token("node"), "-node-class", "spare")
	node.start()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`cd "$NOMAD_TASK_DIR"
until [ -x ./reeve ]; do sleep 0.05; done
export REEVE_ADDR=$NOMAD_UNIX_ADDR
[ "$NOMAD_UNIX_ADDR" = "unix://$NOMAD_SECRETS_DIR/api.sock" ] || exit 1
NOMAD_TOKEN= ./reeve var get -item password "nomad/jobs/$NOMAD_JOB_ID" > anonymous 2>&1 && exit 1
NOMAD_TOKEN=guess ./reeve var get -item password "nomad/jobs/$NOMAD_JOB_ID" > guess 2>&1 && exit 1
./reeve var get -item password "nomad/jobs/$NOMAD_JOB_ID" > first 2>&1
mv first own
rm -f "$NOMAD_SECRETS_DIR/api.sock"; ln -s %s "$NOMAD_SECRETS_DIR/api.sock"
touch planted
until ./reeve var get -item password "nomad/jobs/$NOMAD_JOB_ID" > second 2> error; do sleep 0.05; done
mv second again
exec sleep 86400`, victim)
	drivers := []string{"exec", "raw_exec"}
	places := map[string]string{}
	allocs := map[string]string{}
	for _, driver := range drivers {
		id := strings.ReplaceAll(driver, "_", "-")
		m.all[0].eventually("the variable is stored", func(ctx context.Context) error {
			_, err := operator.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: "nomad/jobs/" + id}, Items: map[string]string{"password": canary + driver}})
			return err
		})
		job := testbed.Job(id, driver, 1, map[string]any{"command": "/bin/sh", "args": []string{"-c", script}})
		task := job.Groups[0].Tasks[0]
		task.Identity, task.Resources.MemoryMB = &api.Identity{Env: true}, ptr(300)
		if driver == "exec" {
			task.User = "daemon"
		}
		job.Constraints = []*api.Constraint{{LTarget: "${node.class}", RTarget: "spare", Operand: "="}}
		m.all[0].register(job)
		allocs[driver] = m.all[0].allocations(id, "runs", running(1))[0].ID
		places[driver] = filepath.Join(node.Dir, "node/alloc", allocs[driver], "task/local")
		if err := os.Link(reeve, filepath.Join(places[driver], "reeve")); err != nil {
			t.Fatal(err)
		}
	}
	says := func(driver, file, want string) {
		t.Helper()
		node.eventually(driver+": "+file, func(context.Context) error {
			text, err := os.ReadFile(filepath.Join(places[driver], file))
			if err != nil || !strings.Contains(string(text), want) {
				return fmt.Errorf("%q, %v; want %q", text, err, want)
			}
			return nil
		})
	}
	for _, driver := range drivers {
		says(driver, "planted", "")
		says(driver, "own", canary+driver)
		says(driver, "anonymous", "need a token")
		says(driver, "guess", "not valid")
	}
	node.Kill()
	node.start()
	for _, driver := range drivers {
		says(driver, "again", canary+driver)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "kept" {
		t.Errorf("the file of the host: %q, %v", text, err)
	}
	sockets, err := filepath.Glob("/run/reeve/*/" + allocs["exec"] + "/task/api.sock")
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets %v, %v", sockets, err)
	}
	if c, err := net.Dial("unix", sockets[0]); err != nil {
		t.Errorf("while the task runs: %v", err)
	} else {
		c.Close()
	}
	if _, err := operator.Jobs().Deregister(ctx, "exec", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	node.eventually("the socket ends with the task", func(context.Context) error {
		if c, err := net.Dial("unix", sockets[0]); err == nil {
			c.Close()
			return errors.New("it answers")
		}
		return nil
	})
}
