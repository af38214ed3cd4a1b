// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func mountsOf(t *driver.Task, c *api.ContainerConfig, sources []string) ([]object, error) {
	bind := func(source, target string, readOnly bool, propagation string) object {
		o := object{"Type": "bind", "Source": source, "Target": target, "ReadOnly": readOnly}
		if propagation != "" && propagation != "private" {
			o["BindOptions"] = object{"Propagation": propagation}
		}
		return o
	}
	list := []object{
		bind(t.Dir.Alloc, "/alloc", false, ""), bind(t.Dir.Local, "/local", false, ""), bind(t.Dir.Secrets, "/secrets", false, ""),
	}
	for n, m := range c.Mounts {
		switch {
		case m.Type == "bind" && c.Daemon.VolumeDriver != "" && !strings.HasPrefix(m.Source, "/"), m.Type == "volume":
			o := object{"Type": "volume", "Source": m.Source, "Target": m.Target, "ReadOnly": m.ReadOnly}
			options := object{"NoCopy": m.NoCopy, "Labels": m.Labels}
			if name := cmp.Or(m.Driver, c.Daemon.VolumeDriver); name != "" || len(m.DriverOptions) > 0 {
				options["DriverConfig"] = object{"Name": name, "Options": m.DriverOptions}
			}
			o["VolumeOptions"] = options
			list = append(list, o)
		case m.Type == "tmpfs":
			options := object{"Mode": cmp.Or(m.Mode, 0o1777)}
			if m.Size > 0 {
				options["SizeBytes"] = m.Size
			}
			list = append(list, object{"Type": "tmpfs", "Target": m.Target, "ReadOnly": m.ReadOnly, "TmpfsOptions": options})
		default:
			list = append(list, bind(sources[n], m.Target, m.ReadOnly, m.Propagation))
		}
	}
	for _, m := range t.Mounts {
		propagation, err := propagationOf(m)
		if err != nil {
			return nil, err
		}
		if m.Label == "" {
			list = append(list, bind(m.Source, m.Target, m.ReadOnly, propagation))
		}
	}
	return list, nil
}

func propagationOf(m driver.Mount) (string, error) {
	propagation, ok := map[string]string{"": "", "private": "", "host-to-task": "rslave", "bidirectional": "rshared"}[m.Propagation]
	if !ok {
		return "", fmt.Errorf("the volume at %s cannot be mounted with propagation %q; there are: private, host-to-task, bidirectional", m.Target, m.Propagation)
	}
	return propagation, nil
}

// labelledMounts returns the volumes that the daemon labels for SELinux: its API has labels only in binds, whose parts
// are separated by colons.
func labelledMounts(t *driver.Task) (binds []string, err error) {
	for _, m := range t.Mounts {
		if m.Label == "" {
			continue
		}
		if strings.Contains(m.Source+m.Target, ":") {
			return nil, fmt.Errorf("the volume at %s cannot get a selinux_label: a Docker daemon allows no colon in its path %s or its destination; use another name, or remove selinux_label", m.Target, m.Source)
		}
		propagation, err := propagationOf(m)
		if err != nil {
			return nil, err
		}
		options := []string{"rw", m.Label}
		if m.ReadOnly {
			options[0] = "ro"
		}
		if propagation != "" {
			options = append(options, propagation)
		}
		binds = append(binds, m.Source+":"+m.Target+":"+strings.Join(options, ","))
	}
	return binds, nil
}
