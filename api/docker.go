// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"
)

// NodeAttrDockerEngines is the attribute of nodes that names what runs their tasks of the drivers
// docker and podman: DockerDaemon, DockerContainer, or both with a comma between.
const NodeAttrDockerEngines = "driver.docker.engines"

// Engines of the driver docker.
const (
	DockerDaemon    = "daemon"    // a Docker daemon
	DockerContainer = "container" // the driver container
)

// LayoutPrefix begins the names of images in an image layout of the node.
const LayoutPrefix = "oci:"

// A DockerNeed says which engines cannot run a task of driver docker or podman.
type DockerNeed struct {
	ByContainer string // why it cannot run without a daemon; "" if it can
	ByDaemon    string // why no daemon can run it; "" if it can
	Network     bool   // without a daemon, it needs a node that gives allocations networks of their own
}

// DockerNeedOf derives what a task needs from its config and its group's network. Settings that
// only the node can complete are not judged.
func DockerNeedOf(g *Group, t *Task) DockerNeed {
	c := parseDocker(t)
	networks := g.Networks
	if t.Resources != nil {
		networks = slices.Concat(networks, t.Resources.Networks)
	}
	own := slices.ContainsFunc(networks, func(n *Network) bool { return n != nil && !n.isHost() })
	var need DockerNeed
	if own {
		need.ByDaemon = "the group has a network of its own, which a Docker daemon cannot join"
		c.JoinGroup()
	} else if strings.HasPrefix(c.Image, LayoutPrefix) {
		need.ByDaemon = "image layouts, as in image = \"oci:PATH\", cannot be read by a Docker daemon"
	}
	if need.Network = !own && t.usesBridge(); need.Network {
		c.JoinGroup()
	}
	need.ByContainer = c.withoutDaemon()
	if mapped := mappedPort(networks, c.Ports); need.ByContainer == "" && !own && !need.Network && mapped != "" {
		need.ByContainer = fmt.Sprintf("port %q leads to another port of the container, which uses the node's network: remove network_mode = \"host\", or set mode = \"bridge\" in the group's network block", mapped)
	}
	return need
}

// JoinGroup adapts the config to a group with a network of its own: Docker's usual network gives
// way to it.
func (c *ContainerConfig) JoinGroup() {
	if c.NetworkMode == "bridge" {
		c.NetworkMode = ""
		c.DaemonNeeds = slices.DeleteFunc(c.DaemonNeeds, func(what string) bool { return strings.HasPrefix(what, "network_mode ") })
	}
}

// withoutDaemon returns why the task cannot run without a daemon; "" if it can.
func (c *ContainerConfig) withoutDaemon() string {
	switch len(c.DaemonNeeds) {
	case 0:
		return ""
	case 1:
		return c.DaemonNeeds[0] + " needs a Docker daemon"
	}
	return strings.Join(c.DaemonNeeds, ", ") + " need a Docker daemon"
}

// WithoutDaemon returns an error if the task cannot run without a daemon.
func (c *ContainerConfig) WithoutDaemon() error {
	if why := c.withoutDaemon(); why != "" {
		return fmt.Errorf("config %s, and this node runs such tasks by the driver container", why)
	}
	return nil
}

// mappedPort returns the first of the labels whose port has another number in the container.
func mappedPort(networks []*Network, labels []string) string {
	for _, n := range networks {
		if n == nil {
			continue
		}
		for _, p := range slices.Concat(n.ReservedPorts, n.DynamicPorts) {
			if p.To > 0 && p.To != p.Value && slices.Contains(labels, p.Label) {
				return p.Label
			}
		}
	}
	return ""
}

// Mismatch returns why a node whose engines are given cannot run the task; "" if it can. A node
// that publishes no engines is not judged. network is why the node gives allocations no networks; "" if it does.
func (d DockerNeed) Mismatch(engines, network string) string {
	var reasons []string
	for engine := range strings.SplitSeq(engines, ",") {
		why := ""
		switch engine {
		case DockerDaemon:
			why = d.ByDaemon
		case DockerContainer:
			why = d.ByContainer
			if why == "" && d.Network {
				why = network
			}
		}
		if why == "" {
			return ""
		}
		reasons = append(reasons, why)
	}
	return strings.Join(reasons, "; ")
}
