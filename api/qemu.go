// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// DriverQEMU runs virtual machines with the node's QEMU, confined like programs of DriverExec.
const DriverQEMU = "qemu"

// Values of the config of DriverQEMU.
var (
	qemuAccelerators = []string{"kvm", "tcg"}
	qemuInterfaces   = []string{"floppy", "ide", "mtd", "none", "pflash", "scsi", "sd", "virtio"}
	qemuEmulator     = regexp.MustCompile(`^qemu-system-[a-z0-9_]+$`)
)

// qemuProblems returns the errors in a config whose values have the right types.
func qemuProblems(config map[string]any) (problems []string) {
	text := func(key string) string { s, _ := config[key].(string); return s }
	if text("image_path") == "" {
		problems = append(problems, "image_path is missing: name the image of the disk, such as \"local/vm.img\"")
	}
	if strings.Contains(text("image_path"), ",") { // it separates the options of a drive
		problems = append(problems, fmt.Sprintf("image_path must have no comma, and is %q", text("image_path")))
	}
	among := func(key string, values []string) {
		if v := text(key); v != "" && !slices.Contains(values, v) && !interpolated(v) {
			problems = append(problems, fmt.Sprintf("%s must be one of %s, not %q", key, strings.Join(values, ", "), v))
		}
	}
	among("accelerator", qemuAccelerators)
	among("drive_interface", qemuInterfaces)
	if v := text("emulator"); v != "" && !qemuEmulator.MatchString(v) && !interpolated(v) {
		problems = append(problems, fmt.Sprintf("emulator must be the name of a program of QEMU, such as \"qemu-system-x86_64\", not %q", v))
	}
	return problems
}

// interpolated reports whether the node completes a value.
func interpolated(s string) bool { return strings.Contains(s, "${") }

// ParsePortMap reads the ports of a virtual machine by the labels of the ports of the node that lead to them.
func ParsePortMap(v any) (map[string]int, error) {
	blocks, err := asMaps(v)
	if err != nil {
		return nil, fmt.Errorf("must be %s, not %v", kindPorts, v)
	}
	ports := map[string]int{}
	for _, m := range blocks {
		for label, value := range m {
			n, err := asNumber(value)
			if err != nil || n < 1 || n > 65535 {
				return nil, fmt.Errorf("%s must be a port from 1 to 65535, not %v", label, value)
			}
			ports[label] = int(n)
		}
	}
	return ports, nil
}

// checkPortMap checks that there are ports with the labels of a virtual machine's port_map.
func (t *Task) checkPortMap(c *complaints, at string, labels map[string]bool) {
	if t.Driver != DriverQEMU || t.Config["port_map"] == nil {
		return
	}
	ports, _ := ParsePortMap(t.Config["port_map"]) // its error is reported with those of the other values
	for _, label := range slices.Sorted(maps.Keys(ports)) {
		if !labels[label] {
			c.add("%s: config: port_map has %q, which is no port of the group's network block: add port %q {} there", at, label, label)
		}
	}
}
