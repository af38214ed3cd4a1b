// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
)

// writer stands for a server: its files contain their index.
type writer struct {
	index    uint64
	fails    error // of writing
	damaged  bool  // files read back differ
	outdated error
}

func (w *writer) schedule(dir, server string, change ...func(*Config)) *Schedule {
	c := Config{Directory: dir, Interval: time.Hour, Retain: 3}
	for _, do := range change {
		do(&c)
	}
	return New(c, Env{
		Logger: slog.New(slog.DiscardHandler), Server: server, Cluster: func() string { return "c1a2b3c4-5678" },
		Outdated: func() error { return w.outdated },
		Write: func(to io.Writer) (*api.Snapshot, error) {
			w.index++
			if _, err := fmt.Fprint(to, w.index); err != nil {
				return nil, err
			}
			return &api.Snapshot{Index: w.index}, w.fails
		},
		Check: func(from io.Reader) (*api.Snapshot, error) {
			m := new(api.Snapshot)
			_, err := fmt.Fscan(from, &m.Index)
			if w.damaged {
				m.Index++
			}
			return m, err
		},
	})
}

// run runs a schedule in virtual time.
func run(t *testing.T, s *Schedule, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { s.Run(ctx); close(ended) }()
	time.Sleep(d)
	synctest.Wait()
	cancel()
	<-ended
}

// indexes returns the indexes of the snapshots in a directory, oldest first.
func indexes(t *testing.T, dir string) (list []uint64) {
	t.Helper()
	for _, file := range files(t, dir) {
		if n, ok := parseName(file); ok {
			list = append(list, n.index)
		}
	}
	slices.Sort(list)
	return list
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSnapshotsAreSavedAndTheOldestDeleted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "new", "directory")
		w := new(writer)
		s := w.schedule(dir, "5e4f0001-0")
		run(t, s, 5*time.Hour+time.Minute)
		if got := indexes(t, dir); !slices.Equal(got, []uint64{4, 5, 6}) {
			t.Errorf("after five hours it kept %v", got)
		}
		for _, file := range files(t, dir) {
			if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: %v, %v", file, info.Mode(), err)
			}
		}
		if last := s.Status().Last; last == nil || last.Index != 6 || last.Bytes != 1 || time.Since(last.Time) != time.Minute {
			t.Errorf("the status has %+v", last)
		}
	})
}

// TestTheScheduleContinuesAfterARestart starts a server again, 20 minutes after its last
// snapshot, and another one in the same directory.
func TestTheScheduleContinuesAfterARestart(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := new(writer)
		run(t, w.schedule(dir, "one"), 20*time.Minute)
		again := w.schedule(dir, "one")
		if last := again.Status().Last; last == nil || last.Index != 1 {
			t.Errorf("a new process knows of %+v", last)
		}
		run(t, again, 39*time.Minute)
		if got := indexes(t, dir); len(got) != 1 {
			t.Errorf("before an hour passed it saved %v", got)
		}
		run(t, w.schedule(dir, "one"), 2*time.Minute)
		if got := indexes(t, dir); len(got) != 2 {
			t.Errorf("after an hour it has %v", got)
		}
		run(t, w.schedule(dir, "two"), time.Second)
		if got := indexes(t, dir); len(got) != 3 {
			t.Errorf("another server saved none: %v", got)
		}
		shared := func(c *Config) { c.LeaderOnly = true }
		run(t, w.schedule(dir, "three", shared), time.Minute)
		if got := indexes(t, dir); len(got) != 3 {
			t.Errorf("the next leader saved another snapshot too early: %v", got)
		}
		run(t, w.schedule(dir, "three", shared), 61*time.Minute)
		if got := indexes(t, dir); !slices.Equal(got, []uint64{2, 3, 4}) {
			t.Errorf("the next leader kept %v of all servers", got)
		}
	})
}

// TestForeignFilesStay has files that look like the schedule's own.
func TestForeignFilesStay(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		foreign := []string{
			"before-upgrade.snap",
			"reeve-c1a2b3c4-20200101T000000Z-1-one.snap.old",
			"reeve-c1a2b3c4-20200101T000000Z-01-one.snap",
			"reeve-c1a2b3c4-20200101T000000Z-1-two.snap",
			"reeve-00000000-20200101T000000Z-1-one.snap",
			"reeve-c1a2b3c4-2020-1-one.snap",
			".reeve-two.tmp",
		}
		for _, name := range foreign {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(dir, "reeve-c1a2b3c4-20200101T000000Z-2-one.snap"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/hostname", filepath.Join(dir, "reeve-c1a2b3c4-20200101T000000Z-3-one.snap")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "reeve-c1a2b3c4-20200101T000000Z-4-one.snap"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w := &writer{index: 10}
		run(t, w.schedule(dir, "one"), 4*time.Hour+time.Minute)
		left := files(t, dir)
		for _, name := range append(foreign, "reeve-c1a2b3c4-20200101T000000Z-2-one.snap", "reeve-c1a2b3c4-20200101T000000Z-3-one.snap") {
			if !slices.Contains(left, name) {
				t.Errorf("it deleted %s", name)
			}
		}
		if slices.Contains(left, "reeve-c1a2b3c4-20200101T000000Z-4-one.snap") {
			t.Error("it kept its own oldest file")
		}
	})
}

// TestAFailureLeavesTheEarlierSnapshots has attempts fail in each way.
func TestAFailureLeavesTheEarlierSnapshots(t *testing.T) {
	for name, fail := range map[string]func(*writer){
		"written partly": func(w *writer) { w.fails = errors.New("no space left on device") },
		"damaged":        func(w *writer) { w.damaged = true },
		"no leader":      func(w *writer) { w.outdated = errors.New("no leader is known") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				w := new(writer)
				s := w.schedule(dir, "one")
				run(t, s, 3*time.Hour+time.Minute)
				before := files(t, dir)
				fail(w)
				run(t, s, 2*time.Hour)
				if after := files(t, dir); !slices.Equal(before, after) {
					t.Errorf("the directory has %v, and had %v", after, before)
				}
				status := s.Status()
				if !strings.Contains(status.Failure, dir) || time.Since(status.FailedSince) < time.Hour || status.Last.Index != 4 {
					t.Errorf("the status is %+v", status)
				}
				*w = writer{index: w.index}
				run(t, s, 2*time.Minute)
				if status := s.Status(); status.Failure != "" || !status.FailedSince.IsZero() || status.Last.Index <= 4 {
					t.Errorf("after the failure the status is %+v", status)
				}
			})
		})
	}
}

// TestALeftoverOfACrashIsReplaced begins with the temporary file of a killed process.
func TestALeftoverOfACrashIsReplaced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		leftover := filepath.Join(dir, ".reeve-one.tmp")
		if err := os.WriteFile(leftover, []byte("a part"), 0o600); err != nil {
			t.Fatal(err)
		}
		w := new(writer)
		run(t, w.schedule(dir, "one"), time.Minute)
		if got := files(t, dir); len(got) != 1 || got[0] == filepath.Base(leftover) {
			t.Errorf("the directory has %v", got)
		}
	})
}

// TestAClockThatIsSetBackDelaysNothing begins with files of the future.
func TestAClockThatIsSetBackDelaysNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for i := range 3 {
			future := name{"c1a2b3c4", time.Now().UTC().Truncate(time.Second).Add(time.Duration(i+2) * time.Hour), uint64(i + 1), "one"}
			if err := os.WriteFile(filepath.Join(dir, future.String()), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		w := &writer{index: 3}
		run(t, w.schedule(dir, "one"), 61*time.Minute)
		if got := indexes(t, dir); !slices.Equal(got, []uint64{3, 4, 5}) {
			t.Errorf("it kept %v", got)
		}
	})
}

// TestTheEndInterruptsASnapshot ends a server while it writes.
func TestTheEndInterruptsASnapshot(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	s := New(Config{Directory: dir, Interval: time.Hour, Retain: 3}, Env{
		Logger: slog.New(slog.DiscardHandler), Server: "one", Cluster: func() string { return "cluster" }, Outdated: func() error { return nil },
		Write: func(to io.Writer) (*api.Snapshot, error) {
			for {
				if _, err := to.Write([]byte("part")); err != nil {
					return nil, err
				}
				cancel()
			}
		},
	})
	s.Run(ctx)
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("it left %v", got)
	}
}
