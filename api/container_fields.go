// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// containerFields holds the keys of the config block. Its comments in a job file are Nomad's.
var containerFields map[string]containerField

func init() { // not a literal: its functions use the table's helpers
	containerFields = map[string]containerField{
		"image":              text(func(c *ContainerConfig) *string { return &c.Image }),
		"load":               text(func(c *ContainerConfig) *string { return &c.Load }),
		"command":            text(func(c *ContainerConfig) *string { return &c.Command }),
		"args":               texts(func(c *ContainerConfig) *[]string { return &c.Args }),
		"entrypoint":         {kind: kindStrings, set: setEntrypoint},
		"force_pull":         truth(func(c *ContainerConfig) *bool { return &c.ForcePull }),
		"image_pull_timeout": {kind: kindDuration, set: setPullTimeout},
		"auth":               {kind: kindBlock, set: setAuth},
		"auth_soft_fail":     truth(func(c *ContainerConfig) *bool { return &c.AuthSoft }),
		"volumes":            {kind: kindStrings, set: setVolumes},
		"mount":              {kind: kindMaps, set: setMounts},
		"mounts":             {kind: kindMaps, set: setMounts},
		"hostname":           text(func(c *ContainerConfig) *string { return &c.Hostname }),
		"extra_hosts":        {kind: kindStrings, set: setExtraHosts},
		"dns_servers":        {kind: kindStrings, set: setDNSServers},
		"dns_search_domains": texts(func(c *ContainerConfig) *[]string { return &c.DNSSearch }),
		"dns_options":        texts(func(c *ContainerConfig) *[]string { return &c.DNSOptions }),
		"network_mode":       {kind: kindString, set: setNetworkMode},
		"ports":              texts(func(c *ContainerConfig) *[]string { return &c.Ports }),
		"labels":             stringMap(func(c *ContainerConfig) *map[string]string { return &c.Labels }),
		"work_dir":           {kind: kindString, set: setWorkDir},
		"readonly_rootfs":    truth(func(c *ContainerConfig) *bool { return &c.ReadonlyRoot }),
		"init":               truth(func(c *ContainerConfig) *bool { return &c.Init }),
		"shm_size":           size(func(c *ContainerConfig) *int64 { return &c.ShmSize }, kindSize),
		"privileged":         truth(func(c *ContainerConfig) *bool { return &c.Privileged }),
		"cap_add":            capabilityNames(func(c *ContainerConfig) *[]string { return &c.CapAdd }),
		"cap_drop":           capabilityNames(func(c *ContainerConfig) *[]string { return &c.CapDrop }),
		"security_opt":       {kind: kindStrings, set: setSecurity},
		"devices":            {kind: kindMaps, set: setDevices},
		"ulimit":             {kind: kindUlimits, set: setUlimits},
		"sysctl":             stringMap(func(c *ContainerConfig) *map[string]string { return &c.Sysctl }),
		"pid_mode":           hostMode(func(c *ContainerConfig) *bool { return &c.PIDHost }),
		"ipc_mode":           hostMode(func(c *ContainerConfig) *bool { return &c.IPCHost }),
		"uts_mode":           hostMode(func(c *ContainerConfig) *bool { return &c.UTSHost }),
		"userns_mode":        hostMode(func(c *ContainerConfig) *bool { return &c.UsersHost }),
		"cgroupns":           hostMode(func(c *ContainerConfig) *bool { return &c.CgroupHost }),
		"group_add":          texts(func(c *ContainerConfig) *[]string { return &c.GroupAdd }),
		"pids_limit":         size(func(c *ContainerConfig) *int64 { return &c.PidsLimit }, kindNumber),
		"memory_hard_limit":  size(func(c *ContainerConfig) *int64 { return &c.MemoryHardMB }, kindNumber),
		"cpu_hard_limit":     truth(func(c *ContainerConfig) *bool { return &c.CPUHard }),
		"cpu_cfs_period":     {kind: kindNumber, set: setPeriod},
		"oom_score_adj":      {kind: kindNumber, set: setOOMScore},
		"runtime":            {kind: kindString, set: setRuntime},
		"healthchecks":       {kind: kindBlock, set: setHealthchecks},

		"port_map":               {never: "declare the ports in the network block of the group, and name them in ports"},
		"advertise_ipv6_address": {never: "services advertise the address of the node"},
		"isolation":              {never: "it concerns Windows"},
	}
	maps.Copy(containerFields, daemonFields())
}

// containerKeys returns the keys that have a meaning in a config block, with or without a Docker daemon.
func containerKeys(fields map[string]containerField, docker bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(fields)), func(k string) bool {
		f := fields[k]
		return f.never != "" || f.daemon != "" && !docker
	})
}

// errKind says that a value has the wrong type.
var errKind = errors.New("wrong kind")

func text(at func(*ContainerConfig) *string) containerField {
	return containerField{kind: kindString, set: func(c *ContainerConfig, v any) error {
		s, ok := v.(string)
		if !ok {
			return errKind
		}
		*at(c) = s
		return nil
	}}
}

func texts(at func(*ContainerConfig) *[]string) containerField {
	return containerField{kind: kindStrings, set: func(c *ContainerConfig, v any) error {
		list, err := asTexts(v)
		*at(c) = list
		return err
	}}
}

func truth(at func(*ContainerConfig) *bool) containerField {
	return containerField{kind: kindBool, set: func(c *ContainerConfig, v any) (err error) {
		*at(c), err = asTruth(v)
		return err
	}}
}

func size(at func(*ContainerConfig) *int64, k kind) containerField {
	return containerField{kind: k, set: func(c *ContainerConfig, v any) error {
		n, err := asNumber(v)
		if err == nil && n < 0 {
			return fmt.Errorf("must not be negative, and is %d", n)
		}
		*at(c) = n
		return err
	}}
}

func stringMap(at func(*ContainerConfig) *map[string]string) containerField {
	return containerField{kind: kindMap, set: func(c *ContainerConfig, v any) (err error) {
		*at(c), err = asTextMap(v)
		return err
	}}
}

func capabilityNames(at func(*ContainerConfig) *[]string) containerField {
	return containerField{kind: kindStrings, set: func(c *ContainerConfig, v any) error {
		list, err := asTexts(v)
		for i, name := range list {
			upper := strings.ToUpper(strings.TrimSpace(name))
			if strings.Trim(upper, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") != "" || upper == "" {
				return fmt.Errorf("has %q, which is not a capability; capabilities are named like \"net_admin\"", name)
			}
			if list[i] = upper; upper != "ALL" && !strings.HasPrefix(upper, "CAP_") {
				list[i] = "CAP_" + upper
			}
		}
		*at(c) = list
		return err
	}}
}

func hostMode(at func(*ContainerConfig) *bool) containerField {
	return containerField{kind: kindString, set: func(c *ContainerConfig, v any) error {
		s, ok := v.(string)
		switch {
		case !ok:
			return errKind
		case s != "" && s != "private" && s != "host":
			return fmt.Errorf("must be \"private\" or \"host\", not %q", s)
		}
		*at(c) = s == "host"
		return nil
	}}
}

func setEntrypoint(c *ContainerConfig, v any) error {
	if s, ok := v.(string); ok {
		v = []string{s}
	}
	list, err := asTexts(v)
	c.Entrypoint = append([]string{}, list...)
	return err
}

func setPullTimeout(c *ContainerConfig, v any) error {
	d, err := asDuration(v)
	if err == nil && d <= 0 {
		return fmt.Errorf("must be more than zero, and is %s", d)
	}
	c.PullTimeout = d
	return err
}

func setAuth(c *ContainerConfig, v any) error {
	blocks, err := asMaps(v)
	if err != nil || len(blocks) != 1 {
		return errKind
	}
	a := &ContainerAuth{}
	for _, k := range slices.Sorted(maps.Keys(blocks[0])) {
		s, ok := blocks[0][k].(string)
		if !ok {
			return fmt.Errorf("has a value of %s that is not a text", k)
		}
		switch k {
		case "username":
			a.Username = s
		case "password":
			a.Password = s
		case "server_address":
			a.Server = s
		case "email":
		default:
			return fmt.Errorf("has no key %q; there are: username, password, server_address", k)
		}
	}
	c.Auth = a
	return nil
}

func setExtraHosts(c *ContainerConfig, v any) error {
	list, err := asTexts(v)
	for _, h := range list {
		name, address, ok := strings.Cut(h, ":")
		_, bad := netip.ParseAddr(strings.Trim(address, "[]"))
		if !isOpen(h) && (!ok || name == "" || strings.ContainsAny(name, " \t\n#") || bad != nil) {
			return fmt.Errorf("has %q: write it like \"db:10.0.0.5\"", h)
		}
	}
	c.ExtraHosts = list
	return err
}

func setDNSServers(c *ContainerConfig, v any) error {
	list, err := asTexts(v)
	for _, s := range list {
		if _, bad := netip.ParseAddr(s); bad != nil && !isOpen(s) {
			return fmt.Errorf("has %q, which is not an IP address", s)
		}
	}
	c.DNSServers = list
	return err
}

func setWorkDir(c *ContainerConfig, v any) error {
	s, ok := v.(string)
	if !ok {
		return errKind
	}
	if s != "" && !path.IsAbs(s) {
		return fmt.Errorf("must be an absolute path in the container, not %q", s)
	}
	c.WorkDir = s
	return nil
}

func setUlimits(c *ContainerConfig, v any) (err error) {
	c.Ulimits, err = ParseUlimits(v)
	return err
}

func setPeriod(c *ContainerConfig, v any) error {
	n, err := asNumber(v)
	if err == nil && n != 0 && (n < 1000 || n > 1_000_000) {
		return fmt.Errorf("must be 1000 to 1000000 microseconds, not %d", n)
	}
	c.CPUPeriod = n
	return err
}

func setOOMScore(c *ContainerConfig, v any) error {
	n, err := asNumber(v)
	if err == nil && (n < 0 || n > 1000) {
		return fmt.Errorf("must be 0 to 1000, not %d: a task cannot protect itself against the end of the node's memory", n)
	}
	c.OOMScoreAdj = int(n)
	return err
}

// setHealthchecks accepts the only useful value: checks of an image never run.
func setHealthchecks(_ *ContainerConfig, v any) error {
	blocks, err := asMaps(v)
	if err != nil || len(blocks) != 1 {
		return errKind
	}
	if off, err := asTruth(blocks[0]["disable"]); err != nil || !off {
		return errors.New("must be { disable = true }: checks belong to the service block")
	}
	return nil
}

func asTexts(v any) ([]string, error) {
	switch v := v.(type) {
	case []string:
		return slices.Clone(v), nil
	case []any:
		var list []string
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, errKind
			}
			list = append(list, s)
		}
		return list, nil
	}
	return nil, errKind
}

func asTruth(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b, nil
		}
	}
	return false, errKind
}

func asNumber(v any) (int64, error) {
	switch v := v.(type) {
	case int:
		return int64(v), nil
	case int64:
		return v, nil
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v), nil
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), nil
		}
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, errKind
}

func asDuration(v any) (time.Duration, error) {
	if s, ok := v.(string); ok {
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, errKind
		}
		return d, nil
	}
	n, err := asNumber(v)
	return time.Duration(n), err
}

// asMaps reads blocks: a list of maps, or one map.
func asMaps(v any) ([]map[string]any, error) {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{v}, nil
	case []map[string]any:
		return v, nil
	case []any:
		var list []map[string]any
		for _, e := range v {
			m, ok := e.(map[string]any)
			if !ok {
				return nil, errKind
			}
			list = append(list, m)
		}
		return list, nil
	}
	return nil, errKind
}

func asTextMap(v any) (map[string]string, error) {
	blocks, err := asMaps(v)
	if err != nil {
		return nil, errKind
	}
	m := map[string]string{}
	for _, b := range blocks {
		for k, v := range b {
			switch v.(type) {
			case string, bool, int, int64, uint64, float64:
				m[k] = fmt.Sprint(v)
			default:
				return nil, errKind
			}
		}
	}
	return m, nil
}
