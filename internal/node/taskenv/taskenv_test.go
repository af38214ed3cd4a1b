// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package taskenv

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func input() Input {
	task := &api.Task{
		Name: "server", Driver: "raw_exec", Meta: map[string]string{"team-name": "blue"},
		Env: map[string]string{"URL": "http://${NOMAD_ADDR_http}/", "ZED": "${URL}x ${env[\"NONE\"]}${unknown} $HOME", "NOMAD_DC": "mine"},
	}
	group := &api.Group{Name: "web", Tasks: []*api.Task{task}, Meta: map[string]string{"team-name": "red", "tier": "1"}}
	return Input{
		Node: &api.Node{ID: "n-1", Name: "host1", Datacenter: "dc1", NodeClass: "big", NodePool: "default",
			Attributes: map[string]string{"kernel.name": "linux", api.AttributeCgroupParent: "reeve/1a2b"}, Meta: map[string]string{"rack": "r7"}},
		Alloc: &api.Allocation{
			ID: "0a1b2c3d-0000-4000-8000-000000000000", Name: "shop.web[3]", Namespace: "default", JobID: "shop", Group: "web",
			Job: &api.Job{ID: "shop", Name: "shop", Region: "global", Groups: []*api.Group{group}},
			AllocatedResources: &api.AllocatedResources{
				Tasks:  map[string]*api.AllocatedTask{"server": {CPU: api.AllocatedCPU{CPUShares: 250}, Memory: api.AllocatedMemory{MemoryMB: 128}}},
				Shared: api.AllocatedShared{Ports: []api.PortMapping{{Label: "http", Value: 20001, HostIP: "10.0.0.5"}, {Label: "my-admin", Value: 20002, To: 99, HostIP: "10.0.0.5"}}},
			},
		},
		Group: group, Task: task,
		Dir:  driver.Dir{Alloc: "/d/alloc", Local: "/d/server/local", Secrets: "/s/server", Tmp: "/d/server/tmp"},
		Host: []string{"PATH=/bin", "HOME=/root", "AWS_SECRET=x", "LC_ALL=C"},
	}
}

func TestEnvironmentOfATask(t *testing.T) {
	var own, prefixed []string
	for _, kv := range Build(input()).List() {
		switch {
		case strings.HasPrefix(kv, "REEVE_"):
			prefixed = append(prefixed, strings.TrimPrefix(kv, "REEVE_"))
		case !strings.HasPrefix(kv, "NOMAD_"):
			own = append(own, kv)
		}
	}
	want := []string{"HOME=/root", "LC_ALL=C", "PATH=/bin", "TMPDIR=/d/server/tmp", "URL=http://10.0.0.5:20001/", "ZED=http://10.0.0.5:20001/x ${unknown} $HOME"}
	if d := cmp.Diff(want, own); d != "" {
		t.Errorf("plain variables (-want +got):\n%s", d)
	}
	want = []string{
		"ADDR_http=10.0.0.5:20001", "ADDR_my-admin=10.0.0.5:99", "ADDR_my_admin=10.0.0.5:99", "ALLOC_DIR=/d/alloc",
		"ALLOC_ID=0a1b2c3d-0000-4000-8000-000000000000", "ALLOC_INDEX=3", "ALLOC_NAME=shop.web[3]",
		"ALLOC_PORT_http=20001", "ALLOC_PORT_my-admin=99", "ALLOC_PORT_my_admin=99", "CPU_LIMIT=250", "DC=dc1", "GROUP_NAME=web",
		"HOST_ADDR_http=10.0.0.5:20001", "HOST_ADDR_my-admin=10.0.0.5:20002", "HOST_ADDR_my_admin=10.0.0.5:20002",
		"HOST_IP_http=10.0.0.5", "HOST_IP_my-admin=10.0.0.5", "HOST_IP_my_admin=10.0.0.5",
		"HOST_PORT_http=20001", "HOST_PORT_my-admin=20002", "HOST_PORT_my_admin=20002",
		"IP_http=10.0.0.5", "IP_my-admin=10.0.0.5", "IP_my_admin=10.0.0.5", "JOB_ID=shop", "JOB_NAME=shop", "MEMORY_LIMIT=128",
		"META_TEAM_NAME=blue", "META_TIER=1", "META_team_name=blue", "META_tier=1", "NAMESPACE=default", "PARENT_CGROUP=reeve/1a2b",
		"PORT_http=20001", "PORT_my-admin=99", "PORT_my_admin=99", "REGION=global", "SECRETS_DIR=/s/server", "SHORT_ALLOC_ID=0a1b2c3d",
		"TASK_DIR=/d/server/local", "TASK_NAME=server",
	}
	if d := cmp.Diff(want, prefixed); d != "" {
		t.Errorf("REEVE_ variables (-want +got):\n%s", d)
	}
	if got := Build(input()).Get("NOMAD_DC"); got != "mine" {
		t.Errorf("NOMAD_DC = %q; the job file's env must win", got)
	}
}

func TestIsolatedTaskGetsNothingOfTheHost(t *testing.T) {
	in := input()
	in.Isolated = true
	in.Dir = driver.Dir{Alloc: "/alloc", Local: "/local", Secrets: "/secrets", Tmp: "/tmp"}
	e := Build(in)
	for name, want := range map[string]string{"PATH": defaultPath, "HOME": "/local", "NOMAD_SECRETS_DIR": "/secrets", "AWS_SECRET": ""} {
		if got := e.Get(name); got != want {
			t.Errorf("%s = %q; want %q", name, got, want)
		}
	}
}

func TestReplace(t *testing.T) {
	e := Build(input())
	for in, want := range map[string]string{
		"plain":                               "plain",
		"${attr.kernel.name}/${meta.rack}":    "linux/r7",
		"${node.unique.name} ${node.class}":   "host1 big",
		"${NOMAD_META_team-name}":             "blue",
		"${REEVE_PORT_my-admin}":              "99",
		`${env["NOMAD_TASK_NAME"]}`:           "server",
		"${ NOMAD_TASK_NAME }":                "server",
		"${JOB}-${TASKGROUP}-${TASK} ${BASE}": "shop-web-server shop-web-server",
		"${FOO:-x} ${} ${open":                "${FOO:-x} ${} ${open",
		"a${attr.none}b":                      "a${attr.none}b",
	} {
		if got := e.Replace(in); got != want {
			t.Errorf("Replace(%q) = %q; want %q", in, got, want)
		}
	}
}

func TestReplaceConfigCopies(t *testing.T) {
	e := Build(input())
	config := map[string]any{"command": "${TASK}", "args": []any{"-p", "${NOMAD_PORT_http}", 7, map[string]any{"k": "${JOB}"}}, "list": []string{"${JOB}"}}
	got := e.ReplaceConfig(config)
	want := map[string]any{"command": "server", "args": []any{"-p", "20001", 7, map[string]any{"k": "shop"}}, "list": []string{"shop"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if config["command"] != "${TASK}" {
		t.Error("the job's config was changed")
	}
}

func TestServiceOfAGroupHasNoTaskInItsDefaultName(t *testing.T) {
	in := input()
	s := &api.Service{Name: "${JOB}-${TASKGROUP}-${TASK}", Tags: []string{"v-${NOMAD_ALLOC_INDEX}"}, Checks: []*api.Check{{Name: "${BASE} up", Path: "/${meta.rack}"}}}
	if got := Build(in).ReplaceService(s); got.Name != "shop-web-server" || got.Tags[0] != "v-3" || got.Checks[0].Path != "/r7" {
		t.Errorf("task's service = %+v", got)
	}
	in.Task = nil
	if got := Build(in).ReplaceService(s); got.Name != "shop-web" || got.Checks[0].Name != "shop-web up" {
		t.Errorf("group's service = %q, check %q", got.Name, got.Checks[0].Name)
	}
}

func FuzzReplace(f *testing.F) {
	for _, s := range []string{"", "${", "${}", "${a}${b", `${env["X"]}`, "$${NOMAD_JOB_ID}"} {
		f.Add(s)
	}
	e := Build(input())
	f.Fuzz(func(t *testing.T, s string) {
		if got := e.Replace(s); !strings.Contains(s, "${") && got != s {
			t.Errorf("Replace(%q) = %q", s, got)
		}
	})
}

func TestCoresAndDevicesAreNamed(t *testing.T) {
	in := input()
	held := in.Alloc.AllocatedResources.Tasks["server"]
	held.CPU.ReservedCores = []uint16{2, 3, 5}
	held.Devices = []*api.AllocatedDevice{
		{Vendor: "acme", Type: "gpu", Name: "a-100", DeviceIDs: []string{"g0", "g2"}},
		{Vendor: "zeta", Type: "gpu", Name: "one", DeviceIDs: []string{"z1"}},
	}
	in.Task.Env["CUDA_VISIBLE_DEVICES"] = "${NOMAD_DEVICE_acme_gpu}"
	e := Build(in)
	for name, want := range map[string]string{
		"NOMAD_CPU_CORES": "2-3,5", "REEVE_CPU_CORES": "2-3,5", "NOMAD_DEVICE_gpu": "g0,g2,z1", "REEVE_DEVICE_acme_gpu": "g0,g2",
		"REEVE_DEVICE_acme_gpu_a_100": "g0,g2", "CUDA_VISIBLE_DEVICES": "g0,g2",
	} {
		if got := e.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	if l := Limits(in.Alloc, in.Task); l.Cores != "2-3,5" {
		t.Errorf("the driver is told cores %q", l.Cores)
	}
}

func TestATaskWithAnIdentityHasASocket(t *testing.T) {
	in := input()
	if got := Build(in).Get("NOMAD_UNIX_ADDR"); got != "" {
		t.Errorf("without an identity: %q", got)
	}
	in.Task.Identity = &api.Identity{Name: "hidden"}
	if got := Build(in).Get("NOMAD_UNIX_ADDR"); got != "" {
		t.Errorf("with an identity that the task does not see: %q", got)
	}
	in.Task.Identities = []*api.Identity{{Env: true}}
	for _, name := range []string{"NOMAD_UNIX_ADDR", "REEVE_UNIX_ADDR"} {
		if got := Build(in).Get(name); got != "unix:///s/server/api.sock" {
			t.Errorf("%s = %q", name, got)
		}
	}
}
