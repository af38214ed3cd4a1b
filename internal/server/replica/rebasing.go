// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/server/replica/wal"
)

// rebasing is the store of snapshots. It informs the log about each complete snapshot,
// this server's or another one's.
//
// Raft must not clean the log up itself after it installs a snapshot:
// https://github.com/hashicorp/raft/issues/697. One limitation remains: if a server's log
// ends at the same index as a snapshot, but with another history, the server catches up
// only after a restart.
type rebasing struct {
	raft.SnapshotStore
	log    *wal.Log
	broken func(error) // told that a sync failed
}

func (s *rebasing) Create(version raft.SnapshotVersion, index, term uint64, servers raft.Configuration, serversIndex uint64, transport raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.SnapshotStore.Create(version, index, term, servers, serversIndex, transport)
	if err != nil {
		return nil, err
	}
	return &rebasingSink{sink, s.broken, func() error { return s.log.Rebase(index, term) }}, nil
}

type rebasingSink struct {
	raft.SnapshotSink
	broken func(error)
	closed func() error
}

func (s *rebasingSink) Close() error {
	if err := s.SnapshotSink.Close(); err != nil {
		if failed := (*disk.SyncError)(nil); errors.As(err, &failed) {
			s.broken(err)
		}
		return err
	}
	return s.closed()
}
