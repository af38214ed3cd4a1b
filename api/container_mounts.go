// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// setVolumes parses SOURCE:TARGET and SOURCE:TARGET:OPTIONS.
func setVolumes(c *ContainerConfig, v any) error {
	list, err := asTexts(v)
	for _, s := range list {
		parts := strings.Split(s, ":")
		if isOpen(s) {
			parts = splitOpen(s)
		}
		m := ContainerMount{Type: "bind"}
		if len(parts) == 1 {
			return fmt.Errorf("has %q: write it like \"local/conf:/etc/app\" or \"local/conf:/etc/app:ro\"", s)
		}
		if m.Source, m.Target = parts[0], parts[1]; len(parts) == 3 {
			for o := range strings.SplitSeq(parts[2], ",") {
				switch {
				case o == "ro":
					m.ReadOnly = true
				case o == "rw" || o == "z" || o == "Z" || o == "delegated" || o == "cached" || o == "consistent" || o == "nocopy":
				case slices.Contains(propagations, o):
					m.Propagation = o
				default:
					return fmt.Errorf("has the option %q in %q; there are: ro, rw, %s", o, s, strings.Join(propagations, ", "))
				}
			}
		}
		if len(parts) > 3 || m.Source == "" {
			return fmt.Errorf("has %q: write it like \"local/conf:/etc/app:ro\"", s)
		}
		if err := m.checkTarget(); err != nil {
			return err
		}
		c.Mounts = append(c.Mounts, m)
	}
	return err
}

// splitOpen splits at colons outside of ${...}.
func splitOpen(s string) []string {
	var parts []string
	depth, from := 0, 0
	for i := range len(s) {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			depth++
		case s[i] == '}' && depth > 0:
			depth--
		case s[i] == ':' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

var propagations = []string{"private", "rprivate", "slave", "rslave", "shared", "rshared"}

func (m *ContainerMount) checkTarget() error {
	if isOpen(m.Target) {
		return nil
	}
	switch clean := path.Clean("/" + m.Target); {
	case m.Target == "":
		return errors.New("has no target: name a path in the container")
	case clean == "/":
		return errors.New("has the target \"/\", which is the image's own root")
	case clean == "/proc" || strings.HasPrefix(clean, "/proc/") || clean == "/sys" || strings.HasPrefix(clean, "/sys/") || clean == "/dev":
		return fmt.Errorf("has the target %q, which belongs to the kernel", m.Target)
	}
	return nil
}

func setMounts(c *ContainerConfig, v any) error {
	blocks, err := asMaps(v)
	if err != nil {
		return errKind
	}
	for _, b := range blocks {
		m := ContainerMount{Type: "volume"}
		for _, k := range slices.Sorted(maps.Keys(b)) {
			if err := m.set(k, b[k]); err == errKind {
				return fmt.Errorf("has the value %v for %s", b[k], k)
			} else if err != nil {
				return err
			}
		}
		switch m.Type {
		case "bind":
			if m.Source == "" {
				return errors.New("of type \"bind\" has no source")
			}
		case "volume":
			c.need("mount of type \"volume\"")
		case "tmpfs":
		default:
			return fmt.Errorf("has the type %q; there are: bind, volume, tmpfs", m.Type)
		}
		if err := m.checkTarget(); err != nil {
			return err
		}
		c.Mounts = append(c.Mounts, m)
	}
	return nil
}

func (m *ContainerMount) set(key string, v any) (err error) {
	s, isText := v.(string)
	switch key {
	case "type", "source", "target", "destination":
		if !isText {
			return errKind
		}
		switch key {
		case "type":
			m.Type = s
		case "source":
			m.Source = s
		default:
			m.Target = s
		}
		return nil
	case "readonly":
		m.ReadOnly, err = asTruth(v)
		return err
	case "bind_options":
		return eachOption(v, func(k string, v any) error {
			s, _ := v.(string)
			if k != "propagation" || !slices.Contains(propagations, s) {
				return fmt.Errorf("has the bind option %s = %v; there is propagation, with %s", k, v, strings.Join(propagations, ", "))
			}
			m.Propagation = s
			return nil
		})
	case "tmpfs_options":
		return eachOption(v, func(k string, v any) (err error) {
			switch k {
			case "size":
				m.Size, err = asNumber(v)
			case "mode":
				m.Mode, err = asNumber(v)
			default:
				return fmt.Errorf("has the tmpfs option %q; there are: size, mode", k)
			}
			if err != nil || m.Size < 0 || m.Mode < 0 || m.Mode > 0o7777 {
				return fmt.Errorf("has the tmpfs option %s = %v, which must be a number in range", k, v)
			}
			return nil
		})
	case "volume_options":
		return eachOption(v, func(k string, v any) (err error) {
			switch k {
			case "no_copy":
				m.NoCopy, err = asTruth(v)
			case "labels":
				m.Labels, err = asTextMap(v)
			case "driver_config":
				err = m.setDriver(v)
			default:
				err = fmt.Errorf("has no volume option %q; there are: no_copy, labels, driver_config", k)
			}
			return err
		})
	}
	return fmt.Errorf("has no key %q; there are: type, source, target, readonly, bind_options, tmpfs_options, volume_options", key)
}

// setDriver reads the driver of a daemon's volume.
func (m *ContainerMount) setDriver(v any) error {
	return eachOption(v, func(k string, v any) (err error) {
		switch k {
		case "name":
			name, ok := v.(string)
			if m.Driver = name; !ok {
				err = errKind
			}
		case "options":
			m.DriverOptions, err = asTextMap(v)
		default:
			err = fmt.Errorf("has no key %q in driver_config; there are: name, options", k)
		}
		return err
	})
}

func eachOption(v any, set func(k string, v any) error) error {
	blocks, err := asMaps(v)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		for _, k := range slices.Sorted(maps.Keys(b)) {
			if err := set(k, b[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func setDevices(c *ContainerConfig, v any) error {
	blocks, err := asMaps(v)
	if err != nil {
		return errKind
	}
	for _, b := range blocks {
		d := ContainerDevice{Permissions: "rwm"}
		for _, k := range slices.Sorted(maps.Keys(b)) {
			s, ok := b[k].(string)
			if !ok {
				return fmt.Errorf("has the value %v for %s", b[k], k)
			}
			switch k {
			case "host_path":
				d.HostPath = s
			case "container_path":
				d.ContainerPath = s
			case "cgroup_permissions":
				if d.Permissions = s; strings.Trim(s, "rwm") != "" {
					return fmt.Errorf("has the permissions %q, which must be letters of \"rwm\"", s)
				}
			default:
				return fmt.Errorf("has no key %q; there are: host_path, container_path, cgroup_permissions", k)
			}
		}
		if d.ContainerPath == "" {
			d.ContainerPath = d.HostPath
		}
		if !isOpen(d.HostPath) && !strings.HasPrefix(d.HostPath, "/dev/") || !isOpen(d.ContainerPath) && !path.IsAbs(d.ContainerPath) {
			return fmt.Errorf("has the path %q: host_path must be below /dev, and container_path absolute", d.HostPath)
		}
		c.Devices = append(c.Devices, d)
	}
	return nil
}
