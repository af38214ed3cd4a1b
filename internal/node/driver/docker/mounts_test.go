// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func TestLabelledVolumesAreBinds(t *testing.T) {
	task := fakeTask(t)
	task.Mounts = []driver.Mount{
		{Source: "/srv/plain", Target: "/plain"},
		{Source: "/srv/shared", Target: "/shared", Label: "z"},
		{Source: "/srv/own", Target: "/own", Label: "Z", ReadOnly: true, Propagation: "host-to-task"},
	}
	config, err := hostConfig(task, &api.ContainerConfig{Daemon: api.DaemonConfig{}}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/srv/shared:/shared:rw,z", "/srv/own:/own:ro,Z,rslave"}; !slices.Equal(config["Binds"].([]string), want) {
		t.Errorf("binds %v, want %v", config["Binds"], want)
	}
	var targets []any
	for _, m := range config["Mounts"].([]object) {
		targets = append(targets, m["Target"])
	}
	if want := []any{"/alloc", "/local", "/secrets", "/plain"}; !slices.Equal(targets, want) {
		t.Errorf("mounts at %v, want %v", targets, want)
	}
}

// TestLabelledVolumesAddNoOption asks for a destination whose end a daemon would take for options or another path.
func TestLabelledVolumesAddNoOption(t *testing.T) {
	for _, m := range []driver.Mount{
		{Source: "/srv/a", Target: "/a:rw,rshared", Label: "z", ReadOnly: true},
		{Source: "/srv/a:/etc", Target: "/a", Label: "Z"},
	} {
		task := fakeTask(t)
		task.Mounts = []driver.Mount{m}
		if binds, err := labelledMounts(task); err == nil || !strings.Contains(err.Error(), "allows no colon") {
			t.Errorf("%+v is mounted by %v (%v)", m, binds, err)
		}
	}
}
