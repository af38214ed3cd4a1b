// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/internal/state"
)

var kills = flag.Int("kills", 12, "how often TestRealKillLosesNothingAcknowledged kills the server")

// TestRealKillLosesNothingAcknowledged kills a server, again and again, while it
// writes, and looks for everything that it acknowledged.
func TestRealKillLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(7, 7))
	var acknowledged []string
	for round := range *kills {
		acknowledged = append(acknowledged, killedAfter(t, dir, round, 1+random.IntN(400))...)
		store := state.New()
		r, _ := start(t, Config{Dir: dir, Store: store, SegmentBytes: 16 << 10})
		lost := 0
		for _, id := range acknowledged {
			if !has(store, id) {
				lost++
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if lost > 0 {
			t.Fatalf("round %d: %d of %d acknowledged jobs are gone after kill -9", round, lost, len(acknowledged))
		}
	}
}

// killedAfter runs a server until it acknowledged n writes, kills it and
// returns what it acknowledged.
func killedAfter(t *testing.T, dir string, round, n int) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), childDir+"="+dir, fmt.Sprintf("REEVE_TEST_ROUND=%d", round))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if line, ok := strings.CutPrefix(lines.Text(), "error "); ok {
			t.Errorf("round %d: the server says: %s", round, line)
			break
		}
		if id, ok := strings.CutPrefix(lines.Text(), "job "); ok {
			acknowledged = append(acknowledged, id)
		}
		if len(acknowledged) == n {
			c.Process.Signal(syscall.SIGKILL)
		}
	}
	c.Process.Kill()
	c.Wait()
	return acknowledged
}
