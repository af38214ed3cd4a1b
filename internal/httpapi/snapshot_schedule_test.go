// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/backup"
	"github.com/reeve-run/reeve/internal/snapshotfile"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestScheduledSnapshotsAreShown has a server save snapshots to a directory, which becomes a file.
func TestScheduledSnapshotsAreShown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "snapshots")
	h := newHarnessOf(t, server.Config{Backup: backup.Config{Directory: dir, Interval: time.Second, Retain: 2}})
	until := func(what string, check func(context.Context) error) {
		t.Helper()
		var last error
		defer func() {
			if last != nil {
				t.Log(last)
			}
		}()
		wait.Until(t, what, func() bool { last = check(t.Context()); return last == nil })
	}
	shown := func(ctx context.Context, check func(failure string, index uint64, file string) error) error {
		list, err := h.client.Operator().SnapshotSchedules(ctx)
		if err != nil || len(list) != 1 || list[0].Last == nil {
			return fmt.Errorf("schedules %+v: %w", list, err)
		}
		return check(list[0].Failure, list[0].Last.Index, filepath.Join(dir, list[0].Last.File))
	}
	h.registerSleeper("kept")
	index := h.server.Store().Index()
	until("a snapshot with the job", func(ctx context.Context) error {
		return shown(ctx, func(failure string, saved uint64, path string) error {
			if failure != "" || saved < index {
				return fmt.Errorf("index %d, failure %q", saved, failure)
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			_, store, err := snapshotfile.Load(f)
			if err == nil && store.Snapshot().Job("default", "kept") == nil {
				err = fmt.Errorf("%s lacks the job", path)
			}
			return err
		})
	})
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until("the failure", func(ctx context.Context) error {
		return shown(ctx, func(failure string, _ uint64, _ string) error {
			health, err := h.client.Status().Health(ctx)
			if err == nil && (!strings.Contains(failure, dir) || !health.Server.Ok || health.Server.Message != failure) {
				err = fmt.Errorf("failure %q, health %+v", failure, health.Server)
			}
			return err
		})
	})
}
