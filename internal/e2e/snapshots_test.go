// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// scheduled adds a schedule of snapshots to all servers.
func (m *members) scheduled(interval string, retain int) {
	for _, a := range m.all {
		a.Args = append(a.Args, "-config", writeConfig(m.t, fmt.Sprintf("server {\n  snapshots {\n    interval = %q\n    retain = %d\n  }\n}", interval, retain)))
	}
}

// savedBy returns the scheduled snapshots on a machine, oldest first.
func savedBy(a *machine) (paths []string) {
	paths, _ = filepath.Glob(filepath.Join(a.Dir, "snapshots", "reeve-*.snap"))
	slices.Sort(paths)
	return paths
}

func verifySnapshot(t *testing.T, a *machine, path string) {
	t.Helper()
	if out, err := a.Command(reeve, "operator", "snapshot", "verify", path).CombinedOutput(); err != nil {
		t.Errorf("verify %s: %v: %s", path, err, out)
	}
}

// schedules returns the schedules of all servers, as one of them tells.
func schedules(ctx context.Context, a *machine) (map[string]*api.SnapshotSchedule, error) {
	list, err := a.Client.Operator().SnapshotSchedules(ctx)
	byName := map[string]*api.SnapshotSchedule{}
	for _, s := range list {
		byName[s.Name] = s
	}
	return byName, err
}

// TestServersSaveSnapshotsOnASchedule has three servers save their state, fills the disk of one,
// and kills another.
func TestServersSaveSnapshotsOnASchedule(t *testing.T) {
	m := newMembers(t, 3)
	m.scheduled("1s", 2)
	full, killed := m.all[1], m.all[2]
	small := filepath.Join(full.Dir, "snapshots")
	if err := os.MkdirAll(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("reeve-test", small, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatalf("mount a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(small, syscall.MNT_DETACH) })
	m.form()
	m.all[0].put(sleeper("kept", 0))
	job, _, err := m.all[0].Client.Jobs().Get(t.Context(), "kept", nil)
	if err != nil {
		t.Fatal(err)
	}
	all := func(ctx context.Context, check func(*api.SnapshotSchedule) error) error {
		found, err := schedules(ctx, m.all[0])
		if err != nil || len(found) != 3 {
			return fmt.Errorf("schedules of %d servers: %v", len(found), err)
		}
		for _, s := range found {
			if err := check(s); err != nil {
				return err
			}
		}
		return nil
	}
	m.all[0].eventually("all servers saved the job", func(ctx context.Context) error {
		return all(ctx, func(s *api.SnapshotSchedule) error {
			if s.Failure != "" || s.Last == nil || s.Last.Index < job.ModifyIndex {
				return fmt.Errorf("server %s: %+v", s.Name, s)
			}
			return nil
		})
	})
	for _, a := range m.all {
		a.eventually("the oldest are deleted", func(context.Context) error {
			if n := len(savedBy(a)); n != 2 {
				return fmt.Errorf("%d snapshots", n)
			}
			return nil
		})
	}

	fill(t, filepath.Join(small, "ballast"))
	m.all[0].eventually("the failure is shown", func(ctx context.Context) error {
		found, err := schedules(ctx, m.all[0])
		if err != nil || found["host-2"] == nil || !strings.Contains(found["host-2"].Failure, "no space left") {
			return fmt.Errorf("schedules %+v: %v", found["host-2"], err)
		}
		return nil
	})
	if entries, err := os.ReadDir(small); err != nil || len(entries) != 3 {
		t.Errorf("the full disk has %d files: %v", len(entries), err)
	}
	left := savedBy(full)
	for _, path := range left {
		verifySnapshot(t, full, path)
	}
	if health, err := full.Client.Status().Health(t.Context()); err != nil || !health.Server.Ok || !strings.Contains(health.Server.Message, "cannot save a scheduled snapshot in "+small) {
		t.Errorf("health of the server with the full disk: %+v, %v", health.Server, err)
	}
	if err := os.Remove(filepath.Join(small, "ballast")); err != nil {
		t.Fatal(err)
	}
	newest := savedBy(killed)
	killed.Kill()
	killed.start()
	m.all[0].eventually("all servers save snapshots again", func(ctx context.Context) error {
		return all(ctx, func(s *api.SnapshotSchedule) error {
			if s.Failure != "" || s.Last == nil || slices.ContainsFunc(append(left, newest...), func(path string) bool { return filepath.Base(path) == s.Last.File }) {
				return fmt.Errorf("server %s: %+v", s.Name, s)
			}
			return nil
		})
	})
}
