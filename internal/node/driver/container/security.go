// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"fmt"
	"slices"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// maskedPaths are hidden from containers, and readOnlyPaths cannot be written by them: they show
// or change the node.
var (
	maskedPaths = []string{
		"/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/sched_debug",
		"/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware",
	}
	readOnlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger", "/sys/fs/cgroup"}
)

// capabilities returns the capabilities of the container's processes. Users other than root
// have only those that the job adds.
// A container has none that the node's agent, held, lacks.
func capabilities(c *api.ContainerConfig, u user, held []string) (*specs.LinuxCapabilities, error) {
	bounding := DefaultCapabilities()
	if c.Privileged {
		bounding = isolate.AllCapabilities()
	}
	if slices.Contains(c.CapDrop, "ALL") {
		bounding = nil
	}
	var added []string
	for _, name := range c.CapAdd {
		if name == "ALL" {
			added = append(added, isolate.AllCapabilities()...)
			continue
		}
		known, err := isolate.CapabilityName(name)
		if err != nil {
			return nil, fmt.Errorf("config cap_add: %w", err)
		}
		added = append(added, known)
	}
	dropped := func(name string) bool { return slices.Contains(c.CapDrop, name) || !slices.Contains(held, name) }
	for _, name := range c.CapDrop {
		if _, err := isolate.CapabilityName(name); err != nil && name != "ALL" {
			return nil, fmt.Errorf("config cap_drop: %w", err)
		}
	}
	added = slices.DeleteFunc(added, dropped)
	bounding = slices.DeleteFunc(append(bounding, added...), dropped)
	slices.Sort(bounding)
	bounding = slices.Compact(bounding)
	if u.uid == 0 {
		return &specs.LinuxCapabilities{Bounding: bounding, Effective: bounding, Permitted: bounding}, nil
	}
	slices.Sort(added)
	added = slices.Compact(added)
	return &specs.LinuxCapabilities{Bounding: bounding, Effective: added, Permitted: added, Inheritable: added, Ambient: added}, nil
}

// filter returns the system calls that the container may use: the default profile of Docker,
// which depends on the capabilities.
func filter(c *api.ContainerConfig, s *specs.Spec) (*specs.LinuxSeccomp, error) {
	if c.Privileged || c.NoSeccomp {
		return nil, nil
	}
	profile, err := seccomp.GetDefaultProfile(s)
	if err != nil {
		return nil, fmt.Errorf("make the filter of system calls: %w", err)
	}
	// Few kernels run programs of the x32 ABI, and a filter for it takes the runtime 10 ms of each start.
	profile.Architectures = slices.DeleteFunc(profile.Architectures, func(a specs.Arch) bool { return a == specs.ArchX32 })
	return profile, nil
}
