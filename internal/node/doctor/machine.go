// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// Thresholds of the machine's checks.
const (
	freeDiskBytes    = 5 << 30
	freeDiskPercent  = 10
	openFiles        = 65536
	inotifyInstances = 512
	inotifyWatches   = 65536
)

// machine checks what all features use.
func (f *Facts) machine() []Check {
	s := &f.System
	all := []Check{
		check("machine", "user", f.Root, "root", Warning, "not root: exec, container and networks of allocations do not work",
			"run the agent, and this command, as root"),
		f.kernel(),
	}
	all = append(all, f.cgroups()...)
	all = append(all, f.disk()...)
	if s.ClockKnown {
		all = append(all, check("machine", "clock", s.ClockSynced, "synchronized", Warning, "the kernel reports a clock that nothing synchronizes: members of a cluster need clocks that agree",
			"apt-get install chrony; systemctl enable --now chrony"))
	}
	return append(all,
		check("machine", "open files", s.OpenFiles >= openFiles, fmt.Sprintf("limit %d", s.OpenFiles), Warning,
			fmt.Sprintf("limit %d, and a busy node needs %d", s.OpenFiles, openFiles), "set LimitNOFILE=1048576 in the unit of the agent (systemctl edit reeve)"),
		f.inotify("instances", s.InotifyInstances, inotifyInstances),
		f.inotify("watches", s.InotifyWatches, inotifyWatches),
	)
}

func (f *Facts) kernel() Check {
	k := f.System.Kernel
	version := fmt.Sprintf("Linux %d.%d", k[0], k[1])
	return check("machine", "kernel", !f.before(5, 14), version, Warning,
		version+": before 5.14 tasks cannot be ended as one group, and before 5.12 images cannot be mounted for other users", "apt-get dist-upgrade to a release with Linux 5.14 or later")
}

// before reports whether the kernel is older than a version.
func (f *Facts) before(major, minor int) bool {
	return slices.Compare(f.System.Kernel[:], []int{major, minor}) < 0
}

func (f *Facts) cgroups() []Check {
	if f.Node == nil {
		return nil
	}
	const oneHierarchy = "start the kernel with systemd.unified_cgroup_hierarchy=1"
	version := f.Node.Attributes["cgroup.version"]
	var c Check
	switch version {
	case cgroup.V2:
		c = Check{State: OK, Finding: "v2"}
	case cgroup.Hybrid, cgroup.V1:
		c = Check{State: Warning, Finding: version + ": newer versions of runc and systemd give it up", Fix: oneHierarchy}
	default:
		c = Check{State: Missing, Finding: "no control group can be written: tasks have no limits, and the driver container does not work", Fix: "run the agent as root; in a container, pass /sys/fs/cgroup to it writable"}
	}
	c.Feature, c.Name = "machine", "cgroups"
	controllers := strings.Split(f.Node.Attributes["cgroup.controllers"], ",")
	var absent []string
	for _, name := range []string{"cpu", "memory", "pids"} {
		if !slices.Contains(controllers, name) {
			absent = append(absent, name)
		}
	}
	return []Check{c, check("machine", "controllers", len(absent) == 0, strings.Join(controllers, ", "), Warning,
		"tasks are not limited by "+strings.Join(absent, ", "), "start the kernel without cgroup_disable, and with cgroup_enable=memory; set Delegate=yes in the unit of the agent")}
}

func (f *Facts) disk() []Check {
	s := &f.System
	if s.DiskTotal == 0 {
		return []Check{{Feature: "machine", Name: "disk", State: Missing, Finding: s.DataDir + " is on no file system that can be read", Fix: "create the directory, or name another one with data_dir"}}
	}
	free := fmt.Sprintf("%s: %.1f of %.1f GiB free", s.DataDir, float64(s.DiskFree)/(1<<30), float64(s.DiskTotal)/(1<<30))
	all := []Check{check("machine", "disk", s.DiskFree >= freeDiskBytes && s.DiskFree*100 >= s.DiskTotal*freeDiskPercent, free, Warning,
		free, "remove files, or give data_dir its own disk")}
	if s.DataInMemory {
		all = append(all, Check{Feature: "machine", Name: "data directory", State: Warning, Finding: s.DataDir + " is in memory: a restart of the machine loses the node's identity and its data", Fix: "name a directory on a disk with data_dir"})
	}
	return all
}

func (f *Facts) inotify(name string, have, want int) Check {
	setting := "fs.inotify.max_user_" + name
	if have < 0 {
		return Check{Feature: "machine", Name: "inotify " + name, State: OK, Finding: "unknown"}
	}
	return check("machine", "inotify "+name, have >= want, fmt.Sprint(have), Warning,
		fmt.Sprintf("%d per user: tasks of one user that watch files share them", have), fmt.Sprintf("echo %s=%d >> /etc/sysctl.d/60-reeve.conf; sysctl --system", setting, want*2))
}
