// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package fingerprint measures a machine: the attributes for constraints, and the resources
// that allocations share. It only reads, and leaves out unknown values.
package fingerprint

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/landlock"
)

// Machine holds the results of a measurement.
type Machine struct {
	Attributes map[string]string
	Resources  *api.NodeResources
	Address    string // the address at which others reach the machine
}

// Options configure a measurement.
type Options struct {
	DataDir   string // directory on the file system whose free space is the node's disk
	Version   string // of the agent
	Interface string // network interface; "": that of the default route
	Address   string // overrides the interface's address
	Member    string // address of the agent in its cluster's network: for a machine without a default route
}

// Measure measures the machine.
func Measure(o Options) *Machine {
	m := &Machine{
		Attributes: map[string]string{},
		Resources:  &api.NodeResources{MinDynamicPort: api.DynamicPortMin, MaxDynamicPort: api.DynamicPortMax},
	}
	m.agent(o)
	m.system()
	m.cpu()
	m.memory()
	m.disk(o.DataDir)
	m.network(o)
	return m
}

func (m *Machine) set(name, value string) {
	if value != "" {
		m.Attributes[name] = value
	}
}

func (m *Machine) setInt(name string, value int64) { m.set(name, strconv.FormatInt(value, 10)) }

// compatVersion is the version of Nomad whose job files Reeve supports; job files constrain
// it as attr.nomad.version.
const compatVersion = "2.0.6"

func (m *Machine) agent(o Options) {
	m.set(api.NodeAttrVersion, o.Version)
	m.set("nomad.version", compatVersion)
	if exe, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(exe); err == nil {
			exe = real
		}
		m.set("reeve.binary", exe)
	}
}

func (m *Machine) system() {
	m.set("cpu.arch", runtime.GOARCH)
	m.set("kernel.arch", machineArch())
	m.set("kernel.name", runtime.GOOS)
	m.set("kernel.version", readLine("/proc/sys/kernel/osrelease"))
	m.set(api.NodeAttrLandlock, api.LandlockUnavailable)
	if v := landlock.Version(); v > 0 {
		m.set(api.NodeAttrLandlock, fmt.Sprintf("v%d", v))
	}
	if name, err := os.Hostname(); err == nil {
		m.set("unique.hostname", name)
	}
	release := parseRelease(readFile("/etc/os-release"))
	m.set("os.name", release["ID"])
	m.set("os.version", release["VERSION_ID"])
	if m.Attributes["os.version"] == "" {
		m.set("os.version", release["VERSION_CODENAME"])
	}
	m.set("os.signals", strings.Join(signals, ","))
}

var signals = []string{
	"SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGKILL", "SIGPIPE",
	"SIGPROF", "SIGQUIT", "SIGSEGV", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG",
	"SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
}

func machineArch() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Machine[:])
}

func (m *Machine) memory() {
	total := meminfo(readFile("/proc/meminfo"))["MemTotal"]
	if limit := cgroupMemoryLimit(); limit > 0 && limit < total {
		total = limit
	}
	m.setInt("memory.totalbytes", total)
	m.Resources.Memory.MemoryMB = total >> 20
}

// cgroupMemoryLimit returns the memory limit of the agent's own cgroup; 0 if it is unlimited.
// Inside a container, the machine's memory is not available.
func cgroupMemoryLimit() int64 {
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if n, err := strconv.ParseInt(readLine(path), 10, 64); err == nil {
			return n
		}
	}
	return 0
}

func (m *Machine) disk(dir string) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return
	}
	total, free := int64(st.Blocks)*st.Bsize, int64(st.Bavail)*st.Bsize
	m.set("unique.storage.volume", dir)
	m.setInt("unique.storage.bytestotal", total)
	m.setInt("unique.storage.bytesfree", free)
	m.Resources.Disk.DiskMB = free >> 20
}

func readFile(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func readLine(path string) string { return strings.TrimSpace(readFile(path)) }
