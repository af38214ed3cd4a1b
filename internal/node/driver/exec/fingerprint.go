// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise"
)

// Fingerprint isolates a process once to find out whether the kernel permits it. If not, the
// driver is unhealthy and reports the kernel's error.
func (d *Driver) Fingerprint(ctx context.Context) *api.DriverStatus {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.status != nil {
		return d.status
	}
	s := &api.DriverStatus{Attributes: map[string]string{}, UpdateTime: time.Now()}
	if err := d.try(ctx); err != nil {
		if ctx.Err() == nil {
			d.status = s
		}
		s.HealthDescription = err.Error()
		return s
	}
	s.Detected, s.Healthy = true, true
	s.HealthDescription = "Healthy"
	if lacks := d.lacks(); lacks != "" {
		s.HealthDescription += ", " + lacks
		s.Attributes[api.DriverWarning("exec")] = lacks
	}
	s.Attributes["driver.exec"] = "1"
	s.Attributes["cgroup.version"] = d.c.Machine().CgroupVersion
	s.Attributes["cgroup.controllers"] = strings.Join(d.c.Machine().Controllers, ",")
	d.cfg.Users.Publish("exec", d.cfg.User, s.Attributes)
	d.status = s
	return s
}

// lacks says which limits the driver cannot enforce; "" if it enforces all.
func (d *Driver) lacks() string {
	m := d.c.Machine()
	switch {
	case m.Has("memory") && m.Has("cpu"):
		return ""
	case len(m.Controllers) > 0:
		return fmt.Sprintf("with limits only for %s (cgroup %s)", strings.Join(m.Controllers, " and "), m.CgroupVersion)
	}
	return "but no cgroups can be written: memory is limited for each process (RLIMIT_DATA) instead of the task, cpu is not limited"
}

// try runs an isolated process.
func (d *Driver) try(ctx context.Context) error {
	if !d.c.Machine().Root {
		return fmt.Errorf("the exec driver needs the agent to run as root")
	}
	_, exit, err := d.Probe(ctx, map[string]any{"command": "true"}, nil)
	if err != nil {
		return fmt.Errorf("a process cannot be isolated here: %w", err)
	}
	if exit.Code != 0 {
		return fmt.Errorf("an isolated process does not work here: `true` exits with %d", exit.Code)
	}
	return nil
}

// Probe runs a command of the node as a task, and returns what it wrote: at most 64 KB of its output, and of its errors.
func (d *Driver) Probe(ctx context.Context, config map[string]any, mounts []driver.Mount) (string, driver.Exit, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	base, err := os.MkdirTemp(d.c.Dir(), "probe")
	if err != nil {
		return "", driver.Exit{}, err
	}
	defer os.RemoveAll(base)
	t := &driver.Task{
		ID:     "probe/" + api.NewID(),
		Config: config,
		Dir:    driver.Dir{Alloc: base + "/alloc", Local: base + "/local", Secrets: base + "/secrets", Tmp: base + "/tmp"},
		Mounts: mounts,
		Logs:   driver.Logs{Root: base, StdoutPrefix: base + "/logs/stdout", StderrPrefix: base + "/logs/stderr", MaxFiles: 1, MaxFileBytes: 64 << 10},
	}
	for _, dir := range []string{t.Dir.Alloc, t.Dir.Local, t.Dir.Secrets, t.Dir.Tmp, base + "/logs"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", driver.Exit{}, err
		}
	}
	spec, err := d.spec(t)
	if err != nil {
		return "", driver.Exit{}, err
	}
	h, err := d.start(ctx, t, spec)
	if err != nil {
		return "", driver.Exit{}, err
	}
	exit, err := h.Wait(ctx)
	if err != nil {
		return "", exit, errors.Join(err, h.Stop(context.WithoutCancel(ctx), "SIGKILL", 0))
	}
	var text []byte
	for _, file := range slices.Concat(supervise.LogFiles(t.Logs.StdoutPrefix), supervise.LogFiles(t.Logs.StderrPrefix)) {
		more, err := os.ReadFile(file)
		if err != nil {
			return "", exit, err
		}
		text = append(text, more...)
	}
	return string(text), exit, h.Destroy(ctx)
}
