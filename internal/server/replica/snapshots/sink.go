// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package snapshots

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"path/filepath"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// sink is a snapshot that is being written.
type sink struct {
	store *Store
	name  name
	meta  meta
	file  *disk.Writer
	crc   hash.Hash64
	sum   hash.Hash
	to    io.Writer
	ended bool
}

func (k *sink) path() string { return filepath.Join(k.store.dir, k.name.String()+temporary) }

func (k *sink) begin() error {
	if err := k.store.fs.Mkdir(k.path()); err != nil {
		return err
	}
	f, err := k.store.fs.Create(filepath.Join(k.path(), stateFile))
	if err != nil {
		_ = disk.RemoveAll(k.store.fs, k.path())
		return err
	}
	k.file, k.crc, k.sum = &disk.Writer{File: f}, crc64.New(ecma), sha256.New()
	k.to = io.MultiWriter(k.file, k.crc, k.sum)
	return nil
}

// ID implements raft.SnapshotSink.
func (k *sink) ID() string { return k.name.String() }

// Write implements raft.SnapshotSink.
func (k *sink) Write(b []byte) (int, error) {
	n, err := k.to.Write(b)
	return n, disk.Explain(k.store.fs, k.store.dir, err)
}

// Close completes the snapshot and gives it its name.
func (k *sink) Close() error {
	if k.ended {
		return nil
	}
	k.ended = true
	if err := k.finish(); err != nil {
		_ = disk.RemoveAll(k.store.fs, k.path())
		return fmt.Errorf("write snapshot: %w", disk.Explain(k.store.fs, k.store.dir, err))
	}
	k.store.written.Store(k.name.milliseconds)
	return k.store.reap()
}

func (k *sink) finish() error {
	err := k.file.Sync()
	if closeErr := k.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	k.meta.Size, k.meta.CRC = k.file.Size, k.crc.Sum(nil)
	text, err := json.Marshal(&k.meta)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	var sums bytes.Buffer
	fmt.Fprintf(&sums, "%x  %s\n%x  %s\n", sha256.Sum256(text), metaFile, k.sum.Sum(nil), stateFile)
	if err := k.write(metaFile, text); err != nil {
		return err
	}
	if err := k.write(sumsFile, sums.Bytes()); err != nil {
		return err
	}
	fs, dir := k.store.fs, k.store.dir
	if err := fs.SyncDir(k.path()); err != nil {
		return err
	}
	named := filepath.Join(dir, k.name.String())
	if err := fs.Rename(k.path(), named); err != nil {
		return err
	}
	if err := fs.SyncDir(dir); err != nil {
		// The name may be only in memory: remove it, so that the next Open does not rely
		// on it.
		_ = fs.Rename(named, k.path())
		return &disk.SyncError{Path: dir, Err: err}
	}
	return nil
}

func (k *sink) write(file string, text []byte) error {
	f, err := k.store.fs.Create(filepath.Join(k.path(), file))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(text, 0); err != nil {
		return err
	}
	return f.Sync()
}

// Cancel discards the snapshot.
func (k *sink) Cancel() error {
	if k.ended {
		return nil
	}
	k.ended = true
	_ = k.file.Close()
	return disk.RemoveAll(k.store.fs, k.path())
}
