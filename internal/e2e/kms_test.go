// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/kmstest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestAServiceSealsTheKeysOfAServer runs an agent whose keys a key management service seals: alone and as
// the first server of a cluster. While the service fails, the agent waits; without its block, it refuses
// to start; and the files have their keys in clear again when the operator wants it.
func TestAServiceSealsTheKeysOfAServer(t *testing.T) {
	service := kmstest.New("s.token")
	server := httptest.NewServer(service)
	defer server.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("s.token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "agent.hcl")
	configure := func(further string) {
		text := fmt.Sprintf("keyring \"transit\" {\n  address  = %q\n  key_name = \"reeve\"\n  token    = \"file://%s/token\"\n%s}\n", server.URL, dir, further)
		if further == "none" {
			text = ""
		}
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("")
	m := unstarted(t)
	m.Args = []string{"-server", "-client", "-config", config}
	m.start()
	m.waitReady()
	wait.Until(t, "a variable is stored", func() bool { // once the leader has created the first root key
		_, err := m.Client.Variables().Put(t.Context(), &api.Variable{VariableMetadata: api.VariableMetadata{Path: "db"}, Items: map[string]string{"password": "hunter2"}})
		return err == nil
	})
	m.keyFile("server/keyring.key", true)
	m.Kill()

	m.Args = append(m.Args, "-bootstrap")
	m.start()
	m.waitReady()
	m.hasPassword()
	m.keyFile("identity/server.key", true)
	m.Kill()

	service.Fail(http.StatusServiceUnavailable)
	m.start()
	m.says("the agent cannot start yet")
	service.Fail(0)
	m.waitReady()
	m.hasPassword()
	m.Kill()

	configure("none")
	m.start()
	m.ends("an agent without the block")
	m.says(`server.key: it is sealed by the service "transit", and the configuration of the agent has no block keyring "transit": add the block again`)

	configure("  active = false\n")
	m.start()
	m.waitReady()
	m.hasPassword()
	m.keyFile("identity/server.key", false)
	m.Kill()
	configure("none")
	m.start()
	m.waitReady()
	m.hasPassword()
}

// keyFile checks whether a file of keys is sealed.
func (m *machine) keyFile(path string, sealed bool) {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.Dir, path))
	if err != nil || strings.Contains(string(text), "REEVE SEALED KEY") != sealed {
		m.t.Errorf("%s: %v, sealed %t is not true", path, err, sealed)
	}
}

func (m *machine) hasPassword() {
	m.t.Helper()
	m.eventually("the variable can be read", func(ctx context.Context) error {
		v, _, err := m.Client.Variables().Get(ctx, "db", nil)
		if err == nil && v.Items["password"] != "hunter2" {
			err = fmt.Errorf("it has %v", v.Items)
		}
		return err
	})
}

// says waits until the agent's output contains a text.
func (m *machine) says(text string) {
	m.t.Helper()
	m.eventually("the agent says "+text, func(context.Context) error {
		if !strings.Contains(m.Output(), text) {
			return errors.New("it does not:\n" + tail(m.Output(), 10))
		}
		return nil
	})
}
