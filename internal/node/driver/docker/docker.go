// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package docker runs tasks with driver = "docker". On a node without a Docker daemon the driver
// container runs them, as far as their settings have a meaning there.
//
// The package decides what runs a task. It does not weaken the driver container: what that
// rejects, it rejects.
package docker

import (
	"context"
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
)

// Driver is the driver docker.
type Driver struct {
	containers *container.Driver
}

var _ driver.Driver = (*Driver)(nil)

// New makes the driver. The caller keeps ownership of containers.
func New(containers *container.Driver) *Driver { return &Driver{containers} }

// Name returns "docker".
func (d *Driver) Name() string { return api.DriverDocker }

// View returns the paths of the task's directories in its container.
func (d *Driver) View(dir driver.Dir) driver.Dir { return d.containers.View(dir) }

// Fingerprint reports what runs the tasks.
func (d *Driver) Fingerprint(ctx context.Context) *api.DriverStatus {
	s := *d.containers.Fingerprint(ctx)
	attributes := map[string]string{}
	for key, value := range s.Attributes {
		if rest, ok := strings.CutPrefix(key, "driver.container"); ok {
			attributes["driver.docker"+rest] = value
		}
	}
	s.Attributes = attributes
	if s.Healthy {
		s.Attributes[api.NodeAttrDockerEngines] = api.DockerContainer
		s.HealthDescription = "Healthy, by the driver container" + strings.TrimPrefix(s.HealthDescription, "Healthy")
	}
	return &s
}

// Start starts the task.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	config, err := parse(t)
	if err != nil {
		return nil, err
	}
	if err := withoutDaemon(t, config); err != nil {
		return nil, err
	}
	return d.containers.StartConfig(ctx, t, config)
}

// parse reads the task's config with Docker's meaning.
func parse(t *driver.Task) (*api.ContainerConfig, error) {
	config, problems := api.ParseDockerConfig(t.Config)
	if len(problems) > 0 {
		return nil, fmt.Errorf("config %s", problems[0])
	}
	if t.Network != nil {
		config.JoinGroup()
	}
	return config, nil
}

// withoutDaemon returns an error if the driver container cannot run the task.
func withoutDaemon(t *driver.Task, c *api.ContainerConfig) error {
	if err := c.WithoutDaemon(); err != nil {
		return err
	}
	if t.Network != nil {
		return nil
	}
	mapped, err := published(t, c)
	if err != nil {
		return err
	}
	for _, p := range mapped {
		if p.To > 0 && p.To != p.Value {
			return fmt.Errorf("port %q leads to %d in the container, and the container has no network of its own: set mode = \"bridge\" in the group's network block, or remove to and let the program listen on $NOMAD_PORT_%s", p.Label, p.To, p.Label)
		}
	}
	return nil
}

// published returns the ports of the node that the config names.
func published(t *driver.Task, c *api.ContainerConfig) ([]api.PortMapping, error) {
	byLabel := map[string]api.PortMapping{}
	for _, p := range t.Ports {
		byLabel[p.Label] = p
	}
	var ports []api.PortMapping
	for _, label := range c.Ports {
		p, ok := byLabel[label]
		if !ok {
			return nil, fmt.Errorf("config ports has %q, and the group's network block has no such port", label)
		}
		ports = append(ports, p)
	}
	return ports, nil
}

// Recover finds a task that an earlier agent started.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	return d.containers.Recover(ctx, t)
}
