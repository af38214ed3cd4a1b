// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
	"github.com/reeve-run/reeve/internal/state"
)

// Rename gives the only server of a stopped process another id and an address, so that a server
// that ran alone can be the first one of a cluster. It works on a copy of the directory, which
// takes the directory's place in one step: a crash leaves the old server or the new one. accept
// may refuse the state.
func Rename(config Config, id, address string, accept func(*state.Snapshot) error) error {
	if config.Store == nil {
		config.Store = state.New()
	}
	original := &directory{path: config.Dir}
	defer original.close()
	if err := original.acquire(); err != nil {
		return err
	}
	next := filepath.Clean(config.Dir) + ".renamed"
	// A copy is a remainder of an attempt that was interrupted.
	if err := os.RemoveAll(next); err != nil {
		return fmt.Errorf("remove an earlier copy of the directory: %w", err)
	}
	if err := copyDir(config.Dir, next); err != nil {
		return fmt.Errorf("copy the directory: %w; nothing was changed", err)
	}
	copied := config
	copied.Dir = next
	err := rename(copied, raft.Server{ID: raft.ServerID(id), Address: raft.ServerAddress(address)}, accept)
	if err == nil {
		err = exchange(next, config.Dir)
	}
	return errors.Join(err, os.RemoveAll(next))
}

func rename(config Config, self raft.Server, accept func(*state.Snapshot) error) (err error) {
	r := &Replica{config: config.withDefaults(), disk: newPulse()}
	r.logger = r.config.Logger
	defer func() { err = errors.Join(err, r.release()) }()
	images, err := r.prepare()
	if err != nil {
		return err
	}
	if err := accept(r.config.Store.Snapshot()); err != nil {
		return err
	}
	c := raft.DefaultConfig()
	c.LocalID, c.Logger, c.NoLegacyTelemetry = self.ID, newRaftLogger(r.logger), true
	c.NoSnapshotRestoreOnStart = true // prepare did
	_, transport := raft.NewInmemTransport(self.Address)
	before, err := raft.GetConfiguration(c, r.machine, r.log, r.stable, images, transport)
	if err != nil {
		return fmt.Errorf("read the servers of the log: %w", err)
	}
	if len(before.Servers) != 1 || string(before.Servers[0].ID) != r.dir.meta.ServerID {
		return fmt.Errorf("%s does not belong to a server that ran alone", config.Dir)
	}
	if err := raft.RecoverCluster(c, r.machine, r.log, r.stable, images, transport, raft.Configuration{Servers: []raft.Server{self}}); err != nil {
		return fmt.Errorf("rename server %s: %w", r.dir.meta.ServerID, err)
	}
	if failure := r.machine.failure.Load(); failure != nil {
		return *failure
	}
	r.dir.meta.ServerID = string(self.ID)
	return r.dir.writeMeta(filepath.Join(r.dir.path, "meta.json"))
}

// exchange swaps two directories of one parent in one step.
func exchange(a, b string) error {
	if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("put %s in the place of %s: %w; nothing was changed", a, b, err)
	}
	return disk.OS.SyncDir(filepath.Dir(b))
}

// Owner returns the id of the server to which a directory belongs; "" if it has none.
func Owner(dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, "meta.json")); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	d := &directory{path: dir}
	err := d.readMeta("")
	return d.meta.ServerID, err
}
