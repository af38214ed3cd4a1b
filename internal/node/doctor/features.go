// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// drivers checks each driver by the status that the node reports.
func (f *Facts) drivers() []Check {
	if f.Node == nil {
		return []Check{{Feature: "machine", Name: "fingerprint", State: Missing, Finding: f.NodeError, Fix: "solve this first: without it the drivers cannot be tried"}}
	}
	var all []Check
	for _, name := range slices.Sorted(maps.Keys(f.Node.Drivers)) {
		d := f.Node.Drivers[name]
		if d == nil || name == "mock" || name == "mock_driver" {
			continue
		}
		c := Check{Feature: name, Name: "driver", State: OK, Finding: d.HealthDescription}
		switch warning := f.Node.Attributes[api.DriverWarning(name)]; {
		case !d.Detected || !d.Healthy:
			c.State, c.Fix = Missing, f.driverFix(name)
		case warning != "":
			c.State, c.Finding, c.Fix = Warning, warning, f.warningFix(name)
		}
		all = append(all, c)
		if name == api.DriverContainer {
			all = append(all, f.images()...)
		}
	}
	return all
}

// driverFix tells how a driver that does not work may be made to.
func (f *Facts) driverFix(name string) string {
	switch {
	case name != api.DriverContainer && name != "exec" && name != api.DriverDocker:
		return ""
	case !f.Root:
		return "run the agent as root"
	case f.Wanted.DockerDaemon && name == api.DriverDocker:
		return "apt-get install docker.io; systemctl enable --now docker; or set docker = \"auto\" in the client block, which needs no daemon"
	case name == "exec":
		return "permit namespaces and mounts: outside of a container, or in one with --privileged"
	case !f.System.Runc:
		return "apt-get install runc"
	case !f.System.Overlay:
		return "modprobe overlay; echo overlay > /etc/modules-load.d/reeve.conf"
	}
	return ""
}

func (f *Facts) warningFix(name string) string {
	switch name {
	case api.DriverContainer:
		return "apt-get update; apt-get install --only-upgrade runc; Debian lists the fixes of its version at https://security-tracker.debian.org/tracker/source-package/runc"
	case "exec":
		return "start the kernel with cgroup_enable=memory, and the agent as root"
	}
	return ""
}

// images checks what the kernel gives to containers.
func (f *Facts) images() []Check {
	s := &f.System
	all := []Check{
		check("container", "overlayfs", s.Overlay, "available", Missing, "the kernel does not list overlay in /proc/filesystems", "modprobe overlay; echo overlay > /etc/modules-load.d/reeve.conf"),
		check("container", "seccomp", s.Seccomp, "available", Missing, "the kernel has no filters for system calls", "use a kernel with CONFIG_SECCOMP_FILTER, such as Debian's linux-image-amd64"),
	}
	users := f.Node.Attributes["driver.container.userns"]
	switch {
	case users == "true":
		all = append(all, Check{Feature: "container", Name: "user namespaces", State: OK, Finding: "available, with mounts for other users"}, f.lowPorts())
	case s.UserNamespaces == 0:
		all = append(all, Check{Feature: "container", Name: "user namespaces", State: Warning, Finding: "the limit of their number is 0: root in a container is root of the machine", Fix: "sysctl -w user.max_user_namespaces=15000"})
	case users == "false" && f.before(5, 19):
		all = append(all, Check{Feature: "container", Name: "user namespaces", State: Warning, Finding: "overlayfs before Linux 5.19 cannot be mounted for other users: root in a container is root of the machine", Fix: "apt-get dist-upgrade to a release with Linux 5.19 or later"})
	case users == "false":
		all = append(all, Check{Feature: "container", Name: "user namespaces", State: Warning, Finding: "not used: root in a container is root of the machine", Fix: "set enabled = true in client { container { user_namespace { } } }, and put the data directory on ext4, xfs or btrfs"})
	}
	return all
}

// lowPorts checks whether containers in the node's network can listen where web servers do.
func (f *Facts) lowPorts() Check {
	lowest, _ := strconv.Atoi(f.Node.Attributes[api.NodeAttrLowestPort(api.DriverContainer)])
	const web = 80
	return check("container", "low ports", lowest <= web, "containers in the node's network may listen on port 80", Warning,
		fmt.Sprintf("containers in the node's network (network_mode = \"host\") cannot listen on ports below %d; those with a network of their own can", lowest),
		"sysctl -w net.ipv4.ip_unprivileged_port_start=80, if such jobs run here: every user of the machine may then listen on ports from 80")
}

// docker tells whether a daemon answers. Only a node that uses one needs it.
func (f *Facts) docker() []Check {
	if f.Node == nil || f.Node.Drivers[api.DriverDocker] == nil {
		return nil
	}
	return []Check{check(api.DriverDocker, "daemon", f.System.DockerAnswers || !f.Wanted.DockerDaemon, choose(f.System.DockerAnswers, "a daemon answers at ", "not used; none answers at ")+f.Wanted.DockerSocket,
		Missing, "no daemon answers at "+f.Wanted.DockerSocket, "apt-get install docker.io; systemctl enable --now docker")}
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// network checks the networks of allocations.
func (f *Facts) network() []Check {
	if f.Node == nil {
		return nil
	}
	problem := f.Node.Attributes[api.NodeAttrBridgeProblem]
	fix := "modprobe -a bridge veth nf_tables nft_chain_nat nft_fib_inet nft_masq; write their names to /etc/modules-load.d/reeve.conf"
	if !f.Root {
		fix = "run the agent as root"
	}
	checks := []Check{check("bridge", "networks of allocations", f.Node.Attributes[api.NodeAttrBridge] != "", "available", Missing, problem, fix)}
	return append(checks, f.pluggedNetworks()...)
}

// pluggedNetworks checks the networks of CNI plugins that the machine's files configure.
func (f *Facts) pluggedNetworks() (checks []Check) {
	for _, key := range slices.Sorted(maps.Keys(f.Node.Attributes)) {
		if name, ok := strings.CutPrefix(key, api.NodeAttrCNI); ok {
			checks = append(checks, check("cni", name, true, "available", Missing, "", ""))
		}
		if name, ok := strings.CutPrefix(key, api.NodeAttrCNIProblem); ok {
			problem := f.Node.Attributes[key]
			fix := "correct the file, or remove it"
			if strings.Contains(problem, "has the plugin") {
				fix = "apt-get install containernetworking-plugins"
			} else if !f.Root {
				fix = "run the agent as root"
			}
			checks = append(checks, check("cni", name, false, "", Missing, problem, fix))
		}
	}
	return checks
}

// artifacts checks the programs and the isolation of downloads.
func (f *Facts) artifacts() []Check {
	isolation := ""
	if f.Node != nil {
		isolation = f.Node.Attributes["artifact.isolation"]
	}
	return []Check{
		check("artifacts", "git", f.System.Git, "installed", Warning, "git is not installed: artifacts from repositories fail", "apt-get install git"),
		check("artifacts", "isolation", isolation != "" && isolation != "none", isolation, Warning, "downloads are not isolated from the machine", "run the agent as root, or use a kernel with Landlock"),
	}
}

func (f *Facts) landlock() []Check {
	return []Check{check("landlock", "interface", f.System.Landlock > 0, fmt.Sprintf("version %d", f.System.Landlock), Missing,
		"the kernel has no Landlock: tasks of driver exec with unveil are not placed here, and downloads are less isolated", "use Linux 5.13 or later, with landlock in lsm= on the command line of the kernel")}
}

func (f *Facts) secrets() []Check {
	s := &f.System
	good := "in memory, never in swap space"
	if !s.NoSwap {
		good = "in memory; the machine has no swap space"
	}
	ok := f.Root && (s.NoSwap || !s.Swap)
	finding, fix := "in memory that the kernel may write to swap space", "use Linux 6.4 or later, or swapoff -a"
	if !f.Root {
		finding, fix = "on disk, because the agent does not run as root", "run the agent as root"
	}
	return []Check{check("secrets", "storage", ok, good, Warning, finding, fix)}
}

// configured checks what the agent's configuration names.
func (f *Facts) configured() []Check {
	if f.Node == nil {
		return nil
	}
	var all []Check
	for _, name := range f.Wanted.HostVolumes {
		all = append(all, check("host volumes", name, f.Node.HostVolumes[name] != nil, "a directory", Missing, "its path is not a directory of this machine", "create the directory, or correct path in client { host_volume \""+name+"\" { } }"))
	}
	for _, name := range f.Wanted.HostNetworks {
		_, ok := f.Node.HostNetworks[name]
		all = append(all, check("host networks", name, ok, "has an address", Missing, "no address of this machine is in it", "correct cidr or interface in client { host_network \""+name+"\" { } }"))
	}
	for _, p := range f.Specs {
		all = append(all, check("devices", p.File, false, "", Warning, "tasks get no device of this CDI specification: "+p.Problem, "correct the file, or remove it"))
	}
	if f.Node.Resources == nil {
		return all
	}
	for _, g := range f.Node.Resources.Devices {
		for _, d := range g.Instances {
			all = append(all, check("devices", g.Vendor+"/"+g.Type+"/"+g.Name+" "+d.ID, d.Healthy, "healthy", Missing, d.HealthDescription, "attach the device, load its driver, or correct ids in client { device { } }"))
		}
	}
	return all
}
