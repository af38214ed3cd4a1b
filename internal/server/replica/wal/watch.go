// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"time"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// Watch receives events of the disk. Its functions may be nil, and must not block.
type Watch struct {
	Began  func()                   // a sync begins
	Synced func(took time.Duration) // a sync ended; the written data is on the disk
	Failed func(err error)          // an append failed, and left no entry behind
	Broken func(err error)          // a sync failed: all further writes are rejected
}

func (w Watch) begin() time.Time {
	if w.Began != nil {
		w.Began()
	}
	return time.Now()
}

func (w Watch) synced(began time.Time) {
	if w.Synced != nil {
		w.Synced(time.Since(began))
	}
}

func (w Watch) failed(err error) {
	if err != nil && w.Failed != nil {
		w.Failed(err)
	}
}

func (w Watch) broken(err error) {
	if w.Broken != nil {
		w.Broken(err)
	}
}

func isSyncError(err error) bool {
	var e *disk.SyncError
	return errors.As(err, &e)
}
