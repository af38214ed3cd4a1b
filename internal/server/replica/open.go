// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/server/replica/snapshots"
	"github.com/reeve-run/reeve/internal/server/replica/wal"
	"github.com/reeve-run/reeve/internal/state"
)

// open reads the directory and starts raft on it. If it rejects the directory, it changes
// nothing.
func (r *Replica) open() error {
	images, err := r.prepare()
	if err != nil {
		return err
	}
	return r.startRaft(newRaftLogger(r.logger), images)
}

// prepare opens the directory, its log and its snapshots, and fills the store.
func (r *Replica) prepare() (_ raft.SnapshotStore, err error) {
	if r.dir, err = openDirectory(r.config.Dir, r.config.ServerID); err != nil {
		return nil, err
	}
	fs, watch := r.config.FS, r.disk.watch(r.broken)
	if err := disk.MakeDir(fs, r.dir.logPath()); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	images, err := snapshots.Open(fs, filepath.Join(r.dir.path, "snapshots"))
	if err != nil {
		return nil, fmt.Errorf("open snapshots: %w", err)
	}
	r.images = images
	names, err := fs.ReadDir(r.dir.logPath())
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	newest, err := images.Newest()
	if err != nil {
		return nil, err
	}
	fresh := newest == nil
	for _, name := range names {
		fresh = fresh && !strings.HasSuffix(name, ".log")
	}
	if r.stable, err = wal.OpenStable(fs, r.dir.logPath(), fresh, watch); err != nil {
		return nil, fmt.Errorf("open votes: %w", err)
	}
	upTo := uint64(0)
	if newest != nil {
		upTo = newest.Index
	}
	if r.log, err = wal.Open(fs, r.dir.logPath(), r.config.SegmentBytes, upTo, watch); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	snapshot, err := r.load(images, newest)
	if err != nil {
		return nil, err
	}
	if err := r.checkContinuity(snapshot.Index); err != nil {
		return nil, err
	}
	if err := r.checkVotes(snapshot.Term); err != nil {
		return nil, err
	}
	if err := r.log.Rebase(snapshot.Index, snapshot.Term); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	r.machine = &machine{store: r.config.Store, mark: r.dir.mark, damaged: func(err error) {
		r.logger.Error("cannot keep the state up to date: restart the server", "error", err)
		r.disk.fail()
	}}
	r.machine.configured.Store(snapshot.ConfigurationIndex)
	r.machine.seen.Store(r.config.Store.LogIndex())
	if err := r.catchUp(snapshot.Index); err != nil {
		return nil, err
	}
	return &rebasing{images, r.log, r.broken}, nil
}

// broken handles the failure of a sync.
func (r *Replica) broken(err error) {
	r.disk.fail()
	r.breaks.Do(func() {
		r.logger.Error("the disk failed: the server exits", "error", err)
		if r.config.Broken != nil {
			r.config.Broken(err)
		}
	})
}

// load fills the store with the newest snapshot. Without a snapshot, it returns zero
// values.
func (r *Replica) load(images *snapshots.Store, newest *snapshots.Snapshot) (meta raft.SnapshotMeta, err error) {
	if newest == nil {
		return meta, nil
	}
	_, content, err := images.Open(newest.ID)
	if err != nil {
		return meta, err
	}
	defer content.Close()
	if err := r.config.Store.Restore(content); err != nil {
		if newer := (*state.NewerError)(nil); errors.As(err, &newer) {
			return meta, fmt.Errorf("cannot read snapshot %s: %w; nothing was changed", newest.ID, newer)
		}
		return meta, images.Damaged(newest.ID, err)
	}
	if err := r.checkIndex(newest); err != nil {
		return meta, images.Damaged(newest.ID, err)
	}
	return newest.SnapshotMeta, nil
}

// checkIndex compares the recorded index of a snapshot with that of the last command in
// its state. Only entries that change no state may lie between the two.
func (r *Replica) checkIndex(s *snapshots.Snapshot) error {
	held := r.config.Store.LogIndex()
	if held > s.Index {
		return fmt.Errorf("it says that it ends with entry %d, and its state is of entry %d", s.Index, held)
	}
	for i := held + 1; i <= s.Index; i++ {
		var e raft.Log
		switch err := r.log.GetLog(i, &e); {
		case errors.Is(err, raft.ErrLogNotFound) && s.Sealed:
			return nil // its checksums say so
		case errors.Is(err, raft.ErrLogNotFound):
			return fmt.Errorf("it says that it ends with entry %d, its state is of entry %d, and it has no checksums", s.Index, held)
		case err != nil:
			return err
		case e.Type == raft.LogCommand:
			return fmt.Errorf("it says that it ends with entry %d, and its state lacks entry %d", s.Index, i)
		}
	}
	return nil
}

// checkContinuity returns an error if the log lacks acknowledged entries.
func (r *Replica) checkContinuity(snapshot uint64) error {
	first, _ := r.log.FirstIndex()
	last, _ := r.log.LastIndex()
	if first > snapshot+1 {
		return fmt.Errorf("log %s begins with entry %d, and the newest snapshot ends with entry %d: a log file or a snapshot is missing; put it back from a copy", r.dir.logPath(), first, snapshot)
	}
	if acknowledged := r.dir.mark.load(); max(last, snapshot) < acknowledged {
		return fmt.Errorf("log %s ends with entry %d, but entry %d was acknowledged: the end of the newest log file is damaged or missing; "+
			"put it back from a copy, or accept the loss by removing the file %s/acknowledged", r.dir.logPath(), max(last, snapshot), acknowledged, r.dir.path)
	}
	return nil
}

// checkVotes returns an error if the votes are older than the log: a server stores a term
// before it writes an entry of that term.
func (r *Replica) checkVotes(term uint64) error {
	if last, _ := r.log.LastIndex(); last > 0 {
		var e raft.Log
		if err := r.log.GetLog(last, &e); err != nil {
			return fmt.Errorf("open log: %w", err)
		}
		term = max(term, e.Term)
	}
	current, err := r.stable.GetUint64([]byte("CurrentTerm"))
	if err != nil {
		return err
	}
	if current < term {
		return fmt.Errorf("%s is of term %d, and the log of term %d: it holds this server's votes, and is older than the log; "+
			"put it back from a copy, or start with an empty data directory: in a cluster, remove this server and join again; a single server restores a snapshot", filepath.Join(r.dir.logPath(), "stable"), current, term)
	}
	return nil
}
