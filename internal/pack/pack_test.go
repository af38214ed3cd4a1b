// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func testRelease(t *testing.T) release {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "reeve")
	if err := os.WriteFile(binary, []byte("the binary"), 0o700); err != nil {
		t.Fatal(err)
	}
	return release{version: "1.2.3", arch: "amd64", binary: binary, source: "../..", time: time.Unix(1_000_000_000, 0).UTC()}
}

// unpack returns the files of a tar archive, and fails on entries that depend on the machine.
func unpack(t *testing.T, r io.Reader, at time.Time) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(at) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("entry %s: time %v, owner %d/%d %q", h.Name, h.ModTime, h.Uid, h.Gid, h.Uname)
		}
		if files[h.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheSameReleaseHasTheSameBytes(t *testing.T) {
	r := testRelease(t)
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := r.writeTo(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"reeve_1.2.3_linux_amd64.tar.gz", "reeve_1.2.3_linux_amd64.oci.tar"} {
		a, err := os.ReadFile(filepath.Join(first, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(second, name))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two builds differ (%v)", name, err)
		}
	}
}

func TestTheTarballHasChecksumsOfItsFiles(t *testing.T) {
	r := testRelease(t)
	var archive bytes.Buffer
	if err := r.writeTarball(&archive); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&archive)
	if err != nil {
		t.Fatal(err)
	}
	files := unpack(t, z, r.time)
	sums := strings.Split(strings.TrimSpace(string(files["reeve-1.2.3/SHA256SUMS"])), "\n")
	if len(sums) != len(files)-1 {
		t.Errorf("%d checksums for %d files", len(sums), len(files)-1)
	}
	for _, line := range sums {
		sum, name, _ := strings.Cut(line, "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(files["reeve-1.2.3/"+name])); got != sum {
			t.Errorf("%s: checksum %s, want %s", name, sum, got)
		}
	}
	for _, name := range []string{"reeve", "LICENSE", "systemd/reeve.service", "systemd/server-only.conf", "config/agent.hcl", "config/reeve.env", "config/examples/node.hcl"} {
		if len(files["reeve-1.2.3/"+name]) == 0 {
			t.Errorf("%s is missing", name)
		}
	}
}

// TestTheImageIsAnOCILayout follows the references of the image, as a container engine does.
func TestTheImageIsAnOCILayout(t *testing.T) {
	r := testRelease(t)
	var archive bytes.Buffer
	if err := r.writeImage(&archive); err != nil {
		t.Fatal(err)
	}
	files := unpack(t, &archive, r.time)
	read := func(d descriptor, into any) []byte {
		t.Helper()
		data := files[blobPath(d)]
		if d.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(data)) || d.Size != len(data) {
			t.Fatalf("blob %s does not match its descriptor", d.Digest)
		}
		if into != nil {
			if err := json.Unmarshal(data, into); err != nil {
				t.Fatal(err)
			}
		}
		return data
	}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(files["index.json"], &index); err != nil || len(index.Manifests) != 1 {
		t.Fatalf("index %s: %v", files["index.json"], err)
	}
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(index.Manifests[0], &manifest)
	var config struct {
		Architecture string
		Config       struct{ Entrypoint []string }
		RootFS       struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	read(manifest.Config, &config)
	z, err := gzip.NewReader(bytes.NewReader(read(manifest.Layers[0], nil)))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); len(config.RootFS.DiffIDs) != 1 || config.RootFS.DiffIDs[0] != want {
		t.Errorf("layers %v, want %s", config.RootFS.DiffIDs, want)
	}
	root := unpack(t, bytes.NewReader(layer), r.time)
	if entry := config.Config.Entrypoint; config.Architecture != "amd64" || len(entry) != 1 || string(root[strings.TrimPrefix(entry[0], "/")]) != "the binary" {
		t.Errorf("an image for %s runs %q", config.Architecture, entry)
	}
}

func TestAFailureLeavesNoArchive(t *testing.T) {
	r := testRelease(t)
	r.source = t.TempDir() // without LICENSE
	dir := t.TempDir()
	if err := r.writeTo(dir); err == nil {
		t.Error("a source tree without files makes a release")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
