// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// Defaults of a schedule.
const (
	DefaultInterval = time.Hour
	DefaultRetain   = 24
)

// retryAfter is the delay after a failure.
const retryAfter = time.Minute

// Config says when and where snapshots are saved. The zero value saves none.
type Config struct {
	Directory string // "": no snapshots
	Interval  time.Duration
	Retain    int // number of files kept
	// LeaderOnly has only the leader save snapshots, for a directory that all servers share.
	LeaderOnly bool
}

// Env holds what a schedule uses of its server.
type Env struct {
	Logger  *slog.Logger
	Server  string        // id of the server
	Cluster func() string // id of the cluster
	// Outdated returns why the server's state may be an old one; nil if it is not.
	Outdated func() error
	// Write writes the state as a file of package snapshotfile.
	Write func(io.Writer) (*api.Snapshot, error)
	// Check verifies such a file.
	Check func(io.Reader) (*api.Snapshot, error)
}

// A Schedule saves snapshots.
type Schedule struct {
	config Config
	env    Env

	mu     sync.Mutex
	status api.SnapshotSchedule
}

// New returns a schedule that knows the snapshots in its directory.
func New(config Config, env Env) *Schedule {
	s := &Schedule{config: config, env: env, status: api.SnapshotSchedule{
		Enabled: config.Directory != "", Directory: config.Directory, Interval: config.Interval, Retain: config.Retain, LeaderOnly: config.LeaderOnly,
	}}
	if s.status.Enabled {
		if files, err := s.own(); err == nil && len(files) > 0 {
			s.noteFile(files[len(files)-1])
		}
	}
	return s
}

// Status describes the schedule, its newest file and its last failure.
func (s *Schedule) Status() *api.SnapshotSchedule {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := s.status
	return &status
}

// Run saves snapshots until ctx ends.
func (s *Schedule) Run(ctx context.Context) {
	if s.config.Directory == "" {
		return
	}
	for {
		wait, err := s.step(ctx, time.Now())
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			wait = min(retryAfter, s.config.Interval)
		}
		s.note(err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// step saves a snapshot if one is due, and returns the time until the next one.
func (s *Schedule) step(ctx context.Context, now time.Time) (time.Duration, error) {
	if err := os.MkdirAll(s.config.Directory, 0o700); err != nil {
		return 0, err
	}
	files, err := s.own()
	if err != nil {
		return 0, err
	}
	for i := len(files) - 1; i >= 0; i-- {
		if files[i].time.After(now) {
			continue // the clock was set back
		}
		s.noteFile(files[i])
		if due := files[i].time.Add(s.config.Interval); due.After(now) {
			return due.Sub(now), nil
		}
		break
	}
	if err := s.env.Outdated(); err != nil {
		return 0, err
	}
	saved, err := s.save(ctx, now)
	if err != nil {
		return 0, err
	}
	s.noteFile(saved)
	s.env.Logger.Info("saved a scheduled snapshot", "file", saved.String(), "index", saved.index, "took", time.Since(now).Round(time.Millisecond))
	return s.config.Interval, s.reap(saved)
}

// save writes a snapshot and gives it its name.
func (s *Schedule) save(ctx context.Context, now time.Time) (saved name, err error) {
	// One process has this server's id, so the file is a leftover of a crash.
	path := filepath.Join(s.config.Directory, "."+prefix+short(s.env.Server)+".tmp")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name{}, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return name{}, err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(path)
		}
	}()
	wrote, err := s.env.Write(bounded{ctx, f})
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return name{}, err
	}
	read, err := s.env.Check(bounded{ctx, f})
	if err == nil && *read != *wrote {
		err = errors.New("its content changed on the way: check the disk")
	}
	if err != nil {
		return name{}, fmt.Errorf("read back %s: %w", path, err)
	}
	saved = name{short(s.env.Cluster()), now.UTC().Truncate(time.Second), wrote.Index, short(s.env.Server)}
	if err := os.Rename(path, filepath.Join(s.config.Directory, saved.String())); err != nil {
		return name{}, err
	}
	return saved, disk.OS.SyncDir(s.config.Directory)
}

// reap deletes the oldest snapshots of this schedule, never the one that was just saved.
func (s *Schedule) reap(saved name) error {
	files, err := s.own()
	if err != nil {
		return err
	}
	for _, n := range files[:max(0, len(files)-s.config.Retain)] {
		if n == saved {
			continue
		}
		if err := os.Remove(filepath.Join(s.config.Directory, n.String())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete an old snapshot: %w", err)
		}
	}
	return nil
}

// bounded ends a transfer with its context.
type bounded struct {
	ctx context.Context
	f   *os.File
}

func (b bounded) Write(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.f.Write(p)
}

func (b bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.f.Read(p)
}
