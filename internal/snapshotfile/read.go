// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package snapshotfile

import (
	"archive/tar"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// maxSmall bounds meta.json and SHA256SUMS, in bytes.
const maxSmall = 1 << 20

// Check verifies the checksums of a file, and returns its description.
func Check(r io.Reader) (*api.Snapshot, error) {
	return read(r, func(_ *api.Snapshot, content io.Reader) error {
		_, err := io.Copy(io.Discard, content)
		return err
	})
}

// Load verifies a file, and restores its state into a new store. The description agrees with
// the state.
func Load(r io.Reader) (*api.Snapshot, *state.Store, error) {
	var store *state.Store
	meta, err := read(r, func(_ *api.Snapshot, content io.Reader) (err error) {
		store, err = state.Restore(content)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	held := describe(store.Snapshot())
	held.Format, held.Version, held.Server, held.Time, held.StateBytes = meta.Format, meta.Version, meta.Server, meta.Time, meta.StateBytes
	if *held != *meta {
		return nil, nil, api.Errorf(api.CodeInvalid, "the snapshot contradicts itself: %s describes index %d with %d jobs and %d allocations, and the state has index %d with %d jobs and %d allocations; use another copy",
			metaFile, meta.Index, meta.Jobs, meta.Allocations, held.Index, held.Jobs, held.Allocations)
	}
	return meta, store, nil
}

// State calls use with the state of a file. If it returns nil, the file's checksums are right.
func State(r io.Reader, use func(io.Reader) error) error {
	_, err := read(r, func(_ *api.Snapshot, content io.Reader) error { return use(content) })
	return err
}

// read reads a file from its beginning to its end.
func read(r io.Reader, use func(*api.Snapshot, io.Reader) error) (*api.Snapshot, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		if isCutShort(err) {
			return nil, errCutShort
		}
		return nil, errForeign("it is not compressed with gzip")
	}
	sums := map[string]string{}
	t := tar.NewReader(z)
	text, err := small(t, metaFile, sums)
	if err != nil {
		return nil, err
	}
	meta := new(api.Snapshot)
	if err := json.Unmarshal(text, meta); err != nil || meta.Format <= 0 {
		return nil, errForeign("its " + metaFile + " is not one of Reeve")
	}
	if meta.Format > Format {
		return nil, api.Errorf(api.CodeInvalid, "the snapshot has format %d, written by Reeve %s, and this version reads formats up to %d: use the version that wrote it, or a newer one", meta.Format, meta.Version, Format)
	}
	if err := next(t, stateFile); err != nil {
		return nil, err
	}
	sum := sha256.New()
	content := io.TeeReader(t, sum)
	if err := use(meta, content); err != nil {
		return nil, explain(err)
	}
	if _, err := io.Copy(io.Discard, content); err != nil {
		return nil, explain(err)
	}
	sums[stateFile] = hex.EncodeToString(sum.Sum(nil))
	want, err := small(t, sumsFile, map[string]string{})
	if err != nil {
		return nil, err
	}
	if err := checkSums(string(want), sums); err != nil {
		return nil, err
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return nil, errDamaged("it continues after " + sumsFile)
	}
	if _, err := io.Copy(io.Discard, z); err != nil { // the checksum of the whole
		return nil, explain(err)
	}
	return meta, nil
}

// small returns the content of the next entry, and notes its checksum.
func small(t *tar.Reader, name string, sums map[string]string) ([]byte, error) {
	if err := next(t, name); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(t, maxSmall+1))
	if err != nil {
		return nil, explain(err)
	}
	if len(text) > maxSmall {
		return nil, errForeign("its " + name + " is too large")
	}
	sum := sha256.Sum256(text)
	sums[name] = hex.EncodeToString(sum[:])
	return text, nil
}

// next advances to the entry of that name.
func next(t *tar.Reader, name string) error {
	h, err := t.Next()
	switch {
	case errors.Is(err, io.EOF) && name == metaFile:
		return errForeign("it is empty")
	case errors.Is(err, io.EOF):
		return errCutShort
	case errors.Is(err, tar.ErrHeader) && name == metaFile:
		return errForeign("it is not a tar archive")
	case err != nil:
		return explain(err)
	case h.Name != name || h.Typeflag != tar.TypeReg:
		return errForeign(fmt.Sprintf("it contains %.60q instead of %s", h.Name, name))
	}
	return nil
}

func checkSums(text string, got map[string]string) error {
	want := map[string]string{}
	for line := range strings.Lines(text) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		want[name] = sum
	}
	for name, sum := range got {
		if want[name] != sum {
			return errDamaged(name + " does not have the checksum in " + sumsFile)
		}
	}
	return nil
}

var errCutShort = api.Errorf(api.CodeInvalid, "the snapshot is cut short: copy the file again, or use another one")

func errDamaged(why string) error {
	return api.Errorf(api.CodeInvalid, "the snapshot is damaged: %s; copy the file again, or use another one", why)
}

func errForeign(why string) error {
	return api.Errorf(api.CodeInvalid, "this is not a snapshot of Reeve: %s; use a file of reeve operator snapshot save", why)
}

func isCutShort(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// explain returns the error of a reader as a sentence for users.
func explain(err error) error {
	var corrupt flate.CorruptInputError
	var known *api.Error
	var newer *state.NewerError
	switch {
	case errors.As(err, &newer):
		return api.Errorf(api.CodeInvalid, "cannot read the snapshot: %v", newer)
	case errors.As(err, &known):
		return err
	case isCutShort(err):
		return errCutShort
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		return errDamaged(err.Error())
	}
	return api.Errorf(api.CodeInvalid, "cannot read the snapshot: %v; use another copy", err)
}
