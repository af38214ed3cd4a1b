// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package device knows the devices of a node that jobs can request, and what a task that holds some of them
// gets: device nodes, mounts and variables.
//
// Devices come from two sources: the agent's configuration, and specifications of the Container Device
// Interface (CDI), files that tools of vendors write. A specification is judged as a whole: one that the node
// cannot use completely gives no task half of a device. The package reads and decides; drivers apply the
// result.
package device

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Edits are what a task gets for its devices.
type Edits struct {
	Nodes  []driver.Device
	Mounts []driver.Mount
	Env    []string // KEY=value
}

func (e *Edits) add(o Edits) {
	e.Nodes, e.Mounts, e.Env = append(e.Nodes, o.Nodes...), append(e.Mounts, o.Mounts...), append(e.Env, o.Env...)
}

// A Declared group is one of the agent's configuration.
type Declared struct {
	Group *api.NodeDeviceGroup
	Nodes map[string][]driver.Device // by id
	CDI   string                     // kind whose devices have the group's ids as names; "": none
}

// Config describes the devices of a node.
type Config struct {
	Declared []Declared
	SpecDirs []string // of CDI specifications; a later one takes precedence
	Private  []string // directories that no specification may show to tasks
}

// A Set holds the devices that a node has at one moment.
type Set struct {
	Groups   []*api.NodeDeviceGroup
	Problems []Problem

	edits map[string]Edits // by key
}

// A Problem is a specification that the node does not use, or not completely.
type Problem struct {
	File string
	Err  error
}

// cdiModel is the model of all devices of a CDI kind: "vendor.com/class" names a vendor and a type.
const cdiModel = "cdi"

func key(vendor, kind, model, id string) string {
	return vendor + "/" + kind + "/" + model + "\x00" + id
}

// Read returns the devices that the node has now.
func Read(c Config) *Set {
	s := &Set{edits: map[string]Edits{}}
	kinds, problems := readSpecs(c.SpecDirs, c.Private)
	s.Problems = problems
	taken := map[string]bool{}
	for _, d := range c.Declared {
		taken[d.CDI] = true
		s.declare(d, kinds[d.CDI])
	}
	for _, k := range sortedKinds(kinds) {
		if !taken[k.name] {
			s.addKind(k)
		}
	}
	return s
}

// declare adds a group of the configuration.
func (s *Set) declare(d Declared, k *kind) {
	g := *d.Group
	g.Instances = nil
	for _, i := range d.Group.Instances {
		e := Edits{Nodes: slices.Clone(d.Nodes[i.ID])}
		why := missing(e.Nodes)
		if why == "" && strings.HasPrefix(i.ID, "/") {
			if _, err := os.Stat(i.ID); err != nil {
				why = i.ID + " does not exist"
			}
		}
		if d.CDI != "" {
			of := k.device(i.ID)
			switch {
			case of == nil:
				why = cmp.Or(why, fmt.Sprintf("no CDI specification has the device %s=%s", d.CDI, i.ID))
			case of.refused != "":
				why = cmp.Or(why, of.refused)
			default:
				why = cmp.Or(why, missing(of.edits.Nodes))
				e.add(of.edits)
			}
		}
		g.Instances = append(g.Instances, &api.NodeDevice{ID: i.ID, Healthy: why == "", HealthDescription: why})
		s.edits[key(g.Vendor, g.Type, g.Name, i.ID)] = e
	}
	s.Groups = append(s.Groups, &g)
}

// addKind adds the devices of a kind of CDI.
func (s *Set) addKind(k *kind) {
	vendor, class, _ := strings.Cut(k.name, "/")
	g := &api.NodeDeviceGroup{Vendor: vendor, Type: class, Name: cdiModel}
	for _, d := range k.units() {
		why := cmp.Or(d.refused, missing(d.edits.Nodes))
		g.Instances = append(g.Instances, &api.NodeDevice{ID: d.name, Healthy: why == "", HealthDescription: why})
		s.edits[key(vendor, class, cdiModel, d.name)] = d.edits
	}
	if len(g.Instances) > 0 {
		s.Groups = append(s.Groups, g)
	}
}

// missing returns why the node lacks one of the device nodes; "": it has all.
func missing(nodes []driver.Device) string {
	for _, n := range nodes {
		var st unix.Stat_t
		if err := unix.Stat(n.Source, &st); err != nil {
			return n.Source + " does not exist"
		}
		if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFCHR && kind != unix.S_IFBLK {
			return n.Source + " is not a device"
		}
	}
	return ""
}

// Edits returns what the holder of devices gets.
func (s *Set) Edits(held []*api.AllocatedDevice) (Edits, error) {
	var all Edits
	for _, d := range held {
		for _, id := range d.DeviceIDs {
			e, ok := s.edits[key(d.Vendor, d.Type, d.Name, id)]
			if !ok {
				return Edits{}, fmt.Errorf("device %s/%s/%s %s is not on this node any longer", d.Vendor, d.Type, d.Name, id)
			}
			for _, g := range s.Groups {
				for _, i := range g.Instances {
					if g.Vendor == d.Vendor && g.Type == d.Type && g.Name == d.Name && i.ID == id && !i.Healthy {
						return Edits{}, fmt.Errorf("device %s/%s/%s %s: %s", d.Vendor, d.Type, d.Name, id, i.HealthDescription)
					}
				}
			}
			all.add(e)
		}
	}
	return all.unique()
}

// unique removes what several devices share, such as a control node. It fails if two devices want different
// things at one place.
func (e Edits) unique() (Edits, error) {
	var u Edits
	at := map[string]any{}
	for _, n := range e.Nodes {
		switch was := at[n.Target]; was {
		case nil:
			at[n.Target], u.Nodes = n, append(u.Nodes, n)
		case n:
		default:
			return Edits{}, fmt.Errorf("two devices want different device nodes at %s: request one of them in another task", n.Target)
		}
	}
	for _, m := range e.Mounts {
		switch was := at[m.Target]; was {
		case nil:
			at[m.Target], u.Mounts = m, append(u.Mounts, m)
		case m:
		default:
			return Edits{}, fmt.Errorf("two devices want different mounts at %s: request one of them in another task", m.Target)
		}
	}
	for _, kv := range e.Env {
		name, _, _ := strings.Cut(kv, "=")
		switch was := at["$"+name]; was {
		case nil:
			at["$"+name], u.Env = kv, append(u.Env, kv)
		case kv:
		default:
			return Edits{}, fmt.Errorf("two devices want different values of the variable %s: request one of them in another task", name)
		}
	}
	return u, nil
}

// CheckNode validates a device node of the configuration or a specification, and completes it.
func CheckNode(d *driver.Device) error {
	d.Target, d.Permissions = cmp.Or(d.Target, d.Source), cmp.Or(d.Permissions, "rwm")
	if err := cleanPath(d.Source); err != nil {
		return err
	}
	if err := cleanPath(d.Target); err != nil {
		return err
	}
	if !strings.HasPrefix(d.Target, "/dev/") {
		return fmt.Errorf("path %q in the task: must be below /dev", d.Target)
	}
	for i, r := range d.Permissions {
		if !strings.ContainsRune("rwm", r) || strings.ContainsRune(d.Permissions[:i], r) {
			return fmt.Errorf("permissions %q of %s: must be of the letters r, w and m", d.Permissions, d.Source)
		}
	}
	return nil
}

// cleanPath accepts absolute paths that name what they seem to name.
func cleanPath(path string) error {
	if len(path) > 4096 || !filepath.IsAbs(path) || filepath.Clean(path) != path || path == "/" || strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("path %q: must be absolute, without .., and not /", api.Printable(path, 200))
	}
	return nil
}
