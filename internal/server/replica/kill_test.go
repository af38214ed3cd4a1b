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
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
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
	return killedWhen(t, dir, round, func(acknowledged int) bool { return acknowledged == n })
}

// killedWhen is killedAfter with a condition, which is checked after each acknowledged write.
func killedWhen(t *testing.T, dir string, round int, enough func(acknowledged int) bool) []string {
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
		if enough(len(acknowledged)) {
			c.Process.Signal(syscall.SIGKILL)
		}
	}
	c.Process.Kill()
	c.Wait()
	return acknowledged
}

// TestKillsDoNotLengthenTheLog kills a server that writes, again and again: before its log is
// long enough for a snapshot, while it writes one, and after it wrote one.
func TestKillsDoNotLengthenTheLog(t *testing.T) {
	t.Setenv(onlyCompacts, "1")
	const lives, jobs = 12, 30
	dir := t.TempDir()
	names := func(pattern string) []string {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(dir, "snapshots", pattern))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	last := 0
	for round := range lives {
		before := names("*[0-9]")
		enough := []func() bool{
			func() bool { return true },
			func() bool { return len(names("*.tmp")) > 0 || !slices.Equal(names("*[0-9]"), before) },
			func() bool { return !slices.Equal(names("*[0-9]"), before) },
		}[round%3]
		last = len(killedWhen(t, dir, round, func(acknowledged int) bool { return acknowledged >= jobs && enough() }))
	}
	r, _ := start(t, Config{Dir: dir})
	// The snapshot of the last life contains all earlier ones.
	size := int64(len(state.EncodeCommands([]state.Command{register("00-0-0000")})))
	if replayed, most := r.machine.bytes.Load(), int64(last+8)*size; replayed > most {
		t.Errorf("%d bytes of the log were replayed, want at most the %d of the last life", replayed, most)
	}
	if left := names("*.tmp"); len(left) > 0 {
		t.Errorf("unfinished snapshots remain: %v", left)
	}
}

// TestALongLogIsShortenedAtOnce measures in virtual time: a server that is killed within a
// second has to be faster.
func TestALongLogIsShortenedAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		config := Config{Dir: t.TempDir(), Store: state.New()}
		r, err := Open(config)
		if err != nil {
			t.Fatal(err)
		}
		<-r.LeaderCh()
		for i := range 20 {
			if _, err := r.Propose(t.Context(), register(fmt.Sprint("job-", i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		config.Store, config.SnapshotBytes = state.New(), 1
		began := time.Now()
		if r, err = Open(config); err != nil {
			t.Fatal(err)
		}
		for r.images.Written().IsZero() && time.Since(began) < time.Minute {
			time.Sleep(firstLook)
		}
		if took := time.Since(began); took >= lastLook {
			t.Errorf("the snapshot was complete after %s, want less than %s", took, lastLook)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
