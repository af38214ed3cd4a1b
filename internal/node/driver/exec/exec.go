// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package exec runs isolated tasks: in their own namespaces, on a root made of the host's
// programs and the task's own directories, as an unprivileged user, and within limits, as
// far as the machine can enforce them.
package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// Config configures the isolation. The zero Config has useful defaults.
type Config struct {
	HostPaths    []string        // host directories shown read-only; nil: isolate.DefaultHostPaths
	User         string          // default user of tasks; "": the user "nobody"
	MaxProcesses int64           // per task, where the pids controller works; 0: 4096, negative: no limit
	Users        api.DriverUsers // users that tasks may run as; the zero value permits all
}

// Driver is the exec driver.
type Driver struct {
	c    *supervise.Client
	cfg  Config
	root string // mount point of tasks' roots, each in its own namespace

	mu     sync.Mutex
	status *api.DriverStatus // result of the first fingerprint
}

var _ driver.Driver = (*Driver)(nil)

// New makes the driver. The caller keeps ownership of c.
func New(c *supervise.Client, cfg Config) *Driver {
	if cfg.HostPaths == nil {
		cfg.HostPaths = isolate.DefaultHostPaths()
	}
	if cfg.User == "" {
		cfg.User = "nobody"
	}
	if cfg.MaxProcesses == 0 {
		cfg.MaxProcesses = 4096
	}
	return &Driver{c: c, cfg: cfg, root: filepath.Join(c.Dir(), "root")}
}

// Name returns "exec".
func (d *Driver) Name() string { return "exec" }

// View returns the directories at the top of the task's root.
func (d *Driver) View(driver.Dir) driver.Dir {
	return driver.Dir{Alloc: "/alloc", Task: "/", Local: "/local", Secrets: "/secrets", Tmp: "/tmp"}
}

// Start starts the config's command.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	spec, err := d.spec(t)
	if err != nil {
		return nil, err
	}
	if err := supervise.PermitUser(&d.cfg.Users, "exec", cmp.Or(t.User, d.cfg.User), spec.User); err != nil {
		return nil, err
	}
	return d.start(ctx, t, spec)
}

// start starts a task that the operator permits.
func (d *Driver) start(ctx context.Context, t *driver.Task, spec *supervise.Spec) (driver.Handle, error) {
	if err := os.MkdirAll(d.root, 0o755); err != nil {
		return nil, fmt.Errorf("make a place for the task's root: %w", err)
	}
	if err := writeResolver(t); err != nil {
		return nil, err
	}
	if err := spec.User.Own(t.Dir.Local, t.Dir.Secrets, t.Dir.Tmp); err != nil {
		return nil, err
	}
	p, err := d.c.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &handle{p, spec}, nil
}

// Recover finds a task that an earlier agent started.
func (d *Driver) Recover(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	p, err := d.c.Attach(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	spec, err := d.spec(t)
	if err != nil {
		return nil, err
	}
	return &handle{p, spec}, nil
}

func (d *Driver) spec(t *driver.Task) (*supervise.Spec, error) {
	command, err1 := t.ConfigString("command")
	args, err2 := t.ConfigStrings("args")
	dir, err3 := t.ConfigString("work_dir")
	isolation, err4 := d.isolation(t, command)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	switch {
	case command == "":
		return nil, errors.New("config has no command")
	case dir == "":
		dir = "/"
	case !filepath.IsAbs(dir):
		return nil, fmt.Errorf("config work_dir must be an absolute path, as the task sees it, not %q", dir)
	}
	user, err := d.User(t)
	if err != nil {
		return nil, err
	}
	limits := d.limits(t.Resources)
	if !d.c.Machine().Has("memory") {
		isolation.DataBytes = limits.MemoryBytes
	}
	return &supervise.Spec{
		ID: t.ID, Path: command, Argv: append([]string{command}, args...), Env: t.Env, Dir: dir,
		User: user, Logs: t.Logs, Limits: limits, Isolation: isolation, Daemon: t.Daemon,
		Network: t.Namespace(),
	}, nil
}

// User returns the user that a task runs as; nil: the agent's.
func (d *Driver) User(t *driver.Task) (*supervise.User, error) {
	return supervise.LookupUser(cmp.Or(t.User, d.cfg.User))
}

func (d *Driver) limits(r driver.Limits) supervise.Limits {
	hard := r.MemoryMaxMB
	if hard == 0 {
		hard = r.MemoryMB
	}
	return supervise.Limits{
		CPUShares: r.CPUShares, MemoryBytes: max(hard, 0) << 20, MemoryReserve: r.MemoryMB << 20, Processes: max(d.cfg.MaxProcesses, 0),
		Cores: r.Cores,
	}
}

func (d *Driver) isolation(t *driver.Task, command string) (*isolate.Spec, error) {
	s := &isolate.Spec{
		RootDir: d.root, HostPaths: d.cfg.HostPaths,
		Mounts: []isolate.Mount{
			{Source: t.Dir.Alloc, Target: "/alloc"},
			{Source: t.Dir.Local, Target: "/local"},
			{Source: t.Dir.Secrets, Target: "/secrets"},
			{Source: t.Dir.Tmp, Target: "/tmp"},
		},
	}
	for _, m := range t.Mounts {
		s.Mounts = append(s.Mounts, isolate.Mount{Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly, Propagation: m.Propagation, WithoutLink: m.WithoutLink})
	}
	for _, dev := range t.Devices {
		s.Devices = append(s.Devices, isolate.Device{Source: dev.Source, Target: dev.Target, Mode: dev.Mode()})
	}
	if own, err := os.Executable(); err == nil && command == own {
		// ${attr.reeve.binary}: the program that the agent is, wherever it was put.
		s.Mounts = append(s.Mounts, isolate.Mount{Source: own, Target: own, ReadOnly: true})
	}
	showNetwork(s, t)
	var err1, err2, err3, err4 error
	s.HostPID, err1 = hostMode(t, "pid_mode")
	s.HostIPC, err2 = hostMode(t, "ipc_mode")
	s.Capabilities, s.Ambient, err3 = capabilities(t)
	s.Ulimits, err4 = ulimits(t)
	err5 := d.unveil(t, s, command)
	return s, errors.Join(err1, err2, err3, err4, err5)
}

func ulimits(t *driver.Task) (limits []isolate.Ulimit, err error) {
	set, ok := t.Config["ulimit"]
	if !ok {
		return nil, nil
	}
	all, err := api.ParseUlimits(set)
	if err != nil {
		return nil, fmt.Errorf("config ulimit %w", err)
	}
	for _, l := range all {
		limits = append(limits, isolate.Ulimit(l))
	}
	return limits, nil
}

func hostMode(t *driver.Task, key string) (bool, error) {
	mode, err := t.ConfigString(key)
	switch {
	case err != nil:
		return false, err
	case mode == "host":
		return true, nil
	case mode == "" || mode == "private":
		return false, nil
	}
	return false, fmt.Errorf("config %s must be \"private\" or \"host\", not %q", key, mode)
}

// A handle is one running task.
type handle struct {
	*supervise.Process
	spec *supervise.Spec
}

// Exec runs a command in the task's namespaces, root and cgroups, as its user.
func (h *handle) Exec(ctx context.Context, e driver.Exec) (int, error) {
	if len(e.Argv) == 0 {
		return 0, errors.New("there is no command to run")
	}
	return h.Process.Exec(ctx, supervise.Command{
		Path: e.Argv[0], Argv: e.Argv, Env: append(append([]string{}, h.spec.Env...), e.Env...),
		Dir: h.spec.Dir, User: h.spec.User, Isolation: h.spec.Isolation, Network: h.spec.Network,
	}, e)
}
