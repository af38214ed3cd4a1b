// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// write writes a file of a new directory, and returns the directory.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// health lists the devices: vendor/type/model id, and why one is not healthy.
func health(s *Set) (list []string) {
	for _, g := range s.Groups {
		for _, i := range g.Instances {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s/%s/%s %s %s", g.Vendor, g.Type, g.Name, i.ID, i.HealthDescription)))
		}
	}
	return list
}

func problems(s *Set) (list []string) {
	for _, p := range s.Problems {
		list = append(list, filepath.Base(p.File)+": "+p.Err.Error())
	}
	return list
}

const gpus = `{
  "cdiVersion": "0.6.0", "kind": "vendor.com/gpu",
  "containerEdits": {"env": ["DRIVER=7"], "deviceNodes": [{"path": "/dev/gpuctl", "hostPath": "/dev/null"}], "mounts": [
    {"hostPath": "/usr", "containerPath": "/opt/vendor", "options": ["ro", "nosuid", "bind"]},
    {"hostPath": "/usr", "containerPath": "/opt/writable", "options": ["rw"]}]},
  "devices": [
    {"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/gpu0", "hostPath": "/dev/zero", "permissions": "rw"}]}},
    {"name": "uuid-0", "containerEdits": {"deviceNodes": [{"path": "/dev/gpu0", "hostPath": "/dev/zero", "permissions": "rw"}]}},
    {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/gpu1", "hostPath": "/dev/none"}]}},
    {"name": "all", "containerEdits": {"deviceNodes": [{"path": "/dev/gpu0", "hostPath": "/dev/zero"}, {"path": "/dev/gpu1", "hostPath": "/dev/full"}]}}
  ]
}`

func TestASpecificationIsAGroupOfDevices(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "vendor.json", gpus)
	s := Read(Config{SpecDirs: []string{dir, filepath.Join(dir, "none")}})
	if diff := cmp.Diff([]string{"vendor.com/gpu/cdi 0", "vendor.com/gpu/cdi 1 /dev/none does not exist"}, health(s)); diff != "" || len(s.Problems) > 0 {
		t.Errorf("(-want +got):\n%s\nproblems: %q", diff, problems(s))
	}
	got, err := s.Edits([]*api.AllocatedDevice{{Vendor: "vendor.com", Type: "gpu", Name: "cdi", DeviceIDs: []string{"0"}}})
	want := Edits{
		Nodes: []driver.Device{{Source: "/dev/null", Target: "/dev/gpuctl", Permissions: "rwm"}, {Source: "/dev/zero", Target: "/dev/gpu0", Permissions: "rw"}},
		Mounts: []driver.Mount{
			{Source: "/usr", Target: "/opt/vendor", ReadOnly: true, WithoutLink: true}, {Source: "/usr", Target: "/opt/writable", WithoutLink: true},
		},
		Env: []string{"DRIVER=7"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	for id, want := range map[string]string{"1": "/dev/none does not exist", "7": "is not on this node any longer"} {
		if _, err := s.Edits([]*api.AllocatedDevice{{Vendor: "vendor.com", Type: "gpu", Name: "cdi", DeviceIDs: []string{id}}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("device %s: %v; want %q", id, err, want)
		}
	}
}

func TestADeclaredGroupTakesTheDevicesOfItsKind(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "vendor.yaml", "cdiVersion: 0.5.0\nkind: vendor.com/gpu\ndevices:\n- name: g0\n  containerEdits:\n    env: [A=1]\n    deviceNodes:\n    - path: /dev/zero\n")
	group := &api.NodeDeviceGroup{Vendor: "acme", Type: "gpu", Name: "a1", Instances: []*api.NodeDevice{{ID: "g0"}, {ID: "g1"}, {ID: "/dev/none"}}}
	nodes := map[string][]driver.Device{"g0": {{Source: "/dev/null", Target: "/dev/own", Permissions: "r"}}}
	s := Read(Config{SpecDirs: []string{dir}, Declared: []Declared{{Group: group, Nodes: nodes, CDI: "vendor.com/gpu"}}})
	want := []string{
		"acme/gpu/a1 g0", "acme/gpu/a1 g1 no CDI specification has the device vendor.com/gpu=g1", "acme/gpu/a1 /dev/none /dev/none does not exist",
	}
	if diff := cmp.Diff(want, health(s)); diff != "" {
		t.Errorf("(-want +got):\n%s\nproblems: %q", diff, problems(s))
	}
	got, err := s.Edits([]*api.AllocatedDevice{{Vendor: "acme", Type: "gpu", Name: "a1", DeviceIDs: []string{"g0"}}})
	if err != nil || len(got.Nodes) != 2 || got.Nodes[0] != nodes["g0"][0] || got.Nodes[1].Source != "/dev/zero" || len(got.Env) != 1 {
		t.Errorf("its edits are %+v, %v", got, err)
	}
}

func TestALaterDirectoryTakesPrecedence(t *testing.T) {
	early, late := t.TempDir(), t.TempDir()
	spec := func(name, path string) string {
		return fmt.Sprintf(`{"cdiVersion": "1.0.0", "kind": "v.com/c", "devices": [{"name": %q, "containerEdits": {"deviceNodes": [{"path": %q}]}}]}`, name, path)
	}
	write(t, early, "a.json", spec("one", "/dev/null"))
	write(t, late, "a.json", spec("one", "/dev/zero"))
	write(t, late, "b.json", spec("two", "/dev/full"))
	write(t, late, "c.json", spec("two", "/dev/random"))
	s := Read(Config{SpecDirs: []string{early, late}})
	got, err := s.Edits([]*api.AllocatedDevice{{Vendor: "v.com", Type: "c", Name: "cdi", DeviceIDs: []string{"one"}}})
	if err != nil || len(got.Nodes) != 1 || got.Nodes[0].Source != "/dev/zero" {
		t.Errorf("its edits are %+v, %v; want those of the later directory", got, err)
	}
	if list := health(s); len(list) != 2 || !strings.Contains(list[1], "both define it") {
		t.Errorf("the devices are %q; two must be given by two files", list)
	}
}

func TestDevicesThatDisagreeExcludeEachOther(t *testing.T) {
	for what, e := range map[string]Edits{
		"device nodes at /dev/x": {Nodes: []driver.Device{{Source: "/dev/null", Target: "/dev/x"}, {Source: "/dev/zero", Target: "/dev/x"}}},
		"mounts at /opt":         {Mounts: []driver.Mount{{Source: "/usr", Target: "/opt"}, {Source: "/bin", Target: "/opt"}}},
		"the variable A":         {Env: []string{"A=1", "A=2"}},
	} {
		if _, err := e.unique(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	shared := driver.Device{Source: "/dev/null", Target: "/dev/ctl"}
	if u, err := (Edits{Nodes: []driver.Device{shared, shared}, Env: []string{"A=1", "A=1"}}).unique(); err != nil || len(u.Nodes) != 1 || len(u.Env) != 1 {
		t.Errorf("equal edits become %+v, %v", u, err)
	}
}

func TestADeviceWithoutItsFileIsNotHealthy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dev")
	declared := []Declared{{Group: &api.NodeDeviceGroup{Vendor: "v", Type: "t", Name: "n", Instances: []*api.NodeDevice{{ID: file}, {ID: "serial-7"}}}}}
	health := func() (list []bool) {
		for _, d := range Read(Config{Declared: declared}).Groups[0].Instances {
			list = append(list, d.Healthy)
		}
		return list
	}
	if diff := cmp.Diff([]bool{false, true}, health()); diff != "" {
		t.Errorf("before the file exists (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, true}, health()); diff != "" {
		t.Errorf("when the file exists (-want +got):\n%s", diff)
	}
}
