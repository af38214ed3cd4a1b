// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/program"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

var rewrite = flag.Bool("rewrite", false, "write the expected descriptions of containers")

// TestDescriptionsForTheRuntime compares whole descriptions with files. The filter of system calls
// is left out, because it depends on the kernel.
func TestDescriptionsForTheRuntime(t *testing.T) {
	held := append(DefaultCapabilities(), "CAP_NET_ADMIN", "CAP_SYS_ADMIN")
	for name, change := range map[string]func(*plan){
		"default": func(*plan) {},
		"user": func(p *plan) {
			p.user, p.config.CapAdd = user{uid: 1000, gid: 1000, home: "/home/app"}, []string{"CAP_NET_ADMIN"}
		},
		"network": func(p *plan) {
			p.ids = nil
			p.task.Network = &driver.Network{Namespace: "/run/netns/x", Hostname: "web"}
			p.task.Mounts = []driver.Mount{{Source: "/srv/data", Target: "/data", ReadOnly: true, Propagation: "host-to-task"}}
			p.limits.Cores = "1-2"
		},
		"privileged": func(p *plan) {
			p.ids, p.config.Privileged, p.config.PIDHost, p.config.IPCHost, p.config.UTSHost, p.config.CgroupHost = nil, true, true, true, true, true
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan{
				task:    &driver.Task{ID: "alloc/web/0", Env: []string{"PATH=" + program.DefaultPath, "A=1"}, Dir: driver.Dir{Alloc: "/a/alloc", Task: "/a/web", Local: "/a/web/local", Secrets: "/s/web"}},
				config:  &api.ContainerConfig{Image: "x", Hostname: "box", Labels: map[string]string{"team": "web"}},
				image:   &imageRoot{config: v1.Config{Entrypoint: []string{"/bin/app"}, Cmd: []string{"serve"}, Env: []string{"PATH=/bin", "B=2"}, WorkingDir: "/srv"}, layers: []string{"/l/1"}},
				machine: &machine{runtime: "/usr/sbin/runc", stage: "/mnt", root: "/media", caps: held, queues: true}, limits: supervise.Limits{}, ids: &oci.IDs{First: 1 << 30, Size: 1 << 16}, cgroup: "/reeve/x/t",
			}
			change(p)
			config, err := p.oci()
			if err != nil {
				t.Fatal(err)
			}
			if (config.Linux.Seccomp == nil) != p.config.Privileged {
				t.Errorf("the filter of system calls is %v", config.Linux.Seccomp)
			}
			if s := config.Linux.Seccomp; s != nil && slices.Contains(s.Architectures, specs.ArchX32) {
				t.Errorf("the filter is for %v", s.Architectures)
			}
			config.Linux.Seccomp = nil
			if config.Linux.Devices = nil; p.config.Hostname == "" {
				t.Error("the hostname is the machine's")
			}
			got, err := json.MarshalIndent(struct {
				Config any
				Binds  []oci.Bind
			}{config, p.binds}, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			path := "testdata/" + name + ".json"
			if *rewrite {
				if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
				t.Errorf("%s (-want +got; -rewrite accepts it):\n%s", path, diff)
			}
		})
	}
}

func TestCommandsAndEnvironments(t *testing.T) {
	image := v1.Config{Entrypoint: []string{"e"}, Cmd: []string{"c"}}
	for want, c := range map[string]*api.ContainerConfig{
		`["e","c"]`:     {},
		`["e","x","y"]`: {Command: "x", Args: []string{"y"}},
		`["e","y"]`:     {Args: []string{"y"}},
		`["n"]`:         {Entrypoint: []string{"n"}},
		`["x"]`:         {Entrypoint: []string{}, Command: "x"},
		`["n","x","y"]`: {Entrypoint: []string{"n"}, Command: "x", Args: []string{"y"}},
	} {
		argv, err := command(c, image)
		if got, _ := json.Marshal(argv); err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v; want %s", c, got, err, want)
		}
	}
	if _, err := command(&api.ContainerConfig{}, v1.Config{}); err == nil {
		t.Error("an image without a command has one")
	}
	task := []string{"PATH=" + program.DefaultPath, "HOME=/local", "TMPDIR=/tmp", "A=task", "A=last"}
	got := environment(task, v1.Config{Env: []string{"PATH=/image", "A=image", "B=1", "B=2", "broken"}})
	if diff := cmp.Diff([]string{"A=last", "B=2", "PATH=/image"}, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestOldRuntimesAreTold(t *testing.T) {
	for version, old := range map[string]bool{
		"1.1.5+ds1": true, "1.0.3": true, "1.2.7": true, "1.2.8": false, "1.3.5": true, "1.3.6": false, "1.4.2": true, "1.4.3": false, "1.5.0": false, "2.0.0": false,
	} {
		if got := oldRuntime(version) != ""; got != old {
			t.Errorf("%s: old %v", version, got)
		}
	}
}
