// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reeve-run/reeve/internal/failpoint"
)

// Bounds of the delay of a sync of a slow disk. A leader resigns at 500 ms.
const (
	minSyncDelay = 20 * time.Millisecond
	maxSyncDelay = 900 * time.Millisecond
)

// Bounds of the shift of a clock in both directions.
const (
	maxShift = 55 * time.Minute // certificates are valid from one hour before their creation
	maxDrift = 10 * time.Second // delays the work that is under way by as much
)

func slowDisk(_ context.Context, s *scene) error {
	delay := minSyncDelay + time.Duration(s.random.Int64N(int64(maxSyncDelay-minSyncDelay)))
	s.note(fmt.Sprintf("each sync takes %s longer", delay.Round(time.Millisecond)))
	return s.withPages(func(p *failpoint.Page) { p.SetDisk(failpoint.Slow, delay) })
}

func setDisk(d failpoint.Disk) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error {
		return s.withPages(func(p *failpoint.Page) { p.SetDisk(d, 0) })
	}
}

func healDisk(_ context.Context, s *scene) error {
	return s.withPages(func(p *failpoint.Page) { p.SetDisk(failpoint.Healthy, 0) })
}

// restartDisk repairs disks, and starts the servers that ended because of them. A server ends at
// its first sync that fails; one that wrote nothing meanwhile is killed.
func restartDisk(ctx context.Context, s *scene) error {
	ended := 0
	for _, target := range s.targets {
		select {
		case <-s.all[target].Exited():
			ended++
		default:
			s.all[target].Kill()
		}
	}
	s.note(fmt.Sprintf("%d of %d servers ended because of their disks", ended, len(s.targets)))
	return errors.Join(healDisk(ctx, s), restart(ctx, s))
}

func shiftClock(most time.Duration) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error {
		shift := time.Duration(s.random.Int64N(int64(2*most))) - most
		s.note(fmt.Sprintf("the clock is shifted by %s", shift.Round(time.Second)))
		return s.withPages(func(p *failpoint.Page) { p.SetClock(shift) })
	}
}

func resetClock(_ context.Context, s *scene) error {
	return s.withPages(func(p *failpoint.Page) { p.SetClock(0) })
}

// withPages calls act with the failpoints of each target.
func (s *scene) withPages(act func(*failpoint.Page)) error {
	for _, target := range s.targets {
		act(s.pages[target])
	}
	return nil
}

// corrupt kills the targets and flips bits of their logs.
func corrupt(ctx context.Context, s *scene) error {
	if err := kill(ctx, s); err != nil {
		return err
	}
	for _, target := range s.targets {
		if err := s.flip(target); err != nil {
			return fmt.Errorf("flip bits of server %d: %w", target, err)
		}
	}
	return nil
}

// flips is the number of bytes that corrupt changes.
const flips = 3

// flip changes bytes of the newest segment of a server's log, after a copy of the log's directory.
func (s *scene) flip(target int) error {
	dir := filepath.Join(s.all[target].Dir, "server", "log")
	if err := os.CopyFS(s.copyOf(target), os.DirFS(dir)); err != nil {
		return err
	}
	segments, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(segments) == 0 {
		return fmt.Errorf("no segment in %s: %w", dir, errors.Join(err, os.ErrNotExist))
	}
	path := slices.Max(segments)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	written := len(data)
	for written > 0 && data[written-1] == 0 {
		written--
	}
	for range flips {
		at := s.random.IntN(max(written, 1))
		data[at] ^= byte(1 << s.random.IntN(8))
		s.note(fmt.Sprintf("byte %d of %d of %s of server %d is changed", at, written, filepath.Base(path), target))
	}
	return os.WriteFile(path, data, 0o600)
}

func (s *scene) copyOf(target int) string {
	return filepath.Join(s.dir, fmt.Sprint("log-", target))
}

// restartCorrupt starts servers whose logs are damaged. Each either refuses to start, and then
// starts from the copy of its log, or detects that the damage is part of a torn write.
func restartCorrupt(ctx context.Context, s *scene) error {
	if err := restart(ctx, s); err != nil {
		return err
	}
	for _, target := range s.targets {
		m := s.all[target]
		err := await(ctx, m, pollInterval, func(ctx context.Context) error { return s.allVote(ctx, m) })
		select {
		case <-m.Exited():
		default:
			if err != nil {
				return fmt.Errorf("server %d neither starts with a damaged log nor refuses to: %w", target, err)
			}
			s.note(fmt.Sprintf("server %d starts with the damaged log", target))
			if err := os.RemoveAll(s.copyOf(target)); err != nil {
				return err
			}
			continue
		}
		s.note(fmt.Sprintf("server %d refuses the damaged log: %s", target, lastLine(m.Output())))
		log := filepath.Join(m.Dir, "server", "log")
		if err := errors.Join(os.RemoveAll(log), os.Rename(s.copyOf(target), log), m.Start()); err != nil {
			return fmt.Errorf("put back the log of server %d: %w", target, err)
		}
	}
	return nil
}
