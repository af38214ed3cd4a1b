// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"io"
	"time"
)

// An entry is a file of an archive, or a directory if its name ends with a slash.
type entry struct {
	name string
	mode int64
	data []byte
}

// writeEntries writes a tar archive whose bytes depend on nothing but its arguments.
func writeEntries(w io.Writer, at time.Time, entries []entry) error {
	t := tar.NewWriter(w)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return t.Close()
}
