// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package qemu runs tasks with driver = "qemu": virtual machines, with the node's QEMU and the isolation of the
// driver exec.
package qemu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/exec"
)

// kvm is the device with which the processor itself runs the machine's code.
const kvm = "/dev/kvm"

// Driver is the driver qemu.
type Driver struct {
	exec *exec.Driver
	tool exec.Tool // the default emulator
	kvm  string    // a path; kvm but in tests
}

var _ driver.Driver = (*Driver)(nil)

// New makes the driver. The caller keeps ownership of e.
func New(e *exec.Driver) *Driver { return &Driver{exec: e, kvm: kvm} }

// Name returns "qemu".
func (d *Driver) Name() string { return api.DriverQEMU }

// View returns the directories at the top of the task's root.
func (d *Driver) View(dir driver.Dir) driver.Dir { return d.exec.View(dir) }

// Start starts a virtual machine.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	inner, err := d.command(t)
	if err != nil {
		return nil, err
	}
	if err := d.giveImage(t); err != nil {
		return nil, err
	}
	h, err := d.exec.Start(ctx, inner)
	return watched(h, t), err
}

// giveImage makes a disk that the agent wrote for the task, such as an artifact, writable for the task's user.
func (d *Driver) giveImage(t *driver.Task) error {
	image, _ := t.ConfigString("image_path") // its type was checked
	name, local := strings.CutPrefix(filepath.Clean("/"+image), "/local/")
	user, err := d.exec.User(t)
	if !local || user == nil || err != nil {
		return err
	}
	root, err := os.OpenRoot(t.Dir.Local)
	if err != nil {
		return fmt.Errorf("open the image: %w", err)
	}
	defer root.Close()
	f, info, err := beneath.File(root, name)
	if err != nil {
		return nil // the emulator says what is wrong with it
	}
	defer f.Close()
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() || st.Nlink != 1 {
		return nil
	}
	return f.Chown(int(user.UID), int(user.GID))
}

// Recover finds a task that an earlier agent started.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	inner, err := d.command(t)
	if err != nil { // the emulator or the device is gone by now
		inner = with(t, "qemu", nil)
	}
	h, err := d.exec.Recover(ctx, inner)
	return watched(h, t), err
}

// command returns the task as one of the driver exec.
func (d *Driver) command(t *driver.Task) (*driver.Task, error) {
	if problems := api.DriverConfigProblems(api.DriverQEMU, t.Config); len(problems) > 0 {
		return nil, fmt.Errorf("config: %s", problems[0])
	}
	emulator, err1 := t.ConfigString("emulator")
	args, err2 := arguments(t)
	accelerator, err3 := t.ConfigString("accelerator")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	program, err := find(cmp.Or(emulator, defaultEmulator()))
	if err != nil {
		return nil, err
	}
	inner := with(t, program, args)
	if accelerator == "kvm" {
		if _, err := os.Stat(d.kvm); err != nil {
			return nil, fmt.Errorf("config accelerator = \"kvm\": the node has no %s: set \"tcg\", or add a constraint with ${attr.driver.qemu.kvm} = 1", kvm)
		}
		inner.Devices = append(slices.Clone(t.Devices), driver.Device{Source: d.kvm, Target: kvm, Permissions: "rw"})
	}
	return inner, nil
}

// with returns a copy of the task that runs the emulator with arguments.
func with(t *driver.Task, program string, args []string) *driver.Task {
	inner := *t
	inner.Config = map[string]any{"command": program, "args": args}
	if inner.Resources.MemoryMaxMB == 0 && t.Resources.MemoryMB > 0 {
		inner.Resources.MemoryMaxMB = t.Resources.MemoryMB + overheadMB(t.Resources.MemoryMB)
	}
	return &inner
}

// overheadMB is what an emulator may use besides the memory of its machine.
func overheadMB(memory int64) int64 { return 128 + memory/32 }

// defaultEmulator returns the name of the emulator for the node's processor.
func defaultEmulator() string {
	if goruntime.GOARCH == "arm64" {
		return "qemu-system-aarch64"
	}
	return "qemu-system-x86_64"
}

// arguments returns those of the emulator. The task's own come last, and so can change the others.
func arguments(t *driver.Task) ([]string, error) {
	image, _ := t.ConfigString("image_path") // the types were checked
	drive, _ := t.ConfigString("drive_interface")
	accelerator, _ := t.ConfigString("accelerator")
	emulator, _ := t.ConfigString("emulator")
	own, err1 := t.ConfigStrings("args")
	forwards, err2 := forwards(t)
	agent, err3 := t.ConfigBool("guest_agent")
	graceful, err4 := t.ConfigBool("graceful_shutdown")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	machine := "accel=" + cmp.Or(accelerator, "tcg")
	if e := cmp.Or(emulator, defaultEmulator()); e == "qemu-system-x86_64" || e == "qemu-system-i386" {
		machine = "type=pc," + machine
	}
	args := []string{"-machine", machine, "-name", t.Name, "-nographic", "-drive", "file=" + image + ",if=" + cmp.Or(drive, "ide")}
	if t.Resources.MemoryMB > 0 {
		args = append(args, "-m", fmt.Sprintf("%dM", t.Resources.MemoryMB))
	}
	if len(forwards) > 0 {
		args = append(args, "-netdev", "user,id=reeve,"+strings.Join(forwards, ","), "-device", "virtio-net,netdev=reeve")
	}
	if graceful {
		args = append(args, "-chardev", "socket,id=reeve-monitor,server=on,wait=off,path=/secrets/"+monitorName, "-mon", "chardev=reeve-monitor,mode=control")
	}
	if agent {
		args = append(args, "-chardev", "socket,id=reeve-agent,server=on,wait=off,path=/local/qga.sock",
			"-device", "virtio-serial", "-device", "virtserialport,chardev=reeve-agent,name=org.qemu.guest_agent.0")
	}
	return append(args, own...), nil
}

// forwards returns QEMU's rules for the ports that lead into the machine.
func forwards(t *driver.Task) (rules []string, err error) {
	mapped := map[string]int{}
	if v := t.Config["port_map"]; v != nil {
		if mapped, err = api.ParsePortMap(v); err != nil {
			return nil, fmt.Errorf("config port_map %w", err)
		}
	}
	unknown := maps.Clone(mapped)
	for _, p := range t.Ports {
		delete(unknown, p.Label)
		listen, inside := p.Value, cmp.Or(mapped[p.Label], p.To)
		if t.Network != nil { // the node's port leads to this one
			listen = cmp.Or(p.To, p.Value)
			inside = cmp.Or(inside, listen)
		}
		if inside <= 0 {
			continue // nothing says where it leads to
		}
		address := ""
		if ip, err := netip.ParseAddr(p.HostIP); err == nil && ip.Is4() && p.HostNetwork != "" && t.Network == nil {
			address = p.HostIP
		}
		for _, protocol := range []string{"tcp", "udp"} {
			rules = append(rules, fmt.Sprintf("hostfwd=%s:%s:%d-:%d", protocol, address, listen, inside))
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("config port_map: the allocation has no port %q: add it to the network block of the group", slices.Sorted(maps.Keys(unknown))[0])
	}
	return rules, nil
}
