// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// podmanFields holds the keys of the config block of driver "podman". Most have the names and the meaning
// that they have for driver "docker".
var podmanFields = map[string]containerField{}

func init() {
	shared := []string{
		"args", "auth_soft_fail", "cap_add", "cap_drop", "command", "cpu_cfs_period", "cpu_hard_limit", "entrypoint", "extra_hosts",
		"force_pull", "hostname", "image_pull_timeout", "init", "labels", "oom_score_adj", "pids_limit", "ports", "privileged",
		"readonly_rootfs", "security_opt", "sysctl", "ulimit", "volumes",
	}
	for _, key := range shared {
		podmanFields[key] = containerFields[key]
	}
	needed := func(f containerField, daemon string) containerField {
		f.daemon = daemon
		return f
	}
	const noSwap = "containers have no swap"
	maps.Copy(podmanFields, map[string]containerField{
		"image":              {kind: kindString, set: setPodmanImage},
		"auth":               {kind: kindBlock, set: setPodmanAuth},
		"working_dir":        {kind: kindString, set: setWorkDir},
		"tmpfs":              {kind: kindStrings, set: setPodmanTmpfs},
		"devices":            {kind: kindStrings, set: setPodmanDevices},
		"dns":                {kind: kindStrings, set: setDNSServers},
		"network_mode":       {kind: kindString, set: setPodmanNetwork},
		"shm_size":           podmanBytes(func(c *ContainerConfig) *int64 { return &c.ShmSize }, 0),
		"memory_reservation": podmanBytes(func(c *ContainerConfig) *int64 { return &c.MemoryReserve }, 0),
		"memory_swap":        needed(podmanBytes(func(c *ContainerConfig) *int64 { return &c.Daemon.MemorySwap }, -1), noSwap),
		"memory_swappiness":  needed(containerField{kind: kindNumber, set: setSwappiness}, noSwap),
		"tty":                containerFields["tty"],
		"logging":            {kind: kindBlock, set: setPodmanLogging},
		"apparmor_profile":   needed(podmanOption("apparmor="), "the node has its own profile"),
		"selinux_opts":       needed(podmanOption("label="), "the node has its own labels"),
		"userns":             {kind: kindString, set: setPodmanUsers},
		"socket":             {kind: kindString, set: setPodmanSocket},
		"init_path":          {never: "init = true starts the node's own init; remove init_path"},
		"port_map":           containerFields["port_map"],
	})
}

// ParsePodmanConfig is ParseDockerConfig for the driver podman.
func ParsePodmanConfig(config map[string]any) (*ContainerConfig, []string) {
	return parseContainer(&ContainerConfig{docker: true, NewPrivs: true}, DriverPodman, podmanFields, config)
}

// setPodmanImage reads a name with or without the transport docker://.
func setPodmanImage(c *ContainerConfig, v any) error {
	s, ok := v.(string)
	if !ok {
		return errKind
	}
	for _, archive := range []string{"docker-archive:", "oci-archive:", "docker-daemon:", "containers-storage:", "dir:"} {
		if strings.HasPrefix(s, archive) {
			return fmt.Errorf("has the transport %q, which nodes cannot read: name an image of a registry, or write an image layout (skopeo copy %s oci:DIR) and set image = \"oci:DIR\"", archive, s)
		}
	}
	if c.Image = strings.TrimPrefix(s, "docker://"); strings.TrimSpace(c.Image) == "" {
		return errors.New("has no name after docker://")
	}
	return nil
}

// setPodmanAuth reads a login. Registries of nodes always use TLS as the node's configuration says.
func setPodmanAuth(c *ContainerConfig, v any) error {
	blocks, err := asMaps(v)
	if err != nil || len(blocks) != 1 {
		return errKind
	}
	login := maps.Clone(blocks[0])
	if verify, ok := login["tls_verify"]; ok {
		if on, err := asTruth(verify); err != nil {
			return errors.New("has a value of tls_verify that is not true or false")
		} else if !on {
			return errors.New("has tls_verify = false, which jobs cannot set: add the registry's certificate authority to those of the node")
		}
		delete(login, "tls_verify")
	}
	return setAuth(c, login)
}

// setPodmanTmpfs parses TARGET and TARGET:OPTIONS.
func setPodmanTmpfs(c *ContainerConfig, v any) error {
	list, err := asTexts(v)
	for _, s := range list {
		target, options, _ := strings.Cut(s, ":")
		m := ContainerMount{Type: "tmpfs", Target: target}
		if !path.IsAbs(target) && !isOpen(s) {
			return fmt.Errorf("has %q: write a path in the container, like \"/var/cache\" or \"/var/cache:size=64m\"", s)
		}
		for o := range strings.SplitSeq(options, ",") {
			key, value, _ := strings.Cut(o, "=")
			var bad error
			switch key {
			case "", "rw", "noexec", "nosuid", "nodev", "notmpcopyup": // as every tmpfs of a container
			case "ro":
				m.ReadOnly = true
			case "size":
				m.Size, bad = parseBytes(value)
			case "mode":
				m.Mode, bad = strconv.ParseInt(value, 8, 64)
			default:
				return fmt.Errorf("has the option %q in %q; there are: size, mode, ro", key, s)
			}
			if bad != nil || m.Size < 0 || m.Mode < 0 || m.Mode > 0o7777 {
				return fmt.Errorf("has the option %q in %q, which must be like size=64m or mode=1777", o, s)
			}
		}
		if err := m.checkTarget(); err != nil {
			return err
		}
		c.Mounts = append(c.Mounts, m)
	}
	return err
}

// setPodmanDevices parses HOST, HOST:CONTAINER and HOST:CONTAINER:PERMISSIONS.
func setPodmanDevices(c *ContainerConfig, v any) error {
	list, err := asTexts(v)
	if err != nil {
		return err
	}
	var blocks []map[string]any
	for _, s := range list {
		parts := splitOpen(s)
		b := map[string]any{"host_path": parts[0]}
		rest := parts[1:]
		if n := len(rest); n > 0 && rest[n-1] != "" && strings.Trim(rest[n-1], "rwm") == "" {
			b["cgroup_permissions"], rest = rest[n-1], rest[:n-1]
		}
		if len(rest) == 1 {
			b["container_path"] = rest[0]
		}
		if len(rest) > 1 || parts[0] == "" {
			return fmt.Errorf("has %q: write it like \"/dev/fuse\" or \"/dev/fuse:/dev/fuse:rw\"", s)
		}
		blocks = append(blocks, b)
	}
	return setDevices(c, blocks)
}

func setPodmanNetwork(c *ContainerConfig, v any) error {
	s, ok := v.(string)
	if mode, _, _ := strings.Cut(s, ":"); ok && slices.Contains([]string{"container", "ns", "pasta", "private", "slirp4netns", "task"}, mode) {
		return fmt.Errorf("cannot be %q: all tasks of a group share a network with mode = \"bridge\" in the group's network block", s)
	}
	return setNetworkMode(c, v)
}

// setPodmanLogging reads the logging driver. The one named nomad keeps the output on the node.
func setPodmanLogging(c *ContainerConfig, v any) error {
	if blocks, err := asMaps(v); err == nil && len(blocks) == 1 && blocks[0]["driver"] == "nomad" {
		return nil
	}
	return setLogging(c, v)
}

func setPodmanUsers(c *ContainerConfig, v any) error {
	s, ok := v.(string)
	switch {
	case !ok:
		return errKind
	case s != "" && s != "private" && s != "auto" && s != "host":
		return fmt.Errorf("must be \"auto\", \"private\" or \"host\", not %q: the node maps the users of a container itself", s)
	}
	c.UsersHost = s == "host"
	return nil
}

func setPodmanSocket(_ *ContainerConfig, v any) error {
	s, ok := v.(string)
	switch {
	case !ok:
		return errKind
	case s != "" && s != "default":
		return fmt.Errorf("must be \"default\", not %q: a node has one socket, which docker_socket in the client block of its agent names", s)
	}
	return nil
}

func setSwappiness(c *ContainerConfig, v any) error {
	n, err := asNumber(v)
	if err == nil && (n < 0 || n > 100) {
		return fmt.Errorf("must be 0 to 100, not %d", n)
	}
	c.Daemon.Swappiness = &n
	return err
}

// podmanOption adds to the security options of a daemon.
func podmanOption(prefix string) containerField {
	return containerField{kind: kindStrings, set: func(c *ContainerConfig, v any) error {
		if s, ok := v.(string); ok {
			v = []string{s}
		}
		list, err := asTexts(v)
		for _, s := range list {
			c.Daemon.SecurityOpt = append(c.Daemon.SecurityOpt, prefix+s)
		}
		return err
	}}
}

// podmanBytes reads a size such as "64m".
func podmanBytes(at func(*ContainerConfig) *int64, least int64) containerField {
	return containerField{kind: kindSize, set: func(c *ContainerConfig, v any) error {
		s, ok := v.(string)
		if !ok {
			n, err := asNumber(v)
			if err != nil {
				return errKind
			}
			s = strconv.FormatInt(n, 10)
		}
		n, err := parseBytes(s)
		if err != nil || n < least {
			return fmt.Errorf("must be a size such as \"64m\" (units b, k, m, g), not %q", s)
		}
		*at(c) = n
		return nil
	}}
}

// parseBytes reads a number with one of the units b, k, m and g.
func parseBytes(s string) (int64, error) {
	shift := 0
	lower := strings.ToLower(s)
	for unit, bits := range map[string]int{"b": 0, "k": 10, "kb": 10, "m": 20, "mb": 20, "g": 30, "gb": 30} {
		if number, ok := strings.CutSuffix(lower, unit); ok && number != "" && number[len(number)-1] <= '9' {
			lower, shift = number, bits
			break
		}
	}
	n, err := strconv.ParseInt(lower, 10, 64)
	if err == nil && (n > math.MaxInt64>>shift || n < -1) {
		err = strconv.ErrRange
	}
	return n << shift, err
}
