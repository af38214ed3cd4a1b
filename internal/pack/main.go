// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A release describes the archives to write.
type release struct {
	version string
	arch    string // GOARCH of the binary
	binary  string // path of the binary
	source  string // root of the source tree, which holds packaging/ and LICENSE
	time    time.Time
}

func main() {
	var (
		r       release
		seconds int64
		out     string
	)
	flag.StringVar(&r.version, "version", "", "`VERSION` of the release")
	flag.StringVar(&r.arch, "arch", "", "processor `ARCH` of the binary, as in GOARCH")
	flag.StringVar(&r.binary, "binary", "", "path of the `FILE` with the binary")
	flag.StringVar(&r.source, "source", ".", "`DIR` of the source tree")
	flag.Int64Var(&seconds, "time", 0, "time of all entries, in `SECONDS` since 1970")
	flag.StringVar(&out, "out", "", "write the archives to `DIR`")
	flag.Parse()
	r.time = time.Unix(seconds, 0).UTC()
	if r.version == "" || r.arch == "" || r.binary == "" || out == "" {
		fmt.Fprintln(os.Stderr, "pack: -version, -arch, -binary and -out are required; \"make packages\" sets them")
		os.Exit(2)
	}
	if err := r.writeTo(out); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// writeTo writes both archives to a directory.
func (r release) writeTo(dir string) error {
	base := filepath.Join(dir, fmt.Sprintf("reeve_%s_linux_%s", r.version, r.arch))
	if err := writeFile(base+".tar.gz", r.writeTarball); err != nil {
		return err
	}
	return writeFile(base+".oci.tar", r.writeImage)
}

// writeFile creates a file, and removes it again if its content cannot be completed.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = write(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path)
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
