// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"slices"
	"strconv"
)

// UnprivilegedPorts is where ports begin that every program may listen on, unless a node has
// another setting (net.ipv4.ip_unprivileged_port_start).
const UnprivilegedPorts = 1024

// NodeAttrLowestPort returns the attribute of nodes that names the lowest port on which containers of a
// driver may listen in the node's network. Nodes without it do not limit them.
func NodeAttrLowestPort(driver string) string { return "driver." + driver + ".lowest_port" }

// A LowPort is a fixed port of the node below UnprivilegedPorts on which a container listens in the
// node's network. In a user namespace it may not, with any capabilities.
type LowPort struct {
	Driver string
	Label  string
	Number int
}

// LowPorts returns the low ports of a group: those that a container's ports list names, and all fixed
// ones if no task could listen on them that is no container with a user namespace.
func (g *Group) LowPorts() (low []LowPort) {
	var fixed []Port
	for _, n := range g.Networks {
		if n == nil {
			continue
		}
		for _, p := range n.ReservedPorts {
			if p.Value = cmp.Or(max(p.To, 0), p.Value); p.Value > 0 && p.Value < UnprivilegedPorts {
				fixed = append(fixed, p)
			}
		}
	}
	if len(fixed) == 0 || g.OwnNetwork() != nil {
		return nil
	}
	all, driver := true, ""
	for _, t := range g.Tasks {
		c := t.inUserNamespace()
		switch {
		case c == nil:
			all = false
			continue
		case ByDocker(t.Driver) && t.usesBridge(), c.NetworkMode == "none":
			continue
		}
		driver = cmp.Or(driver, t.Driver)
		for _, p := range fixed {
			if slices.Contains(c.Ports, p.Label) {
				low = append(low, LowPort{t.Driver, p.Label, p.Value})
			}
		}
	}
	if !all || driver == "" {
		return low
	}
	for _, p := range fixed {
		if !g.LeadsInside(p.Label) && !slices.ContainsFunc(low, func(l LowPort) bool { return l.Label == p.Label }) {
			low = append(low, LowPort{driver, p.Label, p.Value})
		}
	}
	return low
}

// inUserNamespace returns the config of a task whose container has the user namespace of its node;
// nil if the job asks for the host's users, the node alone knows, or the task is no container.
func (t *Task) inUserNamespace() *ContainerConfig {
	if !RunsImages(t.Driver) || slices.ContainsFunc([]string{"network_mode", "pid_mode", "privileged", "userns", "userns_mode"}, func(key string) bool { return isOpen(t.Config[key]) }) {
		return nil
	}
	var c *ContainerConfig
	if ByDocker(t.Driver) {
		c = parseDocker(t)
	} else {
		c, _ = ParseContainerConfig(t.Config)
	}
	if c.UsersHost || c.PIDHost || c.Privileged {
		return nil
	}
	return c
}

// Mismatch returns why a container on the node cannot listen on the port; "" if it can.
func (p LowPort) Mismatch(n *Node) string {
	lowest, err := strconv.Atoi(n.Attributes[NodeAttrLowestPort(p.Driver)])
	if err != nil || p.Number >= lowest {
		return ""
	}
	return "port \"" + p.Label + "\": a container in the node's network cannot listen on " + strconv.Itoa(p.Number) +
		", as it has a user namespace: set mode = \"bridge\" in the group's network block, or permit it on the node with sysctl -w net.ipv4.ip_unprivileged_port_start=" + strconv.Itoa(p.Number)
}
