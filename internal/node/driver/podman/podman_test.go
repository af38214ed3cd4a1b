// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package podman_test

import (
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/container/containertest"
	"github.com/reeve-run/reeve/internal/node/driver/docker"
	"github.com/reeve-run/reeve/internal/node/driver/podman"
	"github.com/reeve-run/reeve/internal/node/image/registrytest"
	"github.com/reeve-run/reeve/internal/node/supervise/supervisetest"
)

func TestMain(m *testing.M) { supervisetest.Main(m, nil) }

func open(t *testing.T) (*podman.Driver, string) {
	t.Helper()
	registry := registrytest.New()
	containers := container.New(supervisetest.Connect(t), supervisetest.Dir(t), container.Config{Transport: registry}, slog.New(slog.DiscardHandler))
	i, err := containertest.Image(nil, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	image := registry.Push(t, "tool:1", i)
	d := podman.New(docker.New(containers, docker.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler)))
	s := d.Fingerprint(t.Context())
	if !s.Healthy || s.Attributes["driver.podman"] != "1" {
		t.Fatalf("the driver cannot run containers on this machine: %+v", s)
	}
	for key := range s.Attributes {
		if !strings.HasPrefix(key, "driver.podman") {
			t.Errorf("the attribute %s belongs to another driver", key)
		}
	}
	return d, image
}

func TestAPodmanTaskRunsByTheDriverContainer(t *testing.T) {
	d, image := open(t)
	task := supervisetest.Task(t, "a/t/0", map[string]any{
		"image": "docker://" + image, "args": []any{"pwd", ",", "write", "/scratch/f", "text", ",", "exit", "7"}, "readonly_rootfs": true,
		"working_dir": "/local", "tmpfs": []any{"/scratch:size=1m"},
	})
	h, err := d.Start(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Recover(t.Context(), task)
	if err != nil || again.PID() != h.PID() {
		t.Errorf("the next agent finds %v, %v", again, err)
	}
	exit, err := h.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := supervisetest.Output(t, task.Logs.StdoutPrefix)
	if exit.Code != 7 || !strings.Contains(out, "/local\n") {
		t.Errorf("exit %+v, output %q", exit, out)
	}
	if err := h.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAPodmanTaskThatCannotRunSaysWhy(t *testing.T) {
	d, image := open(t)
	for want, config := range map[string]map[string]any{
		`config driver podman has no key "work_dir"`:                                                      {"work_dir": "/"},
		"config memory_swap needs a Docker daemon, and this node runs such tasks by the driver container": {"memory_swap": "1g"},
		"set allow_privileged = true in client { container { } }":                                         {"devices": []any{"/dev/null"}},
	} {
		config["image"] = image
		var h driver.Handle
		h, err := d.Start(t.Context(), supervisetest.Task(t, "a/t/0", config))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, %v; want %q", config, h, err, want)
		}
	}
}
