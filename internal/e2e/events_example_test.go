// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestExampleKeepsAPictureOfServices runs examples/events while a job comes, the
// server is killed and started again, and the job goes.
func TestExampleKeepsAPictureOfServices(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "events")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/reeve-run/reeve/examples/events").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	m := newMachine(t)
	cmd := exec.Command(binary)
	cmd.Env = append(cmd.Environ(), "REEVE_ADDR=http://"+m.Addr)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			lines <- scan.Text()
		}
		close(lines)
	}()
	var said []string
	services := map[string]bool{}
	until := func(what string, ok func() bool) {
		t.Helper()
		for late := wait.Limit(t, patience); !ok(); {
			select {
			case line, more := <-lines:
				if !more {
					t.Fatalf("it ended before %s:\n%s", what, strings.Join(said, "\n"))
				}
				said = append(said, line)
				switch sign, service, _ := strings.Cut(line, " "); sign {
				case "+":
					services[service] = true
				case "-":
					delete(services, service)
				}
			case <-late:
				t.Fatalf("not %s:\n%s", what, strings.Join(said, "\n"))
			}
		}
	}
	until("begun", func() bool {
		return slices.ContainsFunc(said, func(l string) bool { return strings.HasPrefix(l, "= 0 services") })
	})
	m.deployed("1")
	until("three services", func() bool { return len(services) == 3 })
	m.Kill()
	until("noticed", func() bool {
		return slices.ContainsFunc(said, func(l string) bool { return strings.HasPrefix(l, "!") })
	})
	if len(services) != 3 {
		t.Errorf("with the server the services went: %v", services)
	}
	m.start()
	m.waitReady()
	if _, err := m.Client.Jobs().Deregister(t.Context(), "web", client.DeregisterOptions{Purge: true}); err != nil {
		t.Fatal(err)
	}
	until("no service", func() bool { return len(services) == 0 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for range lines {
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
}
