// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// tarballFiles lists the files of the source tree that the tarball contains, with their names
// in it. A name that ends with a slash is a directory for all matches.
var tarballFiles = []struct{ pattern, to string }{
	{"LICENSE", "LICENSE"},
	{"packaging/reeve.service", "systemd/reeve.service"},
	{"packaging/server-only.conf", "systemd/server-only.conf"},
	{"packaging/agent.hcl", "config/agent.hcl"},
	{"packaging/reeve.env", "config/reeve.env"},
	{"packaging/examples/*.hcl", "config/examples/"},
}

// writeTarball writes the binary, the unit and the configuration, with their checksums, below
// one directory.
func (r release) writeTarball(w io.Writer) error {
	binary, err := os.ReadFile(r.binary)
	if err != nil {
		return err
	}
	entries := []entry{{name: "reeve", mode: 0o755, data: binary}}
	for _, f := range tarballFiles {
		paths, err := filepath.Glob(filepath.Join(r.source, f.pattern))
		if err != nil {
			return err
		}
		if len(paths) == 0 {
			return fmt.Errorf("no file matches %s in %s", f.pattern, r.source)
		}
		for _, path := range paths { // Glob sorts them
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := f.to
			if strings.HasSuffix(name, "/") {
				name += filepath.Base(path)
			}
			entries = append(entries, entry{name: name, mode: 0o644, data: data})
		}
	}
	var sums strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(e.data), e.name)
	}
	entries = append(entries, entry{name: "SHA256SUMS", mode: 0o644, data: []byte(sums.String())})
	for i := range entries {
		entries[i].name = fmt.Sprintf("reeve-%s/%s", r.version, entries[i].name)
	}
	z := gzip.NewWriter(w) // its header has neither a name nor a time
	if err := writeEntries(z, r.time, entries); err != nil {
		return err
	}
	return z.Close()
}
