// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// DefaultCapabilities returns the capabilities that containers have, and that jobs may add,
// unless the operator sets others. They are those of Docker without the raw sockets.
func DefaultCapabilities() []string {
	return []string{
		"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_MKNOD",
		"CAP_NET_BIND_SERVICE", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT",
	}
}

// Permit rejects privileges that the operator does not grant. Each error names the setting.
func (f *Config) Permit(c *api.ContainerConfig) error {
	if !f.AllowPrivileged {
		for _, g := range []struct {
			asked bool
			what  string
		}{
			{c.Privileged, "privileged = true"},
			{len(c.Devices) > 0, "devices"},
			{c.PIDHost, "pid_mode = \"host\""},
			{c.IPCHost, "ipc_mode = \"host\""},
			{c.UTSHost, "uts_mode = \"host\""},
			{c.UsersHost && !f.HostUsers, "userns_mode = \"host\""},
			{c.CgroupHost, "cgroupns = \"host\""},
			{c.NoSeccomp, "security_opt \"seccomp=unconfined\""},
		} {
			if g.asked {
				return fmt.Errorf("config %s is not permitted on this node: set allow_privileged = true in client { container { } } of its agent's configuration", g.what)
			}
		}
	}
	if err := f.permitCapabilities(c); err != nil {
		return err
	}
	for key := range c.Sysctl {
		if !isolatedSysctl(key, c) {
			return fmt.Errorf("config sysctl %q would change the whole node: a container may set net.* in a network of its own, and kernel.shm*, kernel.msg*, kernel.sem and fs.mqueue.*", key)
		}
	}
	if f.Volumes {
		return nil
	}
	for _, m := range c.Mounts {
		switch {
		case m.Type == "bind" && filepath.IsAbs(m.Source):
			return fmt.Errorf("the mount of %s is not permitted on this node: set volumes = true in client { container { } } of its agent's configuration, or give a path relative to the task's directory", m.Source)
		case m.Propagation != "" && m.Propagation != "private" && m.Propagation != "rprivate":
			return fmt.Errorf("the propagation %q is not permitted on this node: set volumes = true in client { container { } } of its agent's configuration", m.Propagation)
		}
	}
	return nil
}

func (f *Config) permitCapabilities(c *api.ContainerConfig) error {
	if f.AllowPrivileged || slices.ContainsFunc(f.AllowCaps, func(a string) bool { return strings.EqualFold(a, "all") }) {
		return nil
	}
	for _, name := range c.CapAdd {
		if !slices.Contains(f.AllowCaps, name) {
			return fmt.Errorf("config cap_add %q is not permitted on this node: add it to allow_caps in client { container { } } of its agent's configuration", strings.ToLower(strings.TrimPrefix(name, "CAP_")))
		}
	}
	return nil
}

// isolatedSysctl reports whether a kernel setting belongs to the container's own namespaces.
func isolatedSysctl(key string, c *api.ContainerConfig) bool {
	switch {
	case strings.HasPrefix(key, "net."):
		return c.NetworkMode == "none" // a group's network belongs to all of its tasks
	case strings.HasPrefix(key, "kernel.shm"), strings.HasPrefix(key, "kernel.msg"), key == "kernel.sem", strings.HasPrefix(key, "fs.mqueue."):
		return !c.IPCHost
	}
	return false
}
