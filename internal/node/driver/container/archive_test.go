// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
)

// save writes an archive as docker save did.
func save(t *testing.T, path, tag, version string) {
	t.Helper()
	i, err := containertest.Image(func(c *v1.Config) { c.Env = append(c.Env, "VERSION="+version) }, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.NewTag(tag)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = tarball.WriteToFile(path, ref, i)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestArchivesOfTheTask runs the image that the task has: in its directory and in local, and again after the file
// has changed.
func TestArchivesOfTheTask(t *testing.T) {
	b := newBed(t, nil)
	b.away()
	run := func(path, version string) {
		t.Helper()
		task := b.task(t, "a/archive/"+version, "env VERSION", map[string]any{"image": "app:1", "load": path})
		save(t, filepath.Join(task.Dir.Local, "app.tar"), "app:1", version)
		if got, _ := b.run(t, task); strings.TrimSpace(got) != "VERSION="+version {
			t.Errorf("%s printed %q, want version %s", path, got, version)
		}
	}
	run("local/app.tar", "one")
	run("app.tar", "two")
	run("local/../local/app.tar", "two")
}

func TestArchivesStayInTheTask(t *testing.T) {
	b := newBed(t, nil)
	outside := filepath.Join(t.TempDir(), "app.tar")
	save(t, outside, "app:1", "outside")
	for path, want := range map[string]string{
		outside: "below the task's directory", "../../../../../.." + outside: "below the task's directory", "local/link.tar": "below the task's directory", "local/dir/app.tar": "below the task's directory",
		"local/none.tar": "no such file", "local": "below the task's directory", "local/other.tar": "has no image docker.io/library/app:1; it has: other:1",
	} {
		task := b.task(t, "a/archive/0", "env VERSION", map[string]any{"image": "app:1", "load": path})
		save(t, filepath.Join(task.Dir.Local, "other.tar"), "other:1", "other")
		for link, to := range map[string]string{"link.tar": outside, "dir": filepath.Dir(outside)} {
			if err := os.Symlink(to, filepath.Join(task.Dir.Local, link)); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
		}
		if h, err := b.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "config load") {
			t.Errorf("%s: %v, %v; want %q", path, h, err, want)
		}
	}
}
