// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// healthy are the facts of a machine without any problem.
func healthy() *Facts {
	driver := func() *api.DriverStatus {
		return &api.DriverStatus{Detected: true, Healthy: true, HealthDescription: "Healthy"}
	}
	return &Facts{
		Root: true,
		Node: &api.Node{
			Name:    "worker-1",
			Drivers: map[string]*api.DriverStatus{"container": driver(), "docker": driver(), "exec": driver(), "raw_exec": driver(), "mock": driver()},
			Attributes: map[string]string{
				"cgroup.version": "v2", "cgroup.controllers": "cpu,memory,pids", "driver.container.userns": "true", api.NodeAttrBridge: "1",
				"artifact.isolation": "namespaces+landlock",
			},
			HostVolumes:  map[string]*api.HostVolumeInfo{"data": {}},
			HostNetworks: map[string]*api.HostNetwork{"public": {}},
			Resources:    &api.NodeResources{Devices: []*api.NodeDeviceGroup{{Vendor: "v", Type: "gpu", Name: "m", Instances: []*api.NodeDevice{{ID: "0", Healthy: true}}}}},
		},
		System: System{
			Kernel: [2]int{6, 1}, DataDir: "/var/lib/reeve", DataExists: true, DiskFree: 50 << 30, DiskTotal: 100 << 30, OpenFiles: 1 << 20,
			InotifyInstances: 1024, InotifyWatches: 1 << 20, ClockKnown: true, ClockSynced: true, Landlock: 4, Seccomp: true, UserNamespaces: 1000,
			Overlay: true, NoSwap: true, Runc: true, Git: true,
		},
		Wanted: Wanted{HostVolumes: []string{"data"}, HostNetworks: []string{"public"}, DockerSocket: "/var/run/docker.sock"},
	}
}

func TestHealthyMachinesLackNothing(t *testing.T) {
	r, known, ok := Judge(healthy(), nil)
	if !ok || r.Missing+r.Warnings > 0 || r.Node != "worker-1" {
		t.Errorf("got %+v", r)
	}
	for _, c := range r.Checks {
		if c.State != OK || c.Fix != "" || c.Finding == "" {
			t.Errorf("got %+v", c)
		}
	}
	if slices.Contains(known, "mock") || !slices.Contains(known, "raw_exec") {
		t.Errorf("features %v", known)
	}
}

// TestEachLackIsToldWithItsFix spoils one fact at a time.
func TestEachLackIsToldWithItsFix(t *testing.T) {
	broken := func(f *Facts, name, why string) {
		*f.Node.Drivers[name] = api.DriverStatus{HealthDescription: why}
	}
	for _, test := range []struct {
		name    string
		spoil   func(*Facts)
		feature string
		check   string
		state   State
		finding string
		fix     string
	}{
		{"an old kernel", func(f *Facts) { f.System.Kernel = [2]int{5, 10} }, "machine", "kernel", Warning, "Linux 5.10", "dist-upgrade"},
		{"not root", func(f *Facts) { f.Root = false }, "machine", "user", Warning, "not root", "as root"},
		{"hybrid", func(f *Facts) { f.Node.Attributes["cgroup.version"] = "hybrid" }, "machine", "cgroups", Warning, "hybrid", "unified_cgroup_hierarchy=1"},
		{"no cgroups", func(f *Facts) { f.Node.Attributes["cgroup.version"] = "none" }, "machine", "cgroups", Missing, "no limits", "as root"},
		{"unknown cgroups", func(f *Facts) { f.Node.Attributes = map[string]string{} }, "machine", "cgroups", Missing, "no limits", "as root"},
		{"no memory controller", func(f *Facts) { f.Node.Attributes["cgroup.controllers"] = "cpu,pids" }, "machine", "controllers", Warning, "by memory", "cgroup_enable=memory"},
		{"a full disk", func(f *Facts) { f.System.DiskFree = 1 << 30 }, "machine", "disk", Warning, "1.0 of 100.0 GiB", "data_dir"},
		{"a large disk, nearly full", func(f *Facts) { f.System.DiskFree, f.System.DiskTotal = 20<<30, 1000<<30 }, "machine", "disk", Warning, "20.0 of", "data_dir"},
		{"no disk", func(f *Facts) { f.System.DiskTotal = 0 }, "machine", "disk", Missing, "/var/lib/reeve", "data_dir"},
		{"data in memory", func(f *Facts) { f.System.DataInMemory = true }, "machine", "data directory", Warning, "in memory", "data_dir"},
		{"a wrong clock", func(f *Facts) { f.System.ClockSynced = false }, "machine", "clock", Warning, "clock", "apt-get install chrony"},
		{"few open files", func(f *Facts) { f.System.OpenFiles = 1024 }, "machine", "open files", Warning, "1024", "LimitNOFILE"},
		{"few watchers", func(f *Facts) { f.System.InotifyInstances = 128 }, "machine", "inotify instances", Warning, "128", "fs.inotify.max_user_instances=1024"},
		{"few watches", func(f *Facts) { f.System.InotifyWatches = 8192 }, "machine", "inotify watches", Warning, "8192", "fs.inotify.max_user_watches="},
		{"no runc", func(f *Facts) { broken(f, "container", "runc is not installed"); f.System.Runc = false }, "container", "driver", Missing, "runc is not installed", "apt-get install runc"},
		{"runc without overlay", func(f *Facts) { broken(f, "container", "mount: no such device"); f.System.Overlay = false }, "container", "driver", Missing, "no such device", "modprobe overlay"},
		{"container without root", func(f *Facts) { broken(f, "container", "needs root"); f.Root = false }, "container", "driver", Missing, "needs root", "as root"},
		{"no exec", func(f *Facts) { broken(f, "exec", "a process cannot be isolated here") }, "exec", "driver", Missing, "cannot be isolated", "--privileged"},
		{"an unhealthy driver", func(f *Facts) { f.Node.Drivers["raw_exec"].Healthy = false }, "raw_exec", "driver", Missing, "", ""},
		{"a driver of a later version", func(f *Facts) { f.Node.Drivers["new"] = &api.DriverStatus{HealthDescription: "no qemu"} }, "new", "driver", Missing, "no qemu", ""},
		{"high ports", func(f *Facts) { f.Node.Attributes[api.NodeAttrLowestPort("container")] = "1024" }, "container", "low ports", Warning, "below 1024", "sysctl -w net.ipv4.ip_unprivileged_port_start=80"},
		{"old runc", func(f *Facts) { f.Node.Attributes[api.DriverWarning("container")] = "runc 1.1.5 is old" }, "container", "driver", Warning, "runc 1.1.5", "apt-get install --only-upgrade runc"},
		{"exec without memory", func(f *Facts) { f.Node.Attributes[api.DriverWarning("exec")] = "with limits only for cpu" }, "exec", "driver", Warning, "only for cpu", "cgroup_enable"},
		{"no overlay", func(f *Facts) { f.System.Overlay = false }, "container", "overlayfs", Missing, "overlay", "modprobe overlay"},
		{"no seccomp", func(f *Facts) { f.System.Seccomp = false }, "container", "seccomp", Missing, "system calls", "CONFIG_SECCOMP_FILTER"},
		{"no user namespaces", func(f *Facts) {
			f.Node.Attributes["driver.container.userns"] = "false"
			f.System.UserNamespaces = 0
		}, "container", "user namespaces", Warning, "limit", "user.max_user_namespaces"},
		{"no idmapped overlay", func(f *Facts) {
			f.Node.Attributes["driver.container.userns"] = "false"
			f.System.Kernel = [2]int{5, 15}
		}, "container", "user namespaces", Warning, "5.19", "dist-upgrade"},
		{"user namespaces of a file system", func(f *Facts) { f.Node.Attributes["driver.container.userns"] = "false" }, "container", "user namespaces", Warning, "root of the machine", "ext4"},
		{"a daemon that does not answer", func(f *Facts) { f.Wanted.DockerDaemon = true }, "docker", "daemon", Missing, "docker.sock", "apt-get install docker.io"},
		{"docker by a daemon", func(f *Facts) { f.Wanted.DockerDaemon = true; broken(f, "docker", "connection refused") }, "docker", "driver", Missing, "refused", "docker.io"},
		{"no bridge", func(f *Facts) {
			delete(f.Node.Attributes, api.NodeAttrBridge)
			f.Node.Attributes[api.NodeAttrBridgeProblem] = "the kernel lacks a module"
		}, "bridge", "networks of allocations", Missing, "lacks a module", "modprobe"},
		{"no plugin", func(f *Facts) {
			f.Node.Attributes[api.NodeAttrCNIProblem+"shop"] = "no directory of cni_path has the plugin portmap"
		}, "cni", "shop", Missing, "plugin portmap", "containernetworking-plugins"},
		{"a broken file", func(f *Facts) { f.Node.Attributes[api.NodeAttrCNIProblem+"a.conf"] = "it is no valid JSON" }, "cni", "a.conf", Missing, "no valid JSON", "correct the file"},
		{"no git", func(f *Facts) { f.System.Git = false }, "artifacts", "git", Warning, "git", "apt-get install git"},
		{"no isolation of artifacts", func(f *Facts) { f.Node.Attributes["artifact.isolation"] = "none" }, "artifacts", "isolation", Warning, "not isolated", "Landlock"},
		{"no landlock", func(f *Facts) { f.System.Landlock = 0 }, "landlock", "interface", Missing, "no Landlock", "lsm="},
		{"a broken CDI specification", func(f *Facts) { f.Specs = []SpecProblem{{"/etc/cdi/x.json", "it has no devices"}} }, "devices", "/etc/cdi/x.json", Warning, "it has no devices", "remove it"},
		{"swapped secrets", func(f *Facts) { f.System.NoSwap, f.System.Swap = false, true }, "secrets", "storage", Warning, "swap", "swapoff"},
		{"secrets on disk", func(f *Facts) { f.Root = false }, "secrets", "storage", Warning, "on disk", "as root"},
		{"no directory of a volume", func(f *Facts) { f.Node.HostVolumes = nil }, "host volumes", "data", Missing, "not a directory", `host_volume "data"`},
		{"no address of a network", func(f *Facts) { f.Node.HostNetworks = nil }, "host networks", "public", Missing, "no address", `host_network "public"`},
		{"a device that is gone", func(f *Facts) {
			*f.Node.Resources.Devices[0].Instances[0] = api.NodeDevice{ID: "0", HealthDescription: "/dev/x does not exist"}
		}, "devices", "v/gpu/m 0", Missing, "does not exist", "driver"},
		{"no fingerprint", func(f *Facts) { f.Node, f.NodeError = nil, "start the supervisor: permission denied" }, "machine", "fingerprint", Missing, "permission denied", "first"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := healthy()
			test.spoil(f)
			r, _, _ := Judge(f, nil)
			at := slices.IndexFunc(r.Checks, func(c Check) bool { return c.Feature == test.feature && c.Name == test.check })
			if at < 0 {
				t.Fatalf("no such check among %+v", r.Checks)
			}
			c := r.Checks[at]
			if c.State != test.state || !strings.Contains(c.Finding, test.finding) || !strings.Contains(c.Fix, test.fix) || c.Fix != "" && test.fix == "" {
				t.Errorf("got %+v", c)
			}
			if r.Missing+r.Warnings == 0 {
				t.Error("the report counts nothing")
			}
		})
	}
}

func TestFeaturesSelectChecks(t *testing.T) {
	f := healthy()
	f.System.Git = false
	*f.Node.Drivers["exec"] = api.DriverStatus{}
	if r, _, ok := Judge(f, []string{"bridge", "artifacts"}); !ok || r.Missing != 0 || r.Warnings != 1 || len(r.Checks) != 3 {
		t.Errorf("got %+v, %t", r, ok)
	}
	if r, _, ok := Judge(f, []string{"exec"}); !ok || r.Missing != 1 {
		t.Errorf("got %+v, %t", r, ok)
	}
	if _, known, ok := Judge(f, []string{"exce"}); ok || !slices.Contains(known, "exec") {
		t.Errorf("an unknown feature: %v, %t", known, ok)
	}
}

func TestSystemIsRead(t *testing.T) {
	for release, want := range map[string][2]int{"6.1.0-18-amd64\n": {6, 1}, "5.10": {5, 10}, "": {}, "six": {}} {
		if got := kernelVersion(release); got != want {
			t.Errorf("%q: got %v, want %v", release, got, want)
		}
	}
	if hasSwap("Filename\tType\n") || hasSwap("") || !hasSwap("Filename\tType\n/dev/sda2 partition\n") {
		t.Error("swap space is misread")
	}
	s := Gather(t.Context(), t.TempDir()+"/absent/deep", "no-such-runtime", "/no/such/socket")
	if s.DiskTotal == 0 || s.DataExists || s.Runc || s.DockerAnswers || s.Kernel == [2]int{} || s.OpenFiles == 0 {
		t.Errorf("got %+v", s)
	}
}
