// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/snapshotfile"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	restorePartBytes = 256 << 10 // of one log entry
	restoreReserve   = 64 << 20  // bytes of the disk that an upload leaves to the log
	discardTimeout   = 10 * time.Second
)

// errRestoring rejects a second restore.
var errRestoring = api.Errorf(api.CodeConflict, "another restore is running: wait until it has ended, and try again")

// RestoreSnapshot replaces the state of all servers with that of a file, through the log. The
// state changes only if the file is whole. The cluster keeps its own trust, servers and excluded
// members.
func (s *Server) RestoreSnapshot(ctx context.Context, file io.Reader) (*api.RestoreResponse, error) {
	if !s.IsLeader() {
		return nil, errNoLeader
	}
	if !s.restoring.TryLock() {
		return nil, errRestoring
	}
	defer s.restoring.Unlock()
	f, err := s.scratch()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := s.receive(f, file); err != nil {
		return nil, err
	}
	meta, restored, err := snapshotfile.Load(f)
	if err != nil {
		return nil, err
	}
	before := s.store.Snapshot()
	if level := restored.Snapshot().Level(); level > before.Level() {
		return nil, state.RestoredLevelError(level, before.Level())
	}
	answer := &api.RestoreResponse{Snapshot: meta, Timeline: api.NewID(), Foreign: meta.ClusterID != before.ClusterID()}
	if before.Trust() != nil {
		answer.Kept = []string{"certificate authority", "tokens", "servers", "excluded members"}
	}
	command, err := s.stage(ctx, f, answer.Timeline)
	if err == nil {
		answer.Index, err = s.replaceState(ctx, command)
	}
	if err != nil {
		s.discardRestore(ctx)
		return nil, err
	}
	s.cfg.Logger.Warn("replaced the state with a snapshot", "index", answer.Index,
		"written", meta.Time, "snapshot_index", meta.Index, "snapshot_cluster", meta.ClusterID, "jobs", meta.Jobs)
	return answer, nil
}

// receive copies an upload to the disk, and leaves room for the log.
func (s *Server) receive(f *os.File, from io.Reader) error {
	for {
		free, err := disk.OS.Free(s.scratchDir())
		if err != nil {
			return s.snapshotError("read the free space", err)
		}
		if free < restoreReserve {
			return api.Errorf(api.CodeUnavailable, "cannot receive the snapshot: server %s has too little free space in %s; free at least %d MB more than the size of the file, and try again", s.cfg.Name, s.scratchDir(), restoreReserve>>20)
		}
		_, err = io.CopyN(writerOnly{f}, from, restoreReserve/8)
		switch failed := (*os.PathError)(nil); {
		case errors.Is(err, io.EOF):
			_, err = f.Seek(0, io.SeekStart)
			return err
		case errors.As(err, &failed):
			return s.snapshotError("receive the snapshot", err)
		case err != nil:
			return api.Errorf(api.CodeInvalid, "the snapshot did not arrive completely: %v; try again", err)
		}
	}
}

// writerOnly hides ReadFrom, so that errors of the reader and the file remain distinct.
type writerOnly struct{ io.Writer }

// stage writes the file's state to the log in parts, and returns the command that restores it.
func (s *Server) stage(ctx context.Context, f *os.File, timeline string) (*state.RestoreState, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, s.snapshotError("read the snapshot", err)
	}
	w := &stageWriter{ctx: ctx, server: s, id: api.NewID(), sum: sha256.New()}
	z, err := flate.NewWriter(w, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	err = snapshotfile.State(f, func(r io.Reader) error {
		_, err := io.Copy(z, r)
		return err
	})
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = w.flush()
	}
	return &state.RestoreState{ID: w.id, Parts: w.parts, SHA256: w.sum.Sum(nil), Timeline: timeline}, err
}

// A stageWriter proposes what it is given, in parts.
type stageWriter struct {
	ctx    context.Context
	server *Server
	id     string
	parts  int
	data   []byte
	sum    hash.Hash
}

// Write implements io.Writer.
func (w *stageWriter) Write(b []byte) (int, error) {
	w.sum.Write(b)
	for rest := b; ; {
		n := min(len(rest), restorePartBytes-len(w.data))
		w.data, rest = append(w.data, rest[:n]...), rest[n:]
		if len(rest) == 0 {
			return len(b), nil
		}
		if err := w.flush(); err != nil {
			return 0, err
		}
	}
}

func (w *stageWriter) flush() error {
	_, err := w.server.propose(w.ctx, &state.StageRestore{ID: w.id, Number: w.parts, Data: w.data})
	w.parts++
	w.data = nil // the log owns it
	return err
}

// discardRestore removes the parts of a restore that failed. If that fails too, the next term
// does it.
func (s *Server) discardRestore(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTimeout)
	defer cancel()
	if err := s.discardParts(ctx); err != nil {
		s.cfg.Logger.Warn("cannot discard the parts of a restore: the next leader does it", "error", err)
	}
}

func (s *Server) discardParts(ctx context.Context) error {
	if !s.store.Snapshot().HasRestore() {
		return nil
	}
	_, err := s.propose(ctx, &state.DiscardRestore{})
	return err
}

// A restoration replaces the state between two terms, so that nothing that a term derived
// from the previous state is applied to the restored one.
type restoration struct {
	command *state.RestoreState
	done    chan restored
}

type restored struct {
	index uint64
	err   error
}

// replaceState has followLeadership restore the staged snapshot.
func (s *Server) replaceState(ctx context.Context, command *state.RestoreState) (uint64, error) {
	r := restoration{command, make(chan restored, 1)}
	select {
	case s.restorations <- r:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	// From here on the outcome does not depend on the caller.
	select {
	case outcome := <-r.done:
		return outcome.index, outcome.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
