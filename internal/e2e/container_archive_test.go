// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
)

// TestContainerOfAnArchive fetches an archive of docker save as an artifact, and runs its image with both
// drivers.
func TestContainerOfAnArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	i, err := containertest.Image(func(c *v1.Config) { c.Env = append(c.Env, "VERSION=saved") }, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("app:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := tarball.WriteToFile(filepath.Join(dir, "app.tar"), tag, i); err != nil {
		t.Fatal(err)
	}
	files := httptest.NewServer(http.FileServerFS(os.DirFS(dir)))
	t.Cleanup(files.Close)
	m := unstarted(t)
	m.Args = []string{"-dev"}
	m.start()
	m.waitReady()
	for _, driver := range []string{api.DriverContainer, api.DriverDocker} {
		job := containerJob(driver, "app:1", 1, "env VERSION , wait , exit 0")
		task := job.Groups[0].Tasks[0]
		task.Driver, task.Config["load"] = driver, "app.tar"
		task.Artifacts = []*api.Artifact{{Source: files.URL + "/app.tar", Options: map[string]string{"archive": "false"}}}
		m.register(job)
		m.printed(m.allocations(driver, "runs", running(1))[0].ID, "VERSION=saved", "waiting")
	}
}
