// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// DaemonConfig holds the settings of the drivers "docker" and "podman" that only a Docker daemon can follow.
type DaemonConfig struct {
	Interactive  bool
	TTY          bool
	LogType      string // logging driver; "": one that keeps as much as the task's logs block
	LogOptions   map[string]string
	StorageOpt   map[string]string
	VolumeDriver string
	Aliases      []string
	IPv4, IPv6   string
	MAC          string
	Runtime      string // "": the daemon's default
	SecurityOpt  []string
	MemorySwap   int64  // bytes of memory and swap; 0: no swap, -1: no limit
	Swappiness   *int64 // 0 to 100
}

// daemonFields are the keys that have no meaning without a Docker daemon.
func daemonFields() map[string]containerField {
	field := func(f containerField, daemon string) containerField {
		f.daemon = daemon
		return f
	}
	const addresses = "the node assigns addresses"
	return map[string]containerField{
		"interactive":     field(truth(func(c *ContainerConfig) *bool { return &c.Daemon.Interactive }), "a task has no standard input; run commands in it with reeve alloc exec"),
		"tty":             field(truth(func(c *ContainerConfig) *bool { return &c.Daemon.TTY }), "a task has no terminal; reeve alloc exec -t opens one in its container"),
		"storage_opt":     field(stringMap(func(c *ContainerConfig) *map[string]string { return &c.Daemon.StorageOpt }), "the node stores containers on its own file system; bound them with the ephemeral_disk block"),
		"volume_driver":   field(text(func(c *ContainerConfig) *string { return &c.Daemon.VolumeDriver }), "volumes have no drivers on this node; use mount or volumes with a path"),
		"network_aliases": field(texts(func(c *ContainerConfig) *[]string { return &c.Daemon.Aliases }), "instances find each other by their services"),
		"ipv4_address":    field(address(func(c *ContainerConfig) *string { return &c.Daemon.IPv4 }), addresses),
		"ipv6_address":    field(address(func(c *ContainerConfig) *string { return &c.Daemon.IPv6 }), addresses),
		"mac_address":     field(text(func(c *ContainerConfig) *string { return &c.Daemon.MAC }), addresses),
		"logging":         {kind: kindBlock, set: setLogging, moot: true, daemon: "the node keeps the output of tasks; set its size in the logs block of the task"},
		"container_exists_attempts": {
			kind: kindNumber, moot: true, daemon: "no daemon keeps the names of containers",
			set: func(_ *ContainerConfig, v any) error { _, err := asNumber(v); return err },
		},
	}
}

// need records a setting that only a Docker daemon follows.
func (c *ContainerConfig) need(format string, args ...any) {
	if what := fmt.Sprintf(format, args...); c.docker && !slices.Contains(c.DaemonNeeds, what) {
		c.DaemonNeeds = append(c.DaemonNeeds, what)
	}
}

// isSet reports whether a value differs from the default of its type.
func isSet(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != "" && v != "false"
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

func address(at func(*ContainerConfig) *string) containerField {
	return containerField{kind: kindString, set: func(c *ContainerConfig, v any) error {
		s, ok := v.(string)
		if !ok {
			return errKind
		}
		if _, err := netip.ParseAddr(s); err != nil && s != "" {
			return fmt.Errorf("must be an IP address, not %q", s)
		}
		*at(c) = s
		return nil
	}}
}

// setLogging reads the logging driver of a daemon. Drivers that keep the output on the node lose
// nothing without the daemon: the node keeps the output, too.
func setLogging(c *ContainerConfig, v any) error {
	blocks, err := asMaps(v)
	if err != nil || len(blocks) != 1 {
		return errKind
	}
	for _, k := range slices.Sorted(maps.Keys(blocks[0])) {
		v := blocks[0][k]
		switch k {
		case "type", "driver":
			s, ok := v.(string)
			if c.Daemon.LogType = s; !ok {
				return errors.New("has a type that is not a text")
			}
		case "config", "options":
			if c.Daemon.LogOptions, err = asTextMap(v); err != nil {
				return errors.New("has a config that is not a map of texts")
			}
		default:
			return fmt.Errorf("has no key %q; there are: type, config", k)
		}
	}
	if t := c.Daemon.LogType; t != "" && t != "json-file" && t != "local" {
		c.need("logging of type %q", t)
	}
	return nil
}

// setRuntime reads the OCI runtime: a daemon may have several.
func setRuntime(c *ContainerConfig, v any) error {
	s, ok := v.(string)
	switch {
	case !ok:
		return errKind
	case s == "" || s == "runc":
	case !c.docker:
		return fmt.Errorf("must be \"runc\", not %q", s)
	default:
		c.need("runtime %q", s)
	}
	c.Daemon.Runtime = s
	return nil
}

func setNetworkMode(c *ContainerConfig, v any) error {
	s, ok := v.(string)
	switch {
	case !ok:
		return errKind
	case s == "" || s == "host" || s == "none" || s == "default":
		c.NetworkMode = strings.TrimPrefix(s, "default")
		return nil
	case c.docker && (strings.HasPrefix(s, "container:") || strings.ContainsAny(s, " \t\n/")):
		return fmt.Errorf("must be \"host\", \"none\", \"bridge\" or the name of a Docker network, not %q: tasks of one group share a network with mode = \"bridge\" in the group's network block", s)
	case c.docker:
		c.NetworkMode = s
		c.need("network_mode %q", s)
		return nil
	case s == "bridge":
		return errors.New("must be \"host\" or \"none\": a bridge belongs to the whole group: set mode = \"bridge\" in its network block")
	}
	return fmt.Errorf("must be \"host\" or \"none\", not %q: other networks belong to the group's network block", s)
}

func setSecurity(c *ContainerConfig, v any) error {
	list, err := asTexts(v)
	for _, o := range list {
		option := strings.Replace(o, "=", ":", 1)
		switch {
		case option == "no-new-privileges" || option == "no-new-privileges:true":
			c.NewPrivs = false
		case option == "no-new-privileges:false":
			c.NewPrivs = true
		case option == "seccomp:unconfined":
			c.NoSeccomp = true
		case c.docker && (strings.HasPrefix(option, "apparmor:") || strings.HasPrefix(option, "label:")):
			c.need("security_opt %q", o)
			c.Daemon.SecurityOpt = append(c.Daemon.SecurityOpt, o)
		case c.docker:
			return fmt.Errorf("has %q; there are: no-new-privileges, \"seccomp=unconfined\", \"apparmor=PROFILE\", \"label=OPTION\"", o)
		default:
			return fmt.Errorf("has %q; this driver has \"no-new-privileges=false\" and \"seccomp=unconfined\"", o)
		}
	}
	return err
}
