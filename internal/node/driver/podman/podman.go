// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package podman runs tasks with driver = "podman", whose config block has the names of Nomad's
// plugin. The driver docker runs them, in the mode that the operator set: by the driver container,
// or by a daemon with Docker's API, which may be Podman's socket.
package podman

import (
	"context"
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/docker"
)

// Driver is the driver podman.
type Driver struct{ docker *docker.Driver }

var _ driver.Driver = (*Driver)(nil)

// New makes the driver. The caller keeps ownership of d.
func New(d *docker.Driver) *Driver { return &Driver{d} }

// Name returns "podman".
func (d *Driver) Name() string { return api.DriverPodman }

// View returns the paths of the task's directories in its container.
func (d *Driver) View(dir driver.Dir) driver.Dir { return d.docker.View(dir) }

// Fingerprint reports what runs the tasks.
func (d *Driver) Fingerprint(ctx context.Context) *api.DriverStatus {
	s := *d.docker.Fingerprint(ctx)
	attributes := map[string]string{}
	for key, value := range s.Attributes {
		if rest, ok := strings.CutPrefix(key, "driver.docker"); ok && key != api.NodeAttrDockerEngines {
			attributes["driver.podman"+rest] = value
		}
	}
	s.Attributes = attributes
	return &s
}

// PublishesPorts reports whether a daemon publishes the ports of tasks.
func (d *Driver) PublishesPorts() bool { return d.docker.PublishesPorts() }

// Start starts the task.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	config, problems := api.ParsePodmanConfig(t.Config)
	if len(problems) > 0 {
		return nil, fmt.Errorf("config %s", problems[0])
	}
	if t.Network != nil {
		config.JoinGroup()
	}
	return d.docker.StartConfig(ctx, t, config)
}

// Prefetch pulls an image ahead.
func (d *Driver) Prefetch(ctx context.Context, p *driver.Prefetch) error {
	config, problems := api.ParsePodmanConfig(p.Config)
	if len(problems) > 0 {
		return &driver.SkipError{Reason: "config " + problems[0]}
	}
	return d.docker.PrefetchConfig(ctx, p, config)
}

// Recover finds a task that an earlier agent started.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	return d.docker.Recover(ctx, t)
}
