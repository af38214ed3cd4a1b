// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

// notes collects the messages of a start.
type notes struct {
	mu   sync.Mutex
	said []string
}

func (n *notes) notify(words string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.said = append(n.said, words)
}

func TestPullsAreTold(t *testing.T) {
	b := newBed(t, nil)
	var n notes
	task := b.task(t, "a/pulled/0", "echo x")
	task.Notify = n.notify
	b.run(t, task)
	if len(n.said) != 2 || n.said[0] != "Pulling registry.test/tool:1" || !strings.HasPrefix(n.said[1], "Pulled registry.test/tool:1: ") || !strings.Contains(n.said[1], " MB in ") {
		t.Errorf("messages %q", n.said)
	}
	// The second start finds the image in the store, also without the registry.
	b.registry.Before(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadRequest) })
	n.said = nil
	b.run(t, task)
	if len(n.said) != 0 {
		t.Errorf("a start with an image of the store says %q", n.said)
	}
	task.Config["force_pull"] = true
	if _, err := b.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), "pull registry.test/tool:1") {
		t.Errorf("force_pull without a registry: %v", err)
	}
}

func TestFailedPullsDecideAboutRestarts(t *testing.T) {
	b := newBed(t, nil)
	var again *driver.RecoverableError
	missing := b.task(t, "a/missing/0", "echo x", map[string]any{"image": "registry.test/absent:1"})
	if _, err := b.Start(t.Context(), missing); err == nil || errors.As(err, &again) || !strings.Contains(err.Error(), "check that registry.test has the repository") {
		t.Errorf("a missing image: %v", err)
	}
	b.registry.Before(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusBadRequest) })
	if _, err := b.Start(t.Context(), b.task(t, "a/broken/0", "echo x")); err == nil || !errors.As(err, &again) {
		t.Errorf("a registry in trouble: %v", err)
	}
}

func TestLayoutsOfTheTask(t *testing.T) {
	images := supervisetest.Dir(t)
	b := newBed(t, func(c *container.Config) { c.ImageDir = images })
	i, err := containertest.Image(nil, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	task := b.task(t, "a/layout/0", "echo from a layout", map[string]any{"image": "oci:local/image"})
	if err := containertest.WriteLayout(filepath.Join(task.Dir.Local, "image"), i); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.run(t, task); got != "from a layout\n" {
		t.Errorf("output %q", got)
	}
	for path, want := range map[string]string{
		"oci:/etc": "is not below " + images, "oci:../../etc": "open the image layout", "oci:local/none": "a layout is a directory with index.json", "oci:" + images: "index.json",
		"oci:" + images + "/../x": "is not below",
	} {
		task := b.task(t, "a/layout/1", "echo x", map[string]any{"image": path})
		if _, err := b.Start(t.Context(), task); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
}
