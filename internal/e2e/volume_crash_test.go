// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// slowPlugin logs its operations, and waits for a file before it does one. A process that outlives
// its agent repeats what the next agent also does.
const slowPlugin = `#!/bin/sh
case "$1" in
fingerprint) echo '{"version":"1.0.0"}'; exit 0 ;;
esac
echo "$1 $DHV_VOLUME_ID" >> "$DHV_PLUGIN_DIR/log"
while [ ! -e "$DHV_PLUGIN_DIR/$1" ]; do sleep 0.02; done
case "$1" in
create) mkdir -p "$DHV_VOLUMES_DIR/$DHV_VOLUME_NAME" && chmod 777 "$DHV_VOLUMES_DIR/$DHV_VOLUME_NAME" && echo "{\"path\":\"$DHV_VOLUMES_DIR/$DHV_VOLUME_NAME\",\"bytes\":$DHV_CAPACITY_MIN_BYTES}" ;;
delete) rm -rf "$DHV_CREATED_PATH" ;;
esac
`

// TestVolumePluginSurvivesKill9 kills the agent, server and node together, while a plugin creates and while it
// deletes a volume. Neither is lost, and the volume grows afterwards.
func TestVolumePluginSurvivesKill9(t *testing.T) {
	plugins := t.TempDir()
	if err := os.WriteFile(filepath.Join(plugins, "slow"), []byte(slowPlugin), 0o755); err != nil {
		t.Fatal(err)
	}
	m := volumeMachine(t, fmt.Sprintf("client {\n  host_volume_plugin_dir = %q\n}\n", plugins))
	until := func(operation string, times int) {
		t.Helper()
		m.eventually(fmt.Sprintf("the plugin runs %s", operation), func(context.Context) error {
			text, err := os.ReadFile(filepath.Join(plugins, "log"))
			if err == nil && strings.Count(string(text), operation) < times {
				err = fmt.Errorf("log: %q", text)
			}
			return err
		})
	}
	permit := func(operation string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(plugins, operation), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spec := "name = \"data\"\ntype = \"host\"\nplugin_id = \"slow\"\n"
	if out, err := m.reeveCommand(spec+`capacity_min = "1MiB"`, "volume", "create", "-detach", "-"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	until("create", 1)
	m.Kill()
	m.start()
	m.waitReady()
	until("create", 2)
	permit("create")
	var v *api.HostVolume
	state := func(what, state string, bytes int64) {
		t.Helper()
		m.eventually(what, func(context.Context) error {
			if v = m.volumeNamed("data"); v == nil || v.State != state || v.CapacityBytes != bytes {
				return fmt.Errorf("the volume is %+v", v)
			}
			return nil
		})
	}
	state("the volume is ready", api.HostVolumeReady, 1<<20)
	if out, err := m.reeveCommand(spec+fmt.Sprintf("id = %q\ncapacity_min = \"2MiB\"", v.ID), "volume", "create", "-"); err != nil || !strings.Contains(out, "Changed volume") {
		t.Fatalf("grow: %v\n%s", err, out)
	}
	state("the volume has grown", api.HostVolumeReady, 2<<20)
	m.register(volumeJob("db", "data", `echo here > /data/file; exec sleep 86400`))
	m.holds(filepath.Join(v.HostPath, "file"), "here")
	m.stop("db")
	if _, err := m.Client.Volumes().Delete(t.Context(), v.ID, false); err != nil {
		t.Fatal(err)
	}
	until("delete", 1)
	m.Kill()
	m.start()
	m.waitReady()
	until("delete", 2)
	if now := m.volumeNamed("data"); now == nil || now.State != api.HostVolumeDeleting {
		t.Errorf("before the plugin has deleted it, the volume is %+v", now)
	}
	permit("delete")
	m.eventually("the volume is deleted", func(context.Context) error {
		if now := m.volumeNamed("data"); now != nil {
			return fmt.Errorf("it is %+v", now)
		}
		return nil
	})
	if _, err := os.Stat(v.HostPath); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory: %v", err)
	}
}

// TestVolumesAreTakenOverByOtherServers removes the state of the servers. The node offers its volumes, and a
// job finds its data again.
func TestVolumesAreTakenOverByOtherServers(t *testing.T) {
	m := volumeMachine(t, "")
	v := m.createVolume("data", ownedByNobody)
	registered := openDir(t)
	nodes, _, err := m.Client.Nodes().List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := m.reeveCommand(fmt.Sprintf("name = \"own\"\ntype = \"host\"\nnode_id = %q\nhost_path = %q\n", nodes[0].ID, registered), "volume", "register", "-"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	own := m.volumeNamed("own")
	m.register(volumeJob("db", "data", `echo kept > /data/file; exec sleep 86400`))
	m.holds(filepath.Join(v.HostPath, "file"), "kept")
	m.stop("db")
	m.Kill()
	if err := os.RemoveAll(filepath.Join(m.Dir, "server")); err != nil {
		t.Fatal(err)
	}
	m.start()
	m.waitReady()
	m.eventually("the volumes are known again", func(context.Context) error {
		for _, before := range []*api.HostVolume{v, own} {
			if now := m.volumeNamed(before.Name); now == nil || now.ID != before.ID || now.State != api.HostVolumeReady || now.HostPath != before.HostPath {
				return fmt.Errorf("%s is %+v", before.Name, now)
			}
		}
		return nil
	})
	m.register(volumeJob("reader", "data", `cp /data/file /alloc/copy; exec sleep 86400`))
	alloc := m.allocations("reader", "runs", running(1))[0]
	m.holds(filepath.Join(m.Dir, "node/alloc", alloc.ID, "alloc/copy"), "kept")
	if out, err := m.reeveCommand("", "volume", "delete", "-yes", "nothing"); err == nil || !strings.Contains(out, `no volume has the name "nothing"`) {
		t.Errorf("delete a volume that does not exist: %v\n%s", err, out)
	}
	if out, err := m.reeveCommand("", "volume", "delete", "-yes", own.Name); err != nil {
		t.Errorf("delete the record of a registered volume: %v\n%s", err, out)
	}
	if _, err := os.Stat(registered); err != nil {
		t.Errorf("its directory: %v", err)
	}
}
