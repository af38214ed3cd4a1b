// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// reeveCommand runs the command line against the machine.
func (m *machine) reeveCommand(stdin string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, reeve, args...)
	cmd.Env = append(os.Environ(), "NOMAD_ADDR=http://"+m.Addr, "REEVE_ADDR=http://"+m.Addr)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// createVolume creates a volume with the command line, and returns it.
func (m *machine) createVolume(name, more string) *api.HostVolume {
	m.t.Helper()
	out, err := m.reeveCommand(fmt.Sprintf("name = %q\ntype = \"host\"\n%s\n", name, more), "volume", "create", "-")
	if err != nil {
		m.t.Fatalf("create volume %s: %v\n%s", name, err, out)
	}
	return m.volumeNamed(name)
}

func (m *machine) volumeNamed(name string) *api.HostVolume {
	m.t.Helper()
	list, _, err := m.Client.Volumes().List(m.t.Context(), nil)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, stub := range list {
		if stub.Name == name {
			v, _, err := m.Client.Volumes().Get(m.t.Context(), stub.ID, nil)
			if err != nil {
				m.t.Fatal(err)
			}
			return v
		}
	}
	return nil
}

func (m *machine) stop(job string) {
	m.t.Helper()
	if _, err := m.Client.Jobs().Deregister(m.t.Context(), job, client.DeregisterOptions{}); err != nil {
		m.t.Fatal(err)
	}
	m.allocations(job, "has stopped", func(list []*api.AllocationListStub) bool {
		for _, a := range list {
			if a.ClientStatus == api.AllocClientRunning || a.ClientStatus == api.AllocClientPending {
				return false
			}
		}
		return true
	})
}

const ownedByNobody = `parameters { uid = "65534" }`

// TestVolumeDynamicKeepsData follows a volume: a job waits for it, uses it, keeps it across restarts of its
// agent, and releases it; then it is deleted.
func TestVolumeDynamicKeepsData(t *testing.T) {
	m := volumeMachine(t, "")
	m.register(volumeJob("db", "data", `echo $NOMAD_ALLOC_ID >> /data/log; exec sleep 86400`))
	v := m.createVolume("data", ownedByNobody)
	if v.State != api.HostVolumeReady || filepath.Dir(v.HostPath) != filepath.Join(m.Dir, "host_volumes") {
		t.Fatalf("the volume is %+v", v)
	}
	first := m.allocations("db", "runs", running(1))[0]
	m.holds(filepath.Join(v.HostPath, "log"), first.ID)
	out, err := m.reeveCommand("", "volume", "delete", "-yes", v.ID)
	if err == nil || !strings.Contains(out, "is in use by db.") {
		t.Errorf("delete a volume in use: %v\n%s", err, out)
	}
	m.Kill()
	m.start()
	m.waitReady()
	if _, err := m.Client.Allocations().Stop(t.Context(), first.ID, false); err != nil {
		t.Fatal(err)
	}
	m.eventually("another allocation wrote to the volume", func(context.Context) error {
		text, err := os.ReadFile(filepath.Join(v.HostPath, "log"))
		if err == nil && strings.Count(string(text), "\n") < 2 {
			err = fmt.Errorf("it holds %q", text)
		}
		return err
	})
	for what, file := range map[string]string{
		"<stdin>:1": "name = 3 4", `type "nfs": must be "host"`: "name = \"x\"\ntype = \"nfs\"", `a volume "data" already`: "name = \"data\"\ntype = \"host\"",
		`capacity_min "1PiX"`:                "name = \"x\"\ntype = \"host\"\ncapacity_min = \"1PiX\"",
		"not enough disk":                    "name = \"x\"\ntype = \"host\"\ncapacity_min = \"900TiB\"",
		`missing plugin "nfs"`:               "name = \"x\"\ntype = \"host\"\nplugin_id = \"nfs\"",
		`must be the file name of a plugin`:  "name = \"x\"\ntype = \"host\"\nplugin_id = \"../../bin/sh\"",
		`${attr.kernel.name} = plan9`:        "name = \"x\"\ntype = \"host\"\nconstraint {\n attribute = \"${attr.kernel.name}\"\n value = \"plan9\"\n}",
		`the plugin decides about the path`:  "name = \"x\"\ntype = \"host\"\nhost_path = \"/etc\"",
		`namespace "gone" does not exist`:    "name = \"x\"\ntype = \"host\"\nnamespace = \"gone\"",
		`"owner" is not a parameter of plug`: "name = \"x\"\ntype = \"host\"\nparameters { owner = \"root\" }",
	} {
		if out, err := m.reeveCommand(file, "volume", "create", "-"); err == nil || !strings.Contains(out, what) {
			t.Errorf("%q: %v; want %q:\n%s", file, err, what, out)
		}
	}
	m.stop("db")
	if out, err := m.reeveCommand("", "volume", "delete", "-yes", v.ID); err != nil {
		t.Fatalf("delete: %v\n%s", err, out)
	}
	if _, err := os.Stat(v.HostPath); !errors.Is(err, os.ErrNotExist) || m.volumeNamed("data") != nil {
		t.Errorf("after its deletion the volume exists: %v", err)
	}
}

// TestVolumeStickyAndPerAlloc runs instances that keep their volumes: by a claim, and by their index.
func TestVolumeStickyAndPerAlloc(t *testing.T) {
	m := volumeMachine(t, "")
	v := m.createVolume("data", ownedByNobody+"\ncapability { access_mode = \"single-node-single-writer\" }")
	m.createVolume("shard[0]", ownedByNobody)
	shard := m.createVolume("shard[1]", ownedByNobody)
	sticky := volumeJob("sticky", "data", `exec sleep 86400`)
	sticky.Groups[0].Volumes["data"].Sticky, sticky.Groups[0].Volumes["data"].AccessMode = true, api.AccessSingleNodeSingleWriter
	m.register(sticky)
	m.allocations("sticky", "runs", running(1))
	claims, _, err := m.Client.Volumes().Claims(t.Context(), nil)
	if err != nil || len(claims) != 1 || claims[0].VolumeID != v.ID {
		t.Fatalf("claims %+v, %v", claims, err)
	}
	if out, err := m.reeveCommand("", "volume", "claim", "delete", "-yes", claims[0].ID); err == nil || !strings.Contains(out, "in use by sticky.") {
		t.Errorf("end the claim of a running instance: %v\n%s", err, out)
	}
	second := volumeJob("second", "data", `exec sleep 86400`)
	second.Groups[0].Volumes["data"].AccessMode = api.AccessSingleNodeSingleWriter
	m.register(second)
	m.eventually("the second writer waits", func(ctx context.Context) error {
		explained, _, err := m.Client.Jobs().Explain(ctx, "second", nil)
		if err == nil && !strings.Contains(fmt.Sprintf("%+v", explained.Groups[0].Obstacles), "has a writer, and may have only one") {
			err = fmt.Errorf("%+v", explained.Groups[0].Obstacles)
		}
		return err
	})
	m.stop("sticky")
	m.allocations("second", "runs when the first has stopped", running(1))
	m.stop("second")
	if _, err := m.Client.Volumes().Delete(t.Context(), v.ID, false); err != nil {
		t.Fatal(err)
	}
	m.eventually("the volume is deleted, and the claim with it", func(ctx context.Context) error {
		claims, _, err := m.Client.Volumes().Claims(ctx, nil)
		if err == nil && (len(claims) > 0 || m.volumeNamed("data") != nil) {
			err = fmt.Errorf("claims %+v", claims)
		}
		return err
	})
	sharded := volumeJob("sharded", "shard", `echo $NOMAD_ALLOC_INDEX > /data/index; exec sleep 86400`)
	sharded.Groups[0].Count, sharded.Groups[0].Volumes["data"].PerAlloc = ptr(2), true
	m.register(sharded)
	m.allocations("sharded", "runs", running(2))
	m.holds(filepath.Join(shard.HostPath, "index"), "1")
}
