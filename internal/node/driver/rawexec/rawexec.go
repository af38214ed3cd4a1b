// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package rawexec runs a task as a plain process of the host, without limits and without
// isolation: it has all rights of its user.
package rawexec

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

// Driver is the raw_exec driver.
type Driver struct{ c *supervise.Client }

var _ driver.Driver = (*Driver)(nil)

// New makes the driver. The caller keeps ownership of c.
func New(c *supervise.Client) *Driver { return &Driver{c} }

// Name returns "raw_exec".
func (d *Driver) Name() string { return "raw_exec" }

// Fingerprint always returns a healthy status, because every machine can start a process. It
// also publishes the capabilities of the machine's cgroups.
func (d *Driver) Fingerprint(context.Context) *api.DriverStatus {
	m := d.c.Machine()
	attributes := map[string]string{
		"driver.raw_exec": "1", "cgroup.version": m.CgroupVersion, "cgroup.controllers": strings.Join(m.Controllers, ","),
	}
	if m.CgroupParent != "" {
		attributes[api.AttributeCgroupParent] = m.CgroupParent
	}
	return &api.DriverStatus{Detected: true, Healthy: true, HealthDescription: "Healthy", UpdateTime: time.Now(), Attributes: attributes}
}

// View returns dir.
func (d *Driver) View(dir driver.Dir) driver.Dir { return dir }

// Start starts the config's command.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	spec, err := d.spec(t)
	if err != nil {
		return nil, err
	}
	if err := spec.User.Own(t.Dir.Task, t.Dir.Local, t.Dir.Secrets, t.Dir.Tmp); err != nil {
		return nil, err
	}
	p, err := d.c.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &handle{p, t, spec}, nil
}

// Recover finds a task that an earlier agent started.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	p, err := d.c.Attach(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	// The node may no longer satisfy the job's requirements; a running process is not
	// affected.
	spec, err := d.spec(t)
	if err != nil {
		spec = &supervise.Spec{Dir: t.Dir.Task, Env: t.Env, Network: t.Namespace()}
	}
	return &handle{p, t, spec}, nil
}

func (d *Driver) spec(t *driver.Task) (*supervise.Spec, error) {
	command, err := t.ConfigString("command")
	if err != nil {
		return nil, err
	}
	args, err := t.ConfigStrings("args")
	if err != nil {
		return nil, err
	}
	dir, err := t.ConfigString("work_dir")
	if err != nil {
		return nil, err
	}
	switch {
	case dir == "":
		dir = t.Dir.Task
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("config work_dir must be an absolute path, not %q", dir)
	}
	path, err := lookCommand(t, command)
	if err != nil {
		return nil, err
	}
	user, err := supervise.LookupUser(t.User)
	if err != nil {
		return nil, err
	}
	return &supervise.Spec{
		ID: t.ID, Path: path, Argv: append([]string{command}, args...), Env: t.Env, Dir: dir, User: user, Logs: t.Logs,
		Limits: supervise.Limits{Cores: t.Resources.Cores}, Daemon: t.Daemon, Network: t.Namespace(),
	}, nil
}

func lookCommand(t *driver.Task, command string) (string, error) {
	return driver.LookCommand(command, driver.EnvValue(t.Env, "PATH"), t.Dir.Local, t.Dir.Task)
}

// A handle is one running task.
type handle struct {
	*supervise.Process
	t    *driver.Task
	spec *supervise.Spec
}

// Exec runs a command with the task's directory, environment, user and cgroup.
func (h *handle) Exec(ctx context.Context, e driver.Exec) (int, error) {
	if len(e.Argv) == 0 {
		return 0, fmt.Errorf("there is no command to run")
	}
	path, err := lookCommand(h.t, e.Argv[0])
	if err != nil {
		return 0, err
	}
	return h.Process.Exec(ctx, supervise.Command{
		Path: path, Argv: e.Argv, Env: append(append([]string{}, h.spec.Env...), e.Env...), Dir: h.spec.Dir, User: h.spec.User,
		Network: h.spec.Network,
	}, e)
}
