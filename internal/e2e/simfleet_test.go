// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/sim"
)

// sharedFleet has more nodes than share a connection. A quarter of them loses power and returns.
const sharedFleet = `name: shared
nodes:
  - {count: 300, name: n, meta: {zone: a}}
  - {count: 100, name: m, meta: {zone: b}}
jobs:
  - {file: web.hcl, copies: 20}
server: {heartbeat_ttl: 3s, heartbeat_grace: 1s, algorithm: spread}
events:
  - {at: 2s, kill: {where: {meta.zone: b}}, for: 8s}
`

const sharedJob = `job "web" {
  group "web" {
    count = 100
    task "web" {
      driver = "mock"
      resources {
        cpu    = 10
        memory = 10
      }
    }
  }
}
`

// simulate runs a scenario of nodes that share connections.
func simulate(t *testing.T, binary string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"shared.yaml": sharedFleet, "web.hcl": sharedJob} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs strings.Builder
	cmd := exec.CommandContext(t.Context(), binary, "sim", "-quiet", "-json", "-links", "150", filepath.Join(dir, "shared.yaml"))
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestSimulatedNodesShareConnections simulates a fleet with links, and the loss of a part of it.
// Only a server that is built for that accepts it.
func TestSimulatedNodesShareConnections(t *testing.T) {
	t.Parallel()
	t.Run("ordinary server", func(t *testing.T) {
		stdout, stderr, code := simulate(t, reeve)
		if code != 1 || stdout != "" {
			t.Errorf("exit code %d, output %q; want 1 and none", code, stdout)
		}
		for _, want := range []string{"lets no certificate speak for several nodes (the certificate of node ", `run "reeve sim" without -links, or build reeve for the servers with: go build -tags simfleet ./cmd/reeve`} {
			if !strings.Contains(stderr, want) {
				t.Errorf("the error lacks %q:\n%s", want, stderr)
			}
		}
	})
	t.Run("server for simulations", func(t *testing.T) {
		binary := filepath.Join(t.TempDir(), "reeve")
		if out, err := exec.Command("go", "build", "-tags", "simfleet", "-o", binary, "github.com/reeve-run/reeve/cmd/reeve").CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
		stdout, stderr, code := simulate(t, binary)
		var report sim.Report
		if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
			t.Fatalf("exit code %d, output %q: %v\n%s", code, stdout, err, stderr)
		}
		i := report.Instances
		if i.Placed != 2000 || i.Running != 2000 || report.Replaced.Count == 0 || report.Requests.Failed > 0 {
			t.Errorf("%d of 2,000 instances were placed, %d run, %d were replaced, and %d requests failed: %s",
				i.Placed, i.Running, report.Replaced.Count, report.Requests.Failed, report.Requests.FirstFailure)
		}
	})
}
