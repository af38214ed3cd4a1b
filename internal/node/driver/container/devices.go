// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// addDevices lists the devices that the container may use, besides those that every one has.
func (p *plan) addDevices(l *specs.Linux) error {
	l.Resources = &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: p.config.Privileged, Access: "rwm"}}}
	for _, d := range p.config.Devices {
		if clean := filepath.Clean(d.HostPath); !strings.HasPrefix(clean, "/dev/") {
			return fmt.Errorf("config devices: %s is not below /dev", d.HostPath)
		}
		device, err := readDevice(d.HostPath)
		if err != nil {
			return fmt.Errorf("config devices: %w", err)
		}
		if p.ids != nil { // a user namespace may not create devices
			p.bind(oci.Bind{Source: d.HostPath, Node: true}, d.ContainerPath, "")
		} else {
			device.Path = d.ContainerPath
			l.Devices = append(l.Devices, device)
		}
		l.Resources.Devices = append(l.Resources.Devices, specs.LinuxDeviceCgroup{
			Allow: true, Type: device.Type, Major: &device.Major, Minor: &device.Minor, Access: d.Permissions,
		})
	}
	if err := p.addHeld(l); err != nil {
		return err
	}
	if p.config.Privileged {
		return addHostDevices(l)
	}
	return nil
}

// addHeld lists the device nodes of the devices that the task holds. They belong to the container's user.
func (p *plan) addHeld(l *specs.Linux) error {
	for _, d := range p.task.Devices {
		device, err := readDevice(d.Source)
		if err != nil {
			return fmt.Errorf("devices of the task: %w", err)
		}
		mode := os.FileMode(d.Mode())
		if p.ids != nil { // a user namespace may not create devices
			p.bind(oci.Bind{Source: d.Source, Node: true, Mode: d.Mode(), UID: p.user.uid, GID: p.user.gid}, d.Target, "")
		} else {
			device.Path, device.FileMode, device.UID, device.GID = d.Target, &mode, &p.user.uid, &p.user.gid
			l.Devices = append(l.Devices, device)
		}
		l.Resources.Devices = append(l.Resources.Devices, specs.LinuxDeviceCgroup{
			Allow: true, Type: device.Type, Major: &device.Major, Minor: &device.Minor, Access: d.Permissions,
		})
	}
	return nil
}

func readDevice(path string) (specs.LinuxDevice, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return specs.LinuxDevice{}, fmt.Errorf("%s does not exist on the node", path)
	}
	kind := map[uint32]string{unix.S_IFCHR: "c", unix.S_IFBLK: "b"}[st.Mode&unix.S_IFMT]
	if kind == "" {
		return specs.LinuxDevice{}, fmt.Errorf("%s is not a device", path)
	}
	mode := os.FileMode(st.Mode & 0o777)
	return specs.LinuxDevice{
		Path: path, Type: kind, Major: int64(unix.Major(st.Rdev)), Minor: int64(unix.Minor(st.Rdev)), FileMode: &mode, UID: &st.Uid, GID: &st.Gid,
	}, nil
}

// addHostDevices lists all devices of the node for a privileged container.
func addHostDevices(l *specs.Linux) error {
	return filepath.WalkDir("/dev", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it has just disappeared
		case e.IsDir() && (path == "/dev/pts" || path == "/dev/shm" || path == "/dev/mqueue" || path == "/dev/fd"):
			return filepath.SkipDir
		case e.Type()&fs.ModeDevice == 0 || path == "/dev/console" || path == "/dev/ptmx" || path == "/dev/tty":
			return nil
		}
		if device, err := readDevice(path); err == nil {
			l.Devices = append(l.Devices, device)
		}
		return nil
	})
}
