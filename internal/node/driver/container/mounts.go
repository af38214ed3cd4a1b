// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// initPath is where a container finds the init of Reeve.
const initPath = "/dev/reeve-init"

// addMounts lists the container's mounts: the kernel's file systems, the task's directories, the
// files that name hosts, and what the job adds. Later ones hide earlier ones.
func (p *plan) addMounts() error {
	p.addKernel()
	t := p.task
	for _, dir := range [][2]string{{t.Dir.Alloc, "/alloc"}, {t.Dir.Local, "/local"}, {t.Dir.Secrets, "/secrets"}} {
		p.bind(oci.Bind{Source: dir[0], Inert: true}, dir[1], "")
	}
	for _, name := range []string{"hosts", "resolv.conf", "hostname"} {
		p.bind(oci.Bind{Source: filesDir(t.Dir) + "/" + name, Inert: true}, "/etc/"+name, "")
	}
	if p.config.ReadonlyRoot {
		p.addVolumes()
	}
	for _, m := range p.config.Mounts {
		if err := p.addMount(m); err != nil {
			return err
		}
	}
	for _, m := range t.Mounts {
		if err := p.addTaskMount(m); err != nil {
			return err
		}
	}
	if p.config.Init {
		if err := checkStatic(); err != nil {
			return err
		}
		p.bind(oci.Bind{Program: true, ReadOnly: true, Inert: true, HostIDs: true}, initPath, "")
	}
	slices.SortStableFunc(p.mounts, func(a, b specs.Mount) int { return depth(a) - depth(b) })
	return nil
}

// depth orders mounts so that a directory comes before those below it.
func depth(m specs.Mount) int { return strings.Count(path.Clean(m.Destination), "/") }

// bind adds a mount of a file or directory of the host. The step gives it its flags; the runtime
// only moves it into place.
func (p *plan) bind(b oci.Bind, target, propagation string) {
	kind := "bind"
	if b.Deep {
		kind = "rbind"
	}
	if propagation == "" || propagation == "private" {
		propagation = "rprivate"
	}
	p.mounts = append(p.mounts, specs.Mount{
		Destination: path.Clean(target), Type: "bind", Source: oci.StageBind(p.machine.stage, len(p.binds)), Options: []string{kind, propagation},
	})
	p.binds = append(p.binds, b)
}

func (p *plan) addKernel() {
	strict := []string{"nosuid", "noexec", "nodev"}
	add := func(target, kind string, options ...string) {
		p.mounts = append(p.mounts, specs.Mount{Destination: target, Type: kind, Source: kind, Options: options})
	}
	access := "ro"
	if p.config.Privileged {
		access = "rw"
	}
	add("/proc", "proc", strict...)
	add("/dev", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k")
	add("/dev/pts", "devpts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5")
	if p.config.IPCHost {
		p.bind(oci.Bind{Source: "/dev/shm", HostIDs: true}, "/dev/shm", "")
		if p.machine.queues {
			p.bind(oci.Bind{Source: "/dev/mqueue", HostIDs: true}, "/dev/mqueue", "")
		}
	} else {
		bytes := p.config.ShmSize
		if bytes == 0 {
			bytes = 64 << 20
		}
		add("/dev/shm", "tmpfs", append(slices.Clone(strict), "mode=1777", fmt.Sprintf("size=%d", bytes))...)
		add("/dev/mqueue", "mqueue", strict...)
	}
	if p.ids == nil {
		add("/sys", "sysfs", append(slices.Clone(strict), access)...)
	} else {
		// A user namespace may mount sysfs only with a network that it owns, so the step before the
		// runtime provides it: that of the host, or one that shows the interfaces of the allocation.
		p.bind(oci.Bind{Source: "/sys", Sysfs: p.task.Network != nil, ReadOnly: true, Inert: true, HostIDs: true}, "/sys", "")
	}
	add("/sys/fs/cgroup", "cgroup", append(slices.Clone(strict), "relatime", access)...)
}

// addVolumes makes the directories that the image declares writable, below a read-only root.
// They are empty.
func (p *plan) addVolumes() {
	for n, target := range slices.Sorted(maps.Keys(p.image.config.Volumes)) {
		p.bind(oci.Bind{Source: fmt.Sprint(n), Beneath: filesDir(p.task.Dir) + "/volumes", Make: true, Inert: true}, target, "")
	}
}

// addMount adds a mount of the config block. The privileges were checked.
func (p *plan) addMount(m api.ContainerMount) error {
	switch m.Type {
	case "tmpfs":
		options := []string{"nosuid", "nodev", "noexec", fmt.Sprintf("mode=%o", orMode(m.Mode))}
		if m.Size > 0 {
			options = append(options, fmt.Sprintf("size=%d", m.Size))
		}
		if m.ReadOnly {
			options = append(options, "ro")
		}
		p.mounts = append(p.mounts, specs.Mount{Destination: path.Clean(m.Target), Type: "tmpfs", Source: "tmpfs", Options: options})
		return nil
	case "volume":
		return fmt.Errorf("config mount %s: the node has no named volumes of this driver: declare the volume in a volume block of the group, and mount it with volume_mount", m.Target)
	}
	if filepath.IsAbs(m.Source) {
		p.bind(oci.Bind{Source: m.Source, ReadOnly: m.ReadOnly, Deep: true}, m.Target, m.Propagation)
		return nil
	}
	b, err := Relative(p.task.Dir, m.Source)
	if err != nil {
		return err
	}
	b.ReadOnly = m.ReadOnly
	p.bind(b, m.Target, m.Propagation)
	return nil
}

func orMode(mode int64) int64 {
	if mode == 0 {
		return 0o1777
	}
	return mode
}

// Relative resolves a source relative to the task's directory, which may also name the directory
// that the group shares, and the secrets.
func Relative(task driver.Dir, source string) (oci.Bind, error) {
	clean := path.Clean(source)
	b := oci.Bind{Make: true, Inert: true}
	for prefix, dir := range map[string]string{"../alloc": task.Alloc, "secrets": task.Secrets, "local": task.Local} {
		if clean == prefix {
			b.Source, b.Make = dir, false
			return b, nil
		}
		if rest, ok := strings.CutPrefix(clean, prefix+"/"); ok {
			b.Source, b.Beneath = rest, dir
			return b, nil
		}
	}
	first, _, _ := strings.Cut(clean, "/")
	if !filepath.IsLocal(clean) || clean == "." || first == filepath.Base(filesDir(driver.Dir{})) {
		return b, fmt.Errorf("the mount of %q is not below the task's directory: use a path such as local/data, secrets/key or ../alloc/data", source)
	}
	b.Source, b.Beneath = clean, task.Task
	return b, nil
}

// addTaskMount adds a volume or another mount of the node.
func (p *plan) addTaskMount(m driver.Mount) error {
	propagation := ""
	switch m.Propagation {
	case "", "private":
	case "host-to-task":
		propagation = "rslave"
	default:
		return fmt.Errorf("the volume at %s cannot be mounted with propagation %q: containers share no mounts with the node; use \"private\" or \"host-to-task\"", m.Target, m.Propagation)
	}
	p.bind(oci.Bind{Source: m.Source, ReadOnly: m.ReadOnly, Deep: true, WithoutLink: m.WithoutLink}, m.Target, propagation)
	return nil
}
