// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/backup"
	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/snapshotfile"
)

// A SavedSnapshot is a complete file of snapshotfile. It has no name: it disappears with Close.
type SavedSnapshot struct {
	*os.File
	Meta   *api.Snapshot
	Size   int64
	SHA256 [sha256.Size]byte // of the file
}

// SaveSnapshot writes this server's state to a file, ready to be read.
func (s *Server) SaveSnapshot() (_ *SavedSnapshot, err error) {
	f, err := s.scratch()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	saved := &SavedSnapshot{File: f}
	sum := sha256.New()
	if saved.Meta, err = s.writeSnapshot(io.MultiWriter(f, sum), s.scratchDir()); err != nil {
		return nil, s.snapshotError("write the snapshot", err)
	}
	sum.Sum(saved.SHA256[:0])
	if saved.Size, err = f.Seek(0, io.SeekEnd); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return saved, err
}

func (s *Server) writeSnapshot(w io.Writer, scratch string) (*api.Snapshot, error) {
	b := bufio.NewWriterSize(w, 1<<18)
	meta, err := snapshotfile.Write(b, s.store.Snapshot(), snapshotfile.Source{
		Version: s.cfg.Version, Server: s.cfg.Name, Time: time.Now(), Scratch: scratch,
	})
	return meta, errors.Join(err, b.Flush())
}

// newBackups returns the schedule of this server's snapshots.
func (s *Server) newBackups() *backup.Schedule {
	return backup.New(s.cfg.Backup, backup.Env{
		Logger: s.cfg.Logger, Server: s.ServerID(),
		Cluster: func() string {
			if m := s.cfg.Member; m != nil {
				return m.ClusterID // a restore does not change it
			}
			return s.store.Snapshot().ClusterID()
		},
		Outdated: func() error {
			if s.Leader() == "" {
				return api.Errorf(api.CodeUnavailable, "server %s knows no leader, and its state may be an old one", s.cfg.Name)
			}
			return nil
		},
		Write: func(w io.Writer) (*api.Snapshot, error) { return s.writeSnapshot(w, s.scratchDir()) },
		Check: snapshotfile.Check,
	})
}

// LastSnapshot describes the schedule of this server's snapshots and the newest of them.
func (s *Server) LastSnapshot() *api.SnapshotSchedule {
	status := s.backups.Status()
	status.Server, status.Name = s.ServerID(), s.cfg.Name
	return status
}

// scratchDir returns the directory of temporary files: it has room for the state.
func (s *Server) scratchDir() string { return cmp.Or(s.cfg.DataDir, os.TempDir()) }

// scratch returns a temporary file without a name.
func (s *Server) scratch() (*os.File, error) {
	f, err := os.CreateTemp(s.scratchDir(), ".snapshot-*.tmp")
	if err != nil {
		return nil, s.snapshotError("create a temporary file", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, s.snapshotError("create a temporary file", err)
	}
	return f, nil
}

// snapshotError returns an error of the disk as a sentence. It changed nothing.
func (s *Server) snapshotError(what string, err error) error {
	if e := (*api.Error)(nil); errors.As(err, &e) {
		return err
	}
	err = disk.Explain(disk.OS, s.scratchDir(), err)
	s.cfg.Logger.Error("cannot handle a snapshot", "step", what, "error", err)
	return api.Errorf(api.CodeInternal, "cannot %s: %v; free space or repair the disk of server %s, and try again", what, fmt.Errorf("in %s: %w", s.scratchDir(), err), s.cfg.Name)
}
