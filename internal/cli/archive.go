// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/reeve-run/reeve/api"
)

// An archive is a support archive that is being written.
type archive struct {
	file     *os.File
	zip      *gzip.Writer
	tar      *tar.Writer
	dir      string
	time     time.Time
	size     int64
	manifest manifest
}

// A manifest lists the content of a support archive.
type manifest struct {
	Version string
	Time    time.Time
	Files   []string
	Errors  []string // missing files, each with its reason
}

// newArchive creates a file that only its owner can read. It replaces no file.
func newArchive(path, dir string, now time.Time) (*archive, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fileError("create", path, err)
	}
	zip := gzip.NewWriter(f)
	return &archive{file: f, zip: zip, tar: tar.NewWriter(zip), dir: dir, time: now, manifest: manifest{Time: now.UTC(), Files: []string{}, Errors: []string{}}}, nil
}

// add adds a file.
func (a *archive) add(name string, text []byte) error {
	a.manifest.Files = append(a.manifest.Files, name)
	return a.write(name, text)
}

func (a *archive) write(name string, text []byte) error {
	if err := a.tar.WriteHeader(&tar.Header{Name: a.dir + "/" + name, Mode: 0o600, Size: int64(len(text)), ModTime: a.time}); err != nil {
		return err
	}
	_, err := a.tar.Write(text)
	return err
}

// addJSON adds an object.
func (a *archive) addJSON(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return a.add(name, append(text, '\n'))
}

// failed notes why a file is missing. It does nothing without an error.
func (a *archive) failed(name string, err error) error {
	if err != nil {
		a.manifest.Errors = append(a.manifest.Errors, name+": "+api.Printable(err.Error(), 500))
	}
	return nil
}

// finish adds the manifest, and closes the file.
func (a *archive) finish(version string) error {
	a.manifest.Version = version
	text, err := json.MarshalIndent(a.manifest, "", "  ")
	if err == nil {
		err = a.write("manifest.json", append(text, '\n'))
	}
	err = errors.Join(err, a.tar.Close(), a.zip.Close())
	if info, statErr := a.file.Stat(); statErr == nil {
		a.size = info.Size()
	}
	return errors.Join(err, a.file.Close())
}

// discard removes the file.
func (a *archive) discard() error { return os.Remove(a.file.Name()) }
