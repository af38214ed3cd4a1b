// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// note records the outcome of an attempt, and logs it if it differs from the last one.
func (s *Schedule) note(err error) {
	failure := ""
	if err != nil {
		failure = s.explain(err)
	}
	s.mu.Lock()
	before := s.status.Failure
	s.status.Failure = failure
	switch {
	case failure == "":
		s.status.FailedSince = time.Time{}
	case before == "":
		s.status.FailedSince = time.Now()
	}
	s.mu.Unlock()
	switch {
	case failure == before:
	case failure != "":
		s.env.Logger.Error("cannot save a scheduled snapshot", "error", failure)
	default:
		s.env.Logger.Info("scheduled snapshots are saved again")
	}
}

// explain returns a failure as a sentence with the next step.
func (s *Schedule) explain(err error) string {
	var known *api.Error
	if !errors.As(err, &known) {
		err = fmt.Errorf("%w; free space or repair the directory", disk.Explain(disk.OS, s.config.Directory, err))
	}
	return fmt.Sprintf("cannot save a scheduled snapshot in %s: %v; the next attempt is within a minute", s.config.Directory, err)
}

// noteFile records the newest file.
func (s *Schedule) noteFile(n name) {
	saved := &api.SavedSnapshot{File: n.String(), Time: n.time, Index: n.index}
	if info, err := os.Stat(filepath.Join(s.config.Directory, saved.File)); err == nil {
		saved.Bytes = info.Size()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.Last = saved
}
