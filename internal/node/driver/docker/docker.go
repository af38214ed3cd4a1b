// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package docker runs tasks with driver = "docker". The driver container runs them, as far as their
// settings have a meaning there, or a Docker daemon if the operator sets that.
//
// The package decides what runs a task. It does not weaken the driver container: what that
// rejects, it rejects.
package docker

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
)

// Driver is the driver docker.
type Driver struct {
	containers *container.Driver
	daemon     *daemon // nil: the node has no containers of a daemon
	byDaemon   bool    // the daemon runs the tasks that start now
}

var _ driver.Driver = (*Driver)(nil)

// Config configures the driver.
type Config struct {
	Mode     string   // one of Modes; "": Auto
	Dir      string   // for the records of a daemon's containers
	Socket   string   // of the daemon; "": /var/run/docker.sock
	Runtimes []string // that jobs may choose; nil: runc and nvidia
}

// New makes the driver, which has the configuration of containers. The caller keeps ownership of
// containers.
func New(containers *container.Driver, c Config, log *slog.Logger) *Driver {
	d := &Driver{containers: containers, byDaemon: c.Mode == Daemon}
	if d.byDaemon || (records{c.Dir}).exist() { // tasks may have been started in another mode
		c.Socket = cmp.Or(c.Socket, DefaultSocket)
		d.daemon = newDaemon(c, containers.Config(), log)
	}
	return d
}

// DefaultSocket is where a Docker daemon answers.
const DefaultSocket = "/var/run/docker.sock"

// Keep looks after the containers of the daemon until ctx ends.
func (d *Driver) Keep(ctx context.Context) {
	if d.daemon != nil {
		d.daemon.keep(ctx)
	}
}

// Name returns "docker".
func (d *Driver) Name() string { return api.DriverDocker }

// View returns the paths of the task's directories in its container.
func (d *Driver) View(dir driver.Dir) driver.Dir { return d.containers.View(dir) }

// Fingerprint reports what runs the tasks.
func (d *Driver) Fingerprint(ctx context.Context) *api.DriverStatus {
	if d.byDaemon {
		return d.daemon.fingerprint(ctx)
	}
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
	return d.StartConfig(ctx, t, config)
}

// StartConfig starts a task whose config was parsed.
func (d *Driver) StartConfig(ctx context.Context, t *driver.Task, config *api.ContainerConfig) (driver.Handle, error) {
	config.UseDNS(t.DNS)
	if d.byDaemon {
		return d.daemon.start(ctx, t, config)
	}
	if err := withoutDaemon(t, config); err != nil {
		return nil, err
	}
	return d.containers.StartConfig(ctx, t, config)
}

// Prefetch pulls an image ahead, unless a daemon pulls the images: it keeps them until an operator removes them.
func (d *Driver) Prefetch(ctx context.Context, p *driver.Prefetch) error {
	config, problems := api.ParseDockerConfig(p.Config)
	if len(problems) > 0 {
		return &driver.SkipError{Reason: "config " + problems[0]}
	}
	return d.PrefetchConfig(ctx, p, config)
}

// PrefetchConfig is Prefetch with a parsed config block.
func (d *Driver) PrefetchConfig(ctx context.Context, p *driver.Prefetch, config *api.ContainerConfig) error {
	if d.byDaemon {
		return &driver.SkipError{Reason: "a Docker daemon pulls the images of the node"}
	}
	return d.containers.PrefetchConfig(ctx, p, config)
}

// PublishesPorts reports whether the daemon publishes the ports of tasks. Otherwise, tasks that publish
// ports must have a network.
func (d *Driver) PublishesPorts() bool { return d.byDaemon }

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
			return fmt.Errorf("port %q leads to %d in the container, and the container uses the node's network: remove network_mode = \"host\", set mode = \"bridge\" in the group's network block, or remove to and let the program listen on $NOMAD_PORT_%s", p.Label, p.To, p.Label)
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

// Recover finds a task that an earlier agent started, perhaps in another mode.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	if d.daemon != nil {
		if h, err := d.daemon.recover(ctx, t); h != nil || err != nil {
			return h, err
		}
	}
	return d.containers.Recover(ctx, t)
}
