// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/client"
)

// idle reports whether no work is under way during a fault: a restore erases work that began after
// the snapshot, and the times in the state of a leader with a wrong clock delay its work.
func (f fault) idle() bool { return f.name == "restore" || f.name == "clock-leader" }

// An erasure is a period whose writes a restore erased.
type erasure struct{ from, to time.Duration } // since the start of the round

// covers reports whether the restore may have erased a write.
func (e erasure) covers(called, returned time.Duration) bool {
	return returned >= e.from && called <= e.to
}

// saveSnapshot saves a snapshot while clients write.
func saveSnapshot(ctx context.Context, s *scene) error {
	return await(ctx, s.all[0], pollInterval, func(ctx context.Context) error {
		called := s.load.history.now()
		file, err := download(ctx, s.all[0].Client)
		if err != nil {
			return err
		}
		s.load.erase(erasure{from: called, to: math.MaxInt64})
		s.load.whole(operation{Kind: opSave, Result: resultOK, Call: called, Return: s.load.history.now()})
		return os.WriteFile(filepath.Join(s.dir, "snapshot"), file, 0o600)
	})
}

func download(ctx context.Context, c *client.Client) ([]byte, error) {
	body, err := c.Operator().SaveSnapshot(ctx, false)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// restoreSnapshot restores the snapshot while clients write.
func restoreSnapshot(ctx context.Context, s *scene) error {
	file, err := os.ReadFile(filepath.Join(s.dir, "snapshot"))
	if err != nil {
		return err
	}
	through := s.random.IntN(len(s.all))
	return await(ctx, s.all[through], pollInterval, func(ctx context.Context) error {
		o := operation{Kind: opRestore, Result: resultOK, Call: s.load.history.now()}
		_, err := s.all[through].Client.Operator().RestoreSnapshot(ctx, bytes.NewReader(file))
		if o.Return = s.load.history.now(); err != nil {
			o.Result, o.Error = resultUnknown, err.Error()
			s.note(fmt.Sprintf("restore through server %d: %v", through, err))
		}
		s.load.whole(o)
		if err == nil {
			s.load.erase(erasure{from: s.load.erased.from, to: o.Return})
		}
		return err
	})
}
