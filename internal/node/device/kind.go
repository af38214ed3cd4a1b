// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// A kind holds the devices of one vendor and class, of all specifications.
type kind struct {
	name    string
	devices []*unit
}

// A unit is a device of a specification.
type unit struct {
	name    string
	dir     int // position of its directory
	file    string
	edits   Edits
	refused string // why the node cannot give it to a task; "": it can
}

// everything is the name of the device that stands for all others of a kind.
const everything = "all"

func short(text string) string { return api.Printable(text, 100) }

// device returns the device with the name; nil: there is none.
func (k *kind) device(name string) *unit {
	if k == nil {
		return nil
	}
	for _, d := range k.devices {
		if d.name == name {
			return d
		}
	}
	return nil
}

// units returns the devices that count as units: each once, though tools name one by its number and by its
// serial number, and without the device that stands for all.
func (k *kind) units() []*unit {
	var list []*unit
	for _, d := range k.devices {
		twin := func(o *unit) bool {
			return d.refused == o.refused && len(d.edits.Nodes) > 0 && reflect.DeepEqual(d.edits.Nodes, o.edits.Nodes)
		}
		if d.name == everything && len(k.devices) > 1 || slices.ContainsFunc(list, twin) {
			continue
		}
		list = append(list, d)
	}
	return list
}

func sortedKinds(kinds map[string]*kind) []*kind {
	return slices.SortedFunc(maps.Values(kinds), func(a, b *kind) int { return cmp.Compare(a.name, b.name) })
}

// readSpecs reads the specifications of the directories.
func readSpecs(dirs, private []string) (map[string]*kind, []Problem) {
	kinds := map[string]*kind{}
	var problems []Problem
	for n, dir := range dirs {
		files, err := listSpecs(dir)
		if err != nil {
			problems = append(problems, Problem{dir, err})
		}
		for _, file := range files {
			spec, err := readSpec(file)
			var units []*unit
			if err == nil {
				units, err = spec.units(n, file, private)
			}
			if err != nil {
				problems = append(problems, Problem{file, err})
				continue
			}
			k := kinds[spec.Kind]
			if k == nil {
				k = &kind{name: spec.Kind}
				kinds[spec.Kind] = k
			}
			for _, u := range units {
				if u.refused != "" {
					problems = append(problems, Problem{file, fmt.Errorf("device %s: %s", u.name, u.refused)})
				}
				k.add(u)
			}
		}
	}
	return kinds, problems
}

// add adds a device. One of a later directory replaces it, and two of one directory exclude each other.
func (k *kind) add(u *unit) {
	for i, o := range k.devices {
		switch {
		case o.name != u.name:
			continue
		case o.dir != u.dir:
			k.devices[i] = u
		default:
			o.refused = fmt.Sprintf("%s and %s both define it", o.file, u.file)
		}
		return
	}
	k.devices = append(k.devices, u)
}

// units checks the devices of a specification. An error excludes the whole file.
func (s *cdiSpec) units(dir int, file string, private []string) ([]*unit, error) {
	common, refused, err := s.Edits.convert(private)
	if err != nil {
		return nil, err
	}
	var list []*unit
	for _, d := range s.Devices {
		own, why, err := d.Edits.convert(private)
		if err != nil {
			return nil, fmt.Errorf("device %s: %w", d.Name, err)
		}
		u := &unit{name: d.Name, dir: dir, file: file, refused: cmp.Or(refused, why)}
		u.edits.add(common)
		u.edits.add(own)
		list = append(list, u)
	}
	return list, nil
}

// convert returns the edits, and why a node cannot make all of them.
func (e *cdiEdits) convert(private []string) (c Edits, refused string, err error) {
	if len(e.Env)+len(e.DeviceNodes)+len(e.Mounts)+len(e.Hooks) > maxEdits {
		return c, "", fmt.Errorf("it has more than %d device nodes, mounts, variables and hooks", maxEdits)
	}
	switch {
	case len(e.Hooks) > 0:
		refused = fmt.Sprintf("the specification has the hook %s (%s), and Reeve runs no hooks: generate it without hooks", short(e.Hooks[0].Name), short(e.Hooks[0].Path))
	case len(e.NetDevices) > 0:
		refused = "the specification has netDevices, which Reeve does not support"
	case len(e.GIDs) > 0:
		refused = "the specification has additionalGIDs, which Reeve does not support"
	case len(e.IntelRDT) > 0 && string(e.IntelRDT) != "null":
		refused = "the specification has intelRdt, which Reeve does not support"
	}
	for _, kv := range e.Env {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" || strings.ContainsRune(kv, 0) || len(kv) > 32<<10 {
			return c, "", fmt.Errorf("env %q: must be NAME=value", short(kv))
		}
		c.Env = append(c.Env, kv)
	}
	for _, n := range e.DeviceNodes {
		d := driver.Device{Source: cmp.Or(n.HostPath, n.Path), Target: n.Path, Permissions: n.Permissions}
		if err := CheckNode(&d); err != nil {
			return c, "", fmt.Errorf("deviceNodes: %w", err)
		}
		c.Nodes = append(c.Nodes, d)
	}
	for _, m := range e.Mounts {
		d, err := m.convert(private)
		if err != nil {
			return c, "", fmt.Errorf("mounts: %w", err)
		}
		c.Mounts = append(c.Mounts, d)
	}
	return c, refused, nil
}

// covered are the places that a task's other mounts have.
var covered = []string{"/alloc", "/local", "/secrets", "/proc", "/sys", "/dev", "/tmp"}

func (m *cdiMount) convert(private []string) (driver.Mount, error) {
	d := driver.Mount{Source: m.HostPath, Target: m.ContainerPath, ReadOnly: !slices.Contains(m.Options, "rw") || slices.Contains(m.Options, "ro"), WithoutLink: true}
	if err := errors.Join(cleanPath(d.Source), cleanPath(d.Target)); err != nil {
		return d, err
	}
	if m.Type != "" && m.Type != "bind" && m.Type != "none" {
		return d, fmt.Errorf("type %q of %s: only bind mounts are possible", short(m.Type), d.Target)
	}
	for _, dir := range covered {
		if overlap(d.Target, dir) {
			return d, fmt.Errorf("%s: the task has other files at %s", d.Target, dir)
		}
	}
	// The mount accepts no link on the way, so that what is checked here is what a task gets.
	if real, err := filepath.EvalSymlinks(d.Source); err == nil {
		d.Source = real
	}
	for _, dir := range private {
		if overlap(d.Source, dir) {
			return d, fmt.Errorf("%s: tasks must not see the agent's files in %s", d.Source, dir)
		}
	}
	return d, nil
}

// overlap reports whether one of the paths is the other, or below it.
func overlap(a, b string) bool {
	return a == b || strings.HasPrefix(a, strings.TrimSuffix(b, "/")+"/") || strings.HasPrefix(b, strings.TrimSuffix(a, "/")+"/")
}
