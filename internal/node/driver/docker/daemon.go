// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
	"github.com/reeve-run/reeve/internal/node/image/registry"
)

// A daemon runs tasks by a Docker daemon. A daemon that does not answer ends no task: the driver is
// unhealthy until it answers again, and finds the containers then.
type daemon struct {
	c        *engine.Client
	gates    *container.Config
	runtimes []string
	records  records
	agent    string // label of the agent's containers
	broken   error  // why the driver cannot be used
	keychain registry.Keychain
	log      *slog.Logger
	pulls    pulls

	ctx    context.Context // of the watchers of handles
	cancel context.CancelFunc
	watch  sync.WaitGroup
	began  time.Time

	mu     sync.Mutex
	active map[string]bool // runs that this agent starts or watches
}

func newDaemon(c Config, gates *container.Config, log *slog.Logger) *daemon {
	d := &daemon{
		c: engine.New(c.Socket), gates: gates, runtimes: c.Runtimes, records: records{c.Dir}, log: log, began: time.Now(), active: map[string]bool{},
		keychain: registry.Keychain{File: gates.AuthFile, Helper: gates.AuthHelper},
	}
	if d.runtimes == nil {
		d.runtimes = []string{"runc", "nvidia"}
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	if d.agent, d.broken = d.records.identity(); d.broken != nil {
		d.broken = fmt.Errorf("keep records of containers: %w", d.broken)
	}
	return d
}

// patience bounds a question to the daemon that it answers from memory.
const patience = 10 * time.Second

func (d *daemon) fingerprint(ctx context.Context) *api.DriverStatus {
	s := &api.DriverStatus{Attributes: map[string]string{}, UpdateTime: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	v, err := d.c.Version(ctx)
	if err = errors.Join(d.broken, err); err != nil {
		s.Detected = d.broken == nil
		s.HealthDescription = err.Error()
		return s
	}
	s.Detected, s.Healthy, s.HealthDescription = true, true, "Healthy, by the Docker daemon "+v.Version
	s.Attributes["driver.docker"] = "1"
	s.Attributes["driver.docker.version"] = v.Version
	s.Attributes[api.NodeAttrDockerEngines] = api.DockerDaemon
	if d.gates.AllowPrivileged {
		s.Attributes["driver.docker.privileged.enabled"] = "1"
	}
	if d.gates.Volumes {
		s.Attributes["driver.docker.volumes.enabled"] = "1"
	}
	return s
}

// permit rejects what the operator does not grant.
func (d *daemon) permit(t *driver.Task, c *api.ContainerConfig) error {
	switch {
	case d.broken != nil:
		return d.broken
	case t.Daemon:
		return errors.New("a container cannot be a daemon: it ends with its first process; let the program stay in the foreground")
	case t.Network != nil:
		return errors.New("the group has a network of its own, which a Docker daemon cannot join: set docker = \"container\" in the client block of the agent's configuration")
	case strings.HasPrefix(c.Image, api.LayoutPrefix):
		return fmt.Errorf("config image %q: a Docker daemon reads no image layouts: name an image of a registry, or use load", c.Image)
	}
	const setting = "in client { container { } } of its agent's configuration"
	if r := c.Daemon.Runtime; r != "" && !slices.Contains(d.runtimes, r) {
		return fmt.Errorf("config runtime %q is not permitted on this node: add it to docker_runtimes in the client block of its agent's configuration", r)
	}
	for _, o := range c.Daemon.SecurityOpt {
		if !d.gates.AllowPrivileged && (strings.HasSuffix(o, "unconfined") || strings.HasSuffix(o, "disable")) {
			return fmt.Errorf("config security_opt %q is not permitted on this node: set allow_privileged = true %s", o, setting)
		}
	}
	for _, m := range c.Mounts {
		if !d.gates.Volumes && (m.Type == "volume" || c.Daemon.VolumeDriver != "") {
			return fmt.Errorf("the volume at %s is not permitted on this node: set volumes = true %s", m.Target, setting)
		}
	}
	return d.gates.Permit(c)
}

// hold keeps the run's container from the sweep of orphans.
func (d *daemon) hold(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.active[id] = true
}

func (d *daemon) release(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.active, id)
}

// recover finds the container of a run that an earlier agent started. It returns no handle and no
// error if the daemon never had the run.
func (d *daemon) recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	r, err := d.records.load(t.ID)
	if r == nil || err != nil {
		return nil, err
	}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := d.c.Inspect(short, containerName(t))
	switch {
	case engine.IsMissing(err) || err == nil && found.Config.Labels[labelTask] != t.ID:
		if r.Started.IsZero() {
			return nil, d.records.remove(t.ID)
		}
		return nil, errors.Join(driver.ErrTaskLost, d.records.remove(t.ID))
	case err == nil && found.State.Status == "created":
		return nil, errors.Join(d.c.Remove(ctx, found.ID), d.records.remove(t.ID))
	case err == nil:
		r.Container, r.Started = found.ID, found.State.StartedAt
		return d.follow(t, r, found.State.Pid, true), nil
	case r.Started.IsZero() || ctx.Err() != nil:
		return nil, err
	}
	d.log.Warn("a task's Docker daemon does not answer: its state is unknown until it does", "task", t.ID, "error", err)
	return d.follow(t, r, 0, true), nil
}

const (
	orphanAge   = 5 * time.Minute // of containers that are removed if nothing knows them
	orphanEvery = time.Minute
)

// keep removes orphans until ctx ends, and then ends the watchers of handles.
func (d *daemon) keep(ctx context.Context) {
	ticker := time.NewTicker(orphanEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			d.cancel()
			d.watch.Wait()
			d.c.Close()
			return
		case <-ticker.C:
			if time.Since(d.began) > orphanAge {
				d.sweep(ctx, time.Now().Add(-orphanAge))
			}
		}
	}
}

// sweep removes containers of this agent's that are older than a moment and that it does not watch.
func (d *daemon) sweep(ctx context.Context, before time.Time) {
	list, err := d.c.List(ctx, labelAgent+"="+d.agent)
	if err != nil {
		return // the fingerprint says so
	}
	for _, found := range list {
		id := found.Labels[labelTask]
		d.mu.Lock()
		watched := d.active[id]
		d.mu.Unlock()
		if watched || id == "" || time.Unix(found.Created, 0).After(before) {
			continue
		}
		if err := errors.Join(d.c.Remove(ctx, found.ID), d.records.remove(id)); err != nil {
			d.log.Warn("cannot remove a container that belongs to no task", "container", found.ID, "task", id, "error", err)
			continue
		}
		d.log.Info("removed a container that belonged to no task", "container", found.ID, "task", id)
	}
}
