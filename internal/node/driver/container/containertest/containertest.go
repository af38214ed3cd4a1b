// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package containertest makes images for tests of containers. Their only program is a small
// static one, so that no test needs a registry of the outside or a distribution's files. Only
// tests and benchmarks use it.
package containertest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// ToolPath is the program's path in an image.
const ToolPath = "/bin/tool"

// tool builds the program once for a process.
var tool = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "tool")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tool")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "github.com/reeve-run/reeve/internal/node/driver/container/containertest/tool")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program of the image: %w: %s", err, out)
	}
	return os.ReadFile(path)
})

// Program returns the static program, for tests that need it outside an image.
func Program() ([]byte, error) { return tool() }

// A File is an entry of a layer.
type File struct {
	Name string
	Mode int64
	Body string
	Kind byte   // of package tar; 0: a file, or a directory if the name ends with a slash
	Link string // target
	UID  int
}

// Layer returns a layer of files.
func Layer(files ...File) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.Name, Mode: f.Mode, Size: int64(len(f.Body)), Typeflag: f.Kind, Linkname: f.Link, Uid: f.UID, Gid: f.UID}
		if f.Kind == 0 {
			if h.Typeflag = tar.TypeReg; f.Name[len(f.Name)-1] == '/' {
				h.Typeflag = tar.TypeDir
			}
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(f.Body)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
}

// Base returns a layer with the program, users and a few directories.
func Base() (v1.Layer, error) {
	program, err := tool()
	if err != nil {
		return nil, err
	}
	return Layer(
		File{Name: "bin/", Mode: 0o755}, File{Name: "bin/tool", Mode: 0o755, Body: string(program)},
		File{Name: "etc/", Mode: 0o755}, File{Name: "etc/passwd", Mode: 0o644, Body: "root:x:0:0:root:/root:/bin/tool\napp:x:1000:1001:app:/home/app:/bin/tool\n"},
		File{Name: "etc/group", Mode: 0o644, Body: "root:x:0:\napp:x:1001:\nwheel:x:10:app\n"},
		File{Name: "root/", Mode: 0o700}, File{Name: "tmp/", Mode: 0o1777}, File{Name: "home/", Mode: 0o755}, File{Name: "home/app/", Mode: 0o755, UID: 1000},
	)
}

// Image returns an image of the base layer and further ones.
func Image(change func(*v1.Config), architecture string, layers ...v1.Layer) (v1.Image, error) {
	base, err := Base()
	if err != nil {
		return nil, err
	}
	i, err := mutate.AppendLayers(empty.Image, append([]v1.Layer{base}, layers...)...)
	if err != nil {
		return nil, err
	}
	file, err := i.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", architecture
	file.Config.Entrypoint = []string{ToolPath}
	if change != nil {
		change(&file.Config)
	}
	return mutate.ConfigFile(i, file)
}

// WriteLayout writes an image as an image layout.
func WriteLayout(dir string, i v1.Image) error {
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return p.AppendImage(i)
}
