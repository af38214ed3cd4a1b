// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ContainerConfig is the config block of a task with driver = "container", "docker" or
// "podman". The names in job files are those of these drivers of Nomad.
type ContainerConfig struct {
	Image       string        // name at a registry, or oci:PATH of an image layout
	Command     string        // replaces the image's command
	Args        []string      // arguments of the command, or of the image's entrypoint
	Entrypoint  []string      // replaces the image's entrypoint; nil: keeps it
	ForcePull   bool          // asks the registry at each start
	PullTimeout time.Duration // of the whole pull
	Auth        *ContainerAuth
	AuthSoft    bool // pulls anonymously if the node's credentials cannot be read

	Mounts       []ContainerMount // also those of volumes
	Hostname     string
	ExtraHosts   []string // NAME:ADDRESS
	DNSServers   []string
	DNSSearch    []string
	DNSOptions   []string
	NetworkMode  string // "", "host" or "none"; also "bridge" and names of networks of a daemon
	Ports        []string
	Labels       map[string]string
	WorkDir      string
	ReadonlyRoot bool
	Init         bool
	ShmSize      int64 // bytes; 0: 64 MiB

	Privileged    bool
	CapAdd        []string // such as CAP_NET_ADMIN, or ALL
	CapDrop       []string
	NewPrivs      bool // set-user-id programs of the image work
	NoSeccomp     bool
	Devices       []ContainerDevice
	Ulimits       []Ulimit
	Sysctl        map[string]string
	PIDHost       bool
	IPCHost       bool
	UTSHost       bool
	UsersHost     bool
	CgroupHost    bool
	GroupAdd      []string
	PidsLimit     int64 // 0: the node's
	MemoryHardMB  int64
	MemoryReserve int64 // bytes; 0: the task's memory
	CPUHard       bool
	CPUPeriod     int64 // microseconds; 0: 100,000
	OOMScoreAdj   int

	Load        string // an archive with the image, relative to the task's directory; "": a registry has it
	Daemon      DaemonConfig
	DaemonNeeds []string // settings without a meaning if no Docker daemon runs the task
	docker      bool     // the driver is "docker" or "podman"
}

// ContainerAuth is a login at a registry.
type ContainerAuth struct{ Username, Password, Server string }

// ContainerMount makes a directory or file visible in a container.
type ContainerMount struct {
	Type        string // "bind", "volume" or "tmpfs"
	Source      string // absolute, or relative to the task's directory; a name for "volume"
	Target      string
	ReadOnly    bool
	Propagation string // "" or "private", "rslave", "rshared", ...
	Size        int64  // of a tmpfs, in bytes; 0: half of the memory
	Mode        int64  // of a tmpfs; 0: 1777

	NoCopy        bool // of a "volume": begins empty
	Labels        map[string]string
	Driver        string // of a "volume"; "": the daemon's own
	DriverOptions map[string]string
}

// ContainerDevice is a device of the node.
type ContainerDevice struct {
	HostPath, ContainerPath string
	Permissions             string // of "rwm"
}

// A containerField is a key of the config block.
type containerField struct {
	kind   kind
	set    func(*ContainerConfig, any) error
	never  string // why the key has no meaning; "" if it has one
	daemon string // why the key has no meaning without a Docker daemon; "" if it has one
	moot   bool   // a task of driver docker loses nothing without the daemon
}

const (
	kindMap   kind = "a map of texts"
	kindMaps  kind = "one or more blocks"
	kindBlock kind = "a block"
	kindSize  kind = "a number of bytes"
)

// ParseContainerConfig validates a config block of the driver container. Each problem begins with
// its key. Values that contain ${...} are not checked before a node has replaced them.
func ParseContainerConfig(config map[string]any) (*ContainerConfig, []string) {
	return parseContainer(&ContainerConfig{}, DriverContainer, containerFields, config)
}

// ParseDockerConfig is ParseContainerConfig for the driver docker. Its result also says what only
// a Docker daemon can do.
func ParseDockerConfig(config map[string]any) (*ContainerConfig, []string) {
	return parseContainer(&ContainerConfig{docker: true, NewPrivs: true}, DriverDocker, containerFields, config)
}

func parseContainer(c *ContainerConfig, driver string, fields map[string]containerField, config map[string]any) (*ContainerConfig, []string) {
	c.PullTimeout = 5 * time.Minute
	var problems []string
	for _, k := range slices.Sorted(maps.Keys(config)) {
		f, ok := fields[k]
		v := config[k]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("driver %s has no key %q%s", driver, k, nearestKey(k, containerKeys(fields, c.docker))))
			continue
		case f.never != "":
			problems = append(problems, fmt.Sprintf("%s is not supported: %s", k, f.never))
			continue
		case f.daemon != "" && !c.docker:
			problems = append(problems, fmt.Sprintf("%s is not supported: %s", k, f.daemon))
			continue
		case f.daemon != "" && !f.moot && isSet(v):
			c.need("%s", k)
		}
		if isOpen(v) {
			continue // its value is known on the node alone
		}
		if err := f.set(c, v); err == errKind {
			problems = append(problems, fmt.Sprintf("%s must be %s, not %v", k, f.kind, v))
		} else if err != nil {
			problems = append(problems, fmt.Sprintf("%s %v", k, err))
		}
	}
	image, isText := config["image"].(string)
	if problem := imageProblem(image); problem != "" && (isText || config["image"] == nil) {
		problems = append(problems, problem)
	}
	if c.NetworkMode == "none" && len(c.Ports) > 0 {
		problems = append(problems, "ports needs a network: remove network_mode = \"none\"")
	}
	return c, problems
}

// isOpen reports whether a text is known only after interpolation.
func isOpen(v any) bool {
	s, ok := v.(string)
	return ok && strings.Contains(s, "${")
}

// nearestKey suggests a key for a mistyped one.
func nearestKey(key string, known []string) string {
	for _, k := range known {
		if strings.ReplaceAll(k, "_", "") == strings.ReplaceAll(strings.ToLower(key), "_", "") || k == key+"s" || k+"s" == key {
			return fmt.Sprintf("; did you mean %q?", k)
		}
	}
	return "; there are: " + strings.Join(known, ", ")
}
