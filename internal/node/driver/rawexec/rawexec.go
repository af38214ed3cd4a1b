// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package rawexec runs a task as a plain process of the host, without limits and without
// isolation: it has all rights of its user.
package rawexec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/program"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

// Config holds the operator's rules. The zero Config permits everything.
type Config struct {
	Off   bool // the driver starts no task
	Users api.DriverUsers
}

// Driver is the raw_exec driver.
type Driver struct {
	c   *supervise.Client
	cfg Config
}

var _ driver.Driver = (*Driver)(nil)

// New makes the driver. The caller keeps ownership of c.
func New(c *supervise.Client) *Driver { return NewGated(c, Config{}) }

// NewGated is New with an operator's rules.
func NewGated(c *supervise.Client, cfg Config) *Driver { return &Driver{c, cfg} }

var errOff = errors.New("the node's operator turned it off: set enabled = true in client { raw_exec { } } of its agent's configuration")

// Name returns "raw_exec".
func (d *Driver) Name() string { return "raw_exec" }

// Fingerprint returns a healthy status unless the operator turned the driver off, because every machine
// can start a process. It also publishes the capabilities of the machine's cgroups.
func (d *Driver) Fingerprint(context.Context) *api.DriverStatus {
	m := d.c.Machine()
	attributes := map[string]string{
		"driver.raw_exec": "1", "cgroup.version": m.CgroupVersion, "cgroup.controllers": strings.Join(m.Controllers, ","),
	}
	if m.CgroupParent != "" {
		attributes[api.AttributeCgroupParent] = m.CgroupParent
	}
	if d.cfg.Off {
		delete(attributes, "driver.raw_exec")
		return &api.DriverStatus{HealthDescription: errOff.Error(), UpdateTime: time.Now(), Attributes: attributes}
	}
	d.cfg.Users.Publish("raw_exec", agentUser(), attributes)
	return &api.DriverStatus{Detected: true, Healthy: true, HealthDescription: "Healthy", UpdateTime: time.Now(), Attributes: attributes}
}

// View returns dir.
func (d *Driver) View(dir driver.Dir) driver.Dir { return dir }

// Start starts the config's command.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	if d.cfg.Off {
		return nil, fmt.Errorf("driver raw_exec: %w", errOff)
	}
	spec, err := d.spec(t)
	if err != nil {
		return nil, err
	}
	if err := supervise.PermitUser(&d.cfg.Users, "raw_exec", cmp.Or(t.User, agentUser()), spec.User); err != nil {
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
	score, err := t.ConfigInt("oom_score_adj")
	if err != nil {
		return nil, err
	}
	if score < 0 || score > 1000 {
		return nil, fmt.Errorf("config oom_score_adj must be from 0 to 1000, not %d", score)
	}
	path, err := lookCommand(t, command)
	if err != nil {
		return nil, err
	}
	runAs, err := supervise.LookupUser(t.User)
	if err != nil {
		return nil, err
	}
	return &supervise.Spec{
		ID: t.ID, Path: path, Argv: append([]string{command}, args...), Env: t.Env, Dir: dir, User: runAs, Logs: t.Logs,
		Limits: supervise.Limits{Cores: t.Resources.Cores}, Daemon: t.Daemon, Network: t.Namespace(), OOMScore: score,
	}, nil
}

// agentUser returns the name of the user that tasks without a user run as, or its number.
func agentUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}

func lookCommand(t *driver.Task, command string) (string, error) {
	return program.Look(command, program.Env(t.Env, "PATH"), t.Dir.Local, t.Dir.Task)
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
