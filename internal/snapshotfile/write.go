// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package snapshotfile

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// Format is the newest format of files, which this version writes.
const Format = 1

const (
	metaFile  = "meta.json"
	stateFile = "state.bin"
	sumsFile  = "SHA256SUMS"
)

// Source describes the writer of a file.
type Source struct {
	Version string // of Reeve
	Server  string // name
	Time    time.Time
	Scratch string // directory for a temporary file of the size of the state
}

// Write writes the state as a file.
func Write(w io.Writer, v *state.Snapshot, from Source) (*api.Snapshot, error) {
	// The header of a tar entry contains its size, so the state is written to a file first.
	f, err := os.CreateTemp(from.Scratch, ".snapshot-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, fmt.Errorf("unlink a temporary file: %w", err)
	}
	sum := sha256.New()
	size, err := v.WriteTo(io.MultiWriter(f, sum))
	if err != nil {
		return nil, fmt.Errorf("write the state: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	meta := describe(v)
	meta.Format, meta.Version, meta.Server, meta.Time, meta.StateBytes = Format, from.Version, from.Server, from.Time.UTC(), size
	text, err := json.MarshalIndent(meta, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	sums := fmt.Sprintf("%x  %s\n%x  %s\n", sha256.Sum256(text), metaFile, sum.Sum(nil), stateFile)
	return meta, pack(w, from.Time, []entry{
		{metaFile, int64(len(text)), bytes.NewReader(text)},
		{stateFile, size, f},
		{sumsFile, int64(len(sums)), bytes.NewReader([]byte(sums))},
	})
}

type entry struct {
	name    string
	size    int64
	content io.Reader
}

func pack(w io.Writer, now time.Time, entries []entry) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: 0o600, Size: e.size, ModTime: now.UTC()}
		if err := t.WriteHeader(h); err != nil {
			return fmt.Errorf("write %s: %w", e.name, err)
		}
		if _, err := io.Copy(t, e.content); err != nil {
			return fmt.Errorf("write %s: %w", e.name, err)
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// describe returns what a state says about itself.
func describe(v *state.Snapshot) *api.Snapshot {
	m := &api.Snapshot{ClusterID: v.ClusterID(), Timeline: v.Timeline(), Index: v.Index()}
	for range v.Jobs() {
		m.Jobs++
	}
	for range v.Nodes() {
		m.Nodes++
	}
	for range v.Evaluations() {
		m.Evaluations++
	}
	for range v.Deployments() {
		m.Deployments++
	}
	for range v.Allocations() {
		m.Allocations++
	}
	return m
}
