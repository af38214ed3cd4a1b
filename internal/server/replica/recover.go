// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/state"
)

// Recovery is the result of Recover.
type Recovery struct {
	ServerID  string
	Dropped   []Peer // the servers that are no longer part of the cluster
	LastIndex uint64 // of the newest entry, which counts as committed now
	LastTerm  uint64
	LastTime  time.Time // when a leader wrote that entry; zero if unknown
	Copy      string    // the state of the directory before
}

// Recover makes the server of a stopped process the only voter of its cluster, because the
// majority is lost. All entries of its log count as committed; entries that only the lost
// servers acknowledged are lost. It first copies the directory. The lost servers must never
// start again with their old directories: they would be a second cluster. A dry run returns
// the same result without a copy, and changes nothing.
func Recover(config Config, dryRun bool) (result Recovery, err error) {
	if _, err := os.Stat(filepath.Join(config.Dir, "meta.json")); errors.Is(err, fs.ErrNotExist) {
		return result, fmt.Errorf("%s contains no server's data: name the data directory of a server that has survived", config.Dir)
	}
	config = config.withDefaults()
	if config.Store == nil {
		config.Store = state.New()
	}
	r := &Replica{config: config, logger: config.Logger, disk: newPulse()}
	defer func() { err = errors.Join(err, r.release()) }()
	images, err := r.prepare()
	if err != nil {
		return result, err
	}
	id := raft.ServerID(r.dir.meta.ServerID)
	c := raft.DefaultConfig()
	c.LocalID, c.Logger, c.NoLegacyTelemetry = id, newRaftLogger(r.logger), true
	c.NoSnapshotRestoreOnStart = true // prepare did
	_, transport := raft.NewInmemTransport(raft.ServerAddress(id))
	before, err := raft.GetConfiguration(c, r.machine, r.log, r.stable, images, transport)
	if err != nil {
		return result, fmt.Errorf("read the servers of the log: %w", err)
	}
	if len(before.Servers) == 0 {
		return result, fmt.Errorf("%s contains no cluster yet: join this server instead", config.Dir)
	}
	after := raft.Configuration{Servers: []raft.Server{{ID: id}}}
	for _, s := range before.Servers {
		if s.ID == id {
			after.Servers[0].Address = s.Address
			continue
		}
		result.Dropped = append(result.Dropped, Peer{ID: string(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	if after.Servers[0].Address == "" {
		return result, fmt.Errorf("server %s was removed from its cluster: recover a server that is still part of it", id)
	}
	if len(result.Dropped) == 0 {
		return result, fmt.Errorf("server %s is the only server of its cluster already: start its agent", id)
	}
	result.ServerID = string(id)
	if err := r.newest(&result, images); err != nil || dryRun {
		return result, err
	}
	result.Copy = fmt.Sprintf("%s.before-recovery-%s", filepath.Clean(config.Dir), time.Now().UTC().Format("20060102T150405Z"))
	if err := copyDir(config.Dir, result.Copy); err != nil {
		return result, fmt.Errorf("copy the directory before the recovery: %w; nothing was changed", err)
	}
	if err := raft.RecoverCluster(c, r.machine, r.log, r.stable, images, transport, after); err != nil {
		return result, fmt.Errorf("make server %s the only voter: %w; put the copy %s back", id, err, result.Copy)
	}
	if failure := r.machine.failure.Load(); failure != nil {
		return result, fmt.Errorf("%w; put the copy %s back", *failure, result.Copy)
	}
	return result, nil
}

// newest fills in the newest entry of the log or of the snapshots.
func (r *Replica) newest(result *Recovery, images raft.SnapshotStore) error {
	last, err := r.log.LastIndex()
	if err != nil {
		return err
	}
	if last > 0 {
		var e raft.Log
		if err := r.log.GetLog(last, &e); err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		result.LastIndex, result.LastTerm, result.LastTime = e.Index, e.Term, e.AppendedAt
		return nil
	}
	list, err := images.List()
	if err == nil && len(list) > 0 {
		result.LastIndex, result.LastTerm = list[0].Index, list[0].Term
	}
	return err
}

// copyDir copies a directory durably. The copy must not exist yet.
func copyDir(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s exists already", to)
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.Mkdir(target, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(path, target)
	})
	if err != nil {
		return err
	}
	return errors.Join(syncDirs(to), disk.OS.SyncDir(filepath.Dir(to)))
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

func syncDirs(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return disk.OS.SyncDir(path)
	})
}
