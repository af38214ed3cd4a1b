// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestAnOpenDirectoryIsClosed founds a cluster with the data directory of an agent that ran alone and
// was killed: tasks keep their processes, jobs and variables stay, and requests need a token.
func TestAnOpenDirectoryIsClosed(t *testing.T) {
	m := unstarted(t)
	m.Args = []string{"-server", "-client"}
	m.start()
	m.waitReady()
	ctx := t.Context()
	wait.Until(t, "a variable is stored", func() bool { // once the leader has created the first root key
		_, err := m.Client.Variables().Put(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: "secret/db"}, Items: map[string]string{"password": "hunter2"}})
		return err == nil
	})
	m.register(testbed.ShellJob("web", 1, "echo $$ > $NOMAD_TASK_DIR/pid; exec sleep 86400"))
	before := m.allocations("web", "runs", running(1))[0]
	pid := m.pidFile(before)
	m.Kill()

	m.Args = append(m.Args, "-bootstrap")
	m.start()
	m.waitReady()
	after := m.allocations("web", "runs", running(1))[0]
	if after.ID != before.ID || m.pidFile(after) != pid {
		t.Errorf("allocation %s of process %s became %s of %s", before.ID, pid, after.ID, m.pidFile(after))
	}
	if _, err := os.Stat("/proc/" + pid); err != nil {
		t.Errorf("the task: %v", err)
	}
	if kept, _ := filepath.Glob(filepath.Join(m.Dir, "server*", "keyring.key")); len(kept) > 0 {
		t.Errorf("the key of the server that ran alone is still in %v", kept)
	}
	secret, err := os.ReadFile(filepath.Join(m.Dir, "operator.token"))
	if err != nil {
		t.Fatal(err)
	}
	user, err := client.New(client.Config{Address: "http://" + m.Addr, Token: strings.TrimSpace(string(secret))})
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	v, _, err := user.Variables().Get(ctx, "secret/db", nil)
	if err != nil || v.Items["password"] != "hunter2" {
		t.Errorf("the variable: %v, %v", v, err)
	}
	if code := m.overTLS("/v1/jobs"); code != http.StatusForbidden {
		t.Errorf("a request without a token is answered with %d", code)
	}
	// It remains closed without the flag.
	m.Kill()
	m.Args = []string{"-server", "-client"}
	m.start()
	m.waitReady()
	if code := m.overTLS("/v1/jobs"); code != http.StatusForbidden {
		t.Errorf("a request without a token is answered with %d after a restart", code)
	}
	if _, err := os.Stat("/proc/" + pid); err != nil {
		t.Errorf("the task after a restart: %v", err)
	}
}

// overTLS returns the status code of the response to a request of another machine without a token.
func (m *machine) overTLS(path string) int {
	m.t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "https://"+m.Addr+path, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		m.t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// pidFile returns what a task wrote to the file pid.
func (m *machine) pidFile(a *api.AllocationListStub) (pid string) {
	m.t.Helper()
	m.eventually("the task has written its process id", func(context.Context) error {
		list, _ := filepath.Glob(filepath.Join(m.Dir, "node/alloc", a.ID, "*", "local/pid"))
		if len(list) != 1 {
			return errors.New("it has not")
		}
		text, err := os.ReadFile(list[0])
		if pid = strings.TrimSpace(string(text)); err == nil && pid == "" {
			err = fmt.Errorf("%s is empty", list[0])
		}
		return err
	})
	return pid
}
