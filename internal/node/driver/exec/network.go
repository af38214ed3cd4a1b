// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/reeve-run/reeve/internal/node/beneath"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

const resolverTarget = "/etc/resolv.conf"

// showNetwork replaces the host's name and its files about names by those of the allocation's own
// network, or only the resolver's by the task's.
func showNetwork(s *isolate.Spec, t *driver.Task) {
	var hidden []string
	show := func(source, target string, withoutLink bool) {
		if source != "" {
			hidden = append(hidden, target)
			s.Mounts = append(s.Mounts, isolate.Mount{Source: source, Target: target, ReadOnly: true, WithoutLink: withoutLink})
		}
	}
	switch n := t.Network; {
	case n != nil:
		s.Hostname = n.Hostname
		hidden = append(hidden, "/etc/hostname")
		show(n.Hosts, "/etc/hosts", false)
		show(n.Resolver, resolverTarget, false)
	case t.Resolver != "":
		show(resolverFile(t), resolverTarget, true)
	}
	s.HostPaths = slices.DeleteFunc(slices.Clone(s.HostPaths), func(p string) bool { return slices.Contains(hidden, p) })
}

// resolverFile returns the path of the task's resolv.conf. The task does not see the directory.
func resolverFile(t *driver.Task) string { return filepath.Join(t.Dir.Task, "resolv.conf") }

// writeResolver writes the task's resolv.conf. A task of another driver may have put something in its place.
func writeResolver(t *driver.Task) error {
	if t.Network != nil || t.Resolver == "" {
		return nil
	}
	dir, err := beneath.Open(t.Dir.Task)
	if err != nil {
		return fmt.Errorf("write the task's resolv.conf: %w", err)
	}
	defer dir.Close()
	name := filepath.Base(resolverFile(t))
	if err := dir.RemoveAll(name); err != nil {
		return fmt.Errorf("replace the task's resolv.conf: %w", err)
	}
	f, err := dir.Create(name, 0o644)
	if err != nil {
		return fmt.Errorf("write the task's resolv.conf: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteString(t.Resolver); err != nil {
		return fmt.Errorf("write the task's resolv.conf: %w", err)
	}
	return f.Chmod(0o644)
}
