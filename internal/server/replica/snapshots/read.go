// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package snapshots

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

const (
	stateFile = "state.bin"
	metaFile  = "meta.json"
	sumsFile  = "SHA256SUMS"
	smallFile = 1 << 20 // bytes; more than meta.json and SHA256SUMS ever have
)

var ecma = crc64.MakeTable(crc64.ECMA)

// meta is the content of meta.json.
type meta struct {
	raft.SnapshotMeta
	CRC []byte // of state.bin

	sum string // of state.bin, in hexadecimal; "" if the snapshot has no SHA256SUMS
}

// readMeta reads meta.json and checks it against SHA256SUMS and the name.
func (s *Store) readMeta(n name) (*meta, error) {
	dir := filepath.Join(s.dir, n.String())
	text, err := disk.ReadFile(s.fs, filepath.Join(dir, metaFile), smallFile)
	if err != nil {
		return nil, err
	}
	m := new(meta)
	sums, err := disk.ReadFile(s.fs, filepath.Join(dir, sumsFile), smallFile)
	switch {
	case errors.Is(err, os.ErrNotExist): // it was written by an earlier version
	case err != nil:
		return nil, err
	default:
		want, err := parseSums(sums)
		if err != nil {
			return nil, err
		}
		if got := sha256.Sum256(text); want[metaFile] != hex.EncodeToString(got[:]) {
			return nil, fmt.Errorf("%s does not have the checksum that %s says", metaFile, sumsFile)
		}
		m.sum = want[stateFile]
	}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", metaFile, err)
	}
	switch {
	case m.Version < raft.SnapshotVersionMin || m.Version > raft.SnapshotVersionMax:
		return nil, fmt.Errorf("%s has version %d, which this version of Reeve does not read", metaFile, m.Version)
	case m.ID != n.String() || m.Index != n.index || m.Term != n.term:
		return nil, fmt.Errorf("%s is of snapshot %q with term %d and index %d", metaFile, m.ID, m.Term, m.Index)
	case m.ConfigurationIndex > m.Index:
		return nil, fmt.Errorf("%s has servers of index %d, behind the snapshot's own", metaFile, m.ConfigurationIndex)
	}
	return m, nil
}

// parseSums parses the output of sha256sum: the checksums of both files.
func parseSums(text []byte) (map[string]string, error) {
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, file, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || len(sum) != 2*sha256.Size {
			return nil, fmt.Errorf("%s is not a list of checksums", sumsFile)
		}
		sums[file] = sum
	}
	if len(sums) != 2 || sums[metaFile] == "" || sums[stateFile] == "" {
		return nil, fmt.Errorf("%s does not name %s and %s", sumsFile, metaFile, stateFile)
	}
	return sums, nil
}

// openState verifies state.bin, and returns it for reading.
func (s *Store) openState(n name, m *meta) (_ io.ReadCloser, err error) {
	f, err := s.fs.Open(filepath.Join(s.dir, n.String(), stateFile))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if size != m.Size {
		return nil, fmt.Errorf("%s has %d bytes, and should have %d", stateFile, size, m.Size)
	}
	sum, want := hash.Hash(crc64.New(ecma)), hex.EncodeToString(m.CRC)
	if m.sum != "" {
		sum, want = sha256.New(), m.sum
	}
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return nil, err
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return nil, fmt.Errorf("%s does not have the checksum that it should have", stateFile)
	}
	return &reader{bufio.NewReader(io.NewSectionReader(f, 0, size)), f}, nil
}

type reader struct {
	*bufio.Reader
	io.Closer
}
