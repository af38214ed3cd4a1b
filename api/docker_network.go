// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "slices"

// parseDocker parses the config of a task of driver docker or podman.
func parseDocker(t *Task) *ContainerConfig {
	parse := ParseDockerConfig
	if t.Driver == DriverPodman {
		parse = ParsePodmanConfig
	}
	c, _ := parse(t.Config)
	return c
}

// usesBridge reports whether the task has Docker's usual network, whose ports a daemon would publish. A
// task without ports and without a network_mode uses the node's network, as there is nothing to publish.
func (c *ContainerConfig) usesBridge() bool {
	return c.NetworkMode == "bridge" || c.NetworkMode == "" && len(c.Ports) > 0
}

// usesBridge reports whether a task of a group in the node's network has Docker's usual network.
func (t *Task) usesBridge() bool {
	if !ByDocker(t.Driver) {
		return false
	}
	if mode, ok := t.Config["network_mode"]; ok && isOpen(mode) {
		return false // known on the node alone
	}
	return parseDocker(t).usesBridge()
}

// DockerNetwork returns the network that the group's tasks of drivers docker and podman share in
// place of the networks of a daemon: those that publish ports, in a group that uses the node's network.
// It returns nil if no task publishes ports.
func (g *Group) DockerNetwork() *Network {
	if g.OwnNetwork() != nil || !slices.ContainsFunc(g.Tasks, (*Task).usesBridge) {
		return nil
	}
	return &Network{Mode: NetworkBridge, DNS: g.HostDNS()}
}

// NetworkOf returns the network that a task uses instead of the node's, on a node without a Docker
// daemon; nil: the node's.
func (g *Group) NetworkOf(t *Task) *Network {
	if n := g.OwnNetwork(); n != nil {
		return n
	}
	if t == nil || !t.usesBridge() {
		return nil
	}
	return g.DockerNetwork()
}

// PublishedPorts returns the labels of the ports that the task publishes from the group's DockerNetwork.
func (g *Group) PublishedPorts(t *Task) []string {
	if g.OwnNetwork() != nil || !t.usesBridge() {
		return nil
	}
	return parseDocker(t).Ports
}

// LeadsInside reports whether a port of the group leads into a network of the allocation.
func (g *Group) LeadsInside(label string) bool {
	if g.OwnNetwork() != nil {
		return g.IsBridge()
	}
	return slices.ContainsFunc(g.Tasks, func(t *Task) bool { return slices.Contains(g.PublishedPorts(t), label) })
}
