// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/internal/node/supervise"
)

// StopLeftTasks stops the tasks that a killed agent left behind in a data directory, and their
// supervisor. It returns an error with CodeUnavailable if an agent uses the directory.
func StopLeftTasks(ctx context.Context, dir string) error {
	lock, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	s, err := supervise.Connect(ctx, supervise.Config{Dir: filepath.Join(dir, "supervisor")})
	if err != nil {
		return err
	}
	return s.Shutdown(ctx, time.Second)
}
