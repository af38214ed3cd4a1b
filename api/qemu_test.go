// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"
)

func machineJob(config map[string]any) *Job {
	return &Job{ID: "vm", Groups: []*Group{{
		Name: "g", Networks: []*Network{{DynamicPorts: []Port{{Label: "ssh", To: 22}, {Label: "http"}}}},
		Tasks: []*Task{{Name: "t", Driver: DriverQEMU, Config: config}},
	}}}
}

func TestConfigsOfMachines(t *testing.T) {
	for want, config := range map[string]map[string]any{
		"": {"port_map": []any{map[string]any{"http": 80.0}}, "accelerator": "${meta.accelerator}", "graceful_shutdown": "true", "args": []any{"-smp", "2"}},
		`config: port_map has "db", which is no port of the group's network block: add port "db" {} there`: {"port_map": map[string]any{"db": 5432}},
		"config: port_map http must be a port from 1 to 65535, not 0":                                      {"port_map": map[string]any{"http": 0}},
		"config: port_map must be a map of ports such as { ssh = 22 }, not 22":                             {"port_map": 22},
		"config: accelerator must be one of kvm, tcg, not \"xen\"":                                         {"accelerator": "xen"},
		"config: emulator must be the name of a program of QEMU":                                           {"emulator": "../qemu-system-x86_64"},
		"config: image_path is missing":                                                                    {"image_path": ""},
		"config: driver qemu has no key \"command\"":                                                       {"command": "/bin/sh"},
	} {
		full := map[string]any{"image_path": "local/vm.img"}
		for key, value := range config {
			full[key] = value
		}
		job := machineJob(full)
		job.Canonicalize()
		switch err := job.Validate(); {
		case want == "" && err != nil:
			t.Errorf("%v: %v", config, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%v: %v, want %q", config, err, want)
		}
	}
	if !Isolates(DriverQEMU) || !ConfinesPrograms(DriverQEMU) || !slices.Contains(BuiltInDrivers(), DriverQEMU) {
		t.Error("the driver is not an isolating one")
	}
}
