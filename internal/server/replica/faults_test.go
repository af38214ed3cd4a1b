// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// written makes a directory with so many jobs in its log, and closes it.
func written(t *testing.T, jobs int) string {
	t.Helper()
	dir := t.TempDir()
	r, _ := start(t, Config{Dir: dir, SegmentBytes: 16 << 10})
	for i := range jobs {
		if _, err := r.Propose(context.Background(), register("job-"+strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func logFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "log", "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no log files: %v", err)
	}
	slices.Sort(names)
	return names
}

// edit rewrites a file.
func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

// used is how many bytes of a log file are not zeros at its end.
func used(b []byte) int {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return len(b)
}

// refused fails unless the directory cannot be opened and the error has all of
// the words.
func refused(t *testing.T, config Config, words ...string) {
	t.Helper()
	config.Store = state.New()
	r, err := Open(config)
	if err == nil {
		r.Close()
		t.Fatalf("opened; want an error with %q", words)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q lacks %q", err, word)
		}
	}
}

func TestTornTailIsPassedOver(t *testing.T) {
	dir := written(t, 20)
	files := logFiles(t, dir)
	edit(t, files[len(files)-1], func(b []byte) []byte {
		n := used(b)
		return append(b[:(n+7)&^7:(n+7)&^7], "the beginning of a write that never ended"...)
	})
	_, store := start(t, Config{Dir: dir})
	for i := range 20 {
		if !has(store, "job-"+strconv.Itoa(i)) {
			t.Errorf("job-%d is gone", i)
		}
	}
}

func TestLostEndOfTheLogIsNoticed(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"garbled":   func(b []byte) []byte { b[used(b)-3] ^= 0x55; return b },
		"truncated": func(b []byte) []byte { return b[:used(b)-30] },
		"emptied":   func(b []byte) []byte { clear(b); return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := written(t, 60)
			files := logFiles(t, dir)
			if len(files) < 2 {
				t.Fatal("the log has one file: an empty one would lose the members too")
			}
			edit(t, files[len(files)-1], damage)
			refused(t, Config{Dir: dir}, "was acknowledged", dir)
			// The operator accepts the loss, as the error says.
			if err := os.Remove(filepath.Join(dir, "acknowledged")); err != nil {
				t.Fatal(err)
			}
			_, store := start(t, Config{Dir: dir})
			if !has(store, "job-0") {
				t.Error("what was not damaged is gone too")
			}
		})
	}
}

func TestDamagedMiddleIsRefused(t *testing.T) {
	dir := written(t, 60)
	files := logFiles(t, dir)
	for _, file := range []string{files[0], files[len(files)-1]} {
		var original []byte
		edit(t, file, func(b []byte) []byte {
			original = slices.Clone(b)
			b[used(b)/2] ^= 1
			return b
		})
		refused(t, Config{Dir: dir}, "damaged", file, "remove this server and join again", "restores a snapshot")
		edit(t, file, func([]byte) []byte { return original })
	}
	_, store := start(t, Config{Dir: dir})
	if !has(store, "job-59") {
		t.Error("refusing changed something: job-59 is gone")
	}
}

func TestSecondServerOnTheDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	start(t, Config{Dir: dir})
	refused(t, Config{Dir: dir}, "in use by process "+strconv.Itoa(os.Getpid()), dir)
}

func TestUnusableDirectoryIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, Config{Dir: filepath.Join(file, "data")}, "data directory cannot be used", file)
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	dir := written(t, 1)
	path := filepath.Join(dir, "meta.json")
	edit(t, path, func(b []byte) []byte { return []byte(strings.Replace(string(b), `"Format": 1`, `"Format": 99`, 1)) })
	refused(t, Config{Dir: dir}, "format 99", "newer")
	edit(t, path, func([]byte) []byte { return []byte("{") })
	refused(t, Config{Dir: dir}, path, "damaged")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	refused(t, Config{Dir: dir}, path, "missing")
}

// TestFullDisk takes away the right to write further into files, as a full disk
// does, and gives it back.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	r, store := start(t, Config{Dir: dir, SegmentBytes: 256 << 10})
	propose := func(id string) error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, err := r.Propose(ctx, register(id))
		return err
	}
	if err := propose("before"); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	restore := func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			t.Error(err)
		}
	}
	defer restore()
	full := limit
	full.Cur = 8 << 10
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &full); err != nil {
		t.Fatal(err)
	}
	acknowledged, refusals := []string{"before"}, 0
	for i := 0; refusals < 5; i++ {
		id := fmt.Sprintf("full-%d", i)
		err := propose(id)
		if err == nil {
			acknowledged = append(acknowledged, id)
			continue
		}
		refusals++
		if api.CodeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "file too large") {
			t.Fatalf("with a full disk: %v; want an error that names %s and the cause", err, dir)
		}
		if !has(store, "before") {
			t.Fatal("with a full disk the state cannot be read")
		}
	}
	if err := r.explain(raft.ErrNotLeader); !strings.Contains(err.Error(), "was not made") {
		t.Errorf("a change that came after the failed write: %v, want that it was not made", err)
	}
	if err := r.explain(raft.ErrLeadershipLost); !strings.Contains(err.Error(), "may have been made") {
		t.Errorf("a change that was in flight before the failed write: %v, want that it may have been made", err)
	}
	restore()
	// A leader that has not yet met the end of its last failed write refuses once
	// more, and then stands again.
	wait.Until(t, "the server takes changes again", func() bool { return propose("after") == nil })
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	_, store = start(t, Config{Dir: dir, SegmentBytes: 256 << 10})
	for _, id := range append(acknowledged, "after") {
		if !has(store, id) {
			t.Errorf("%s was acknowledged and is gone", id)
		}
	}
}

func TestClosedReplicaRefuses(t *testing.T) {
	r, _ := start(t, Config{Dir: t.TempDir()})
	results := make(chan error, 64)
	for i := range cap(results) {
		go func() {
			_, err := r.Propose(context.Background(), register("job-"+strconv.Itoa(i)))
			results <- err
		}()
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for range cap(results) {
		select {
		case err := <-results:
			if err != nil && api.CodeOf(err) != api.CodeUnavailable {
				t.Errorf("Propose while closing: %v", err)
			}
		case <-wait.Limit(t, 10*time.Second):
			t.Fatal("Propose hangs after Close")
		}
	}
	if _, err := r.Propose(context.Background(), register("late")); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("Propose after Close: %v", err)
	}
}

func TestRefusalReachesOnlyItsProposer(t *testing.T) {
	r, store := start(t, Config{Dir: t.TempDir()})
	index, errs, err := r.ProposeEach(context.Background(),
		register("good"), &state.DeregisterJob{Namespace: "default", ID: "missing"}, register("also-good"))
	if err != nil || len(errs) != 3 || errs[0] != nil || errs[2] != nil || api.CodeOf(errs[1]) != api.CodeNotFound {
		t.Fatalf("ProposeEach = %d, %v, %v", index, errs, err)
	}
	if !has(store, "good") || !has(store, "also-good") || store.Index() != index {
		t.Error("the commands beside the refused one were not applied")
	}
	if _, err := r.Propose(context.Background(), &state.DeregisterJob{Namespace: "default", ID: "missing"}); api.CodeOf(err) != api.CodeNotFound {
		t.Errorf("Propose: %v, want the refusal", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Propose(ctx, register("cancelled")); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Propose with an ended context: %v", err)
	}
}
