// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/container"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// containerName returns the name of the container of a task: TASK-ALLOC.
func containerName(t *driver.Task) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, "x"+t.Name)[1:] + "-" + t.AllocID
}

// start runs the task. If it fails, it removes what it made.
func (d *daemon) start(ctx context.Context, t *driver.Task, c *api.ContainerConfig) (driver.Handle, error) {
	if err := d.permit(t, c); err != nil {
		return nil, err
	}
	i, err := d.obtain(ctx, t, c)
	if err != nil {
		return nil, recoverable(err)
	}
	if err := d.clear(ctx, t, containerName(t)); err != nil {
		return nil, recoverable(err)
	}
	sources, err := resolveSources(t, c)
	if err != nil {
		return nil, err
	}
	what, err := description(t, c, sources, d.gates.MaxProcesses, d.agent)
	if err != nil {
		return nil, err
	}
	r := &record{ID: t.ID, TTY: c.Daemon.TTY, StopSignal: i.Config.StopSignal}
	if !t.Logs.Disabled {
		r.Logs = d.position(t.Logs) // the output of earlier runs is in the files
	}
	if err := d.records.save(r); err != nil {
		return nil, fmt.Errorf("keep a record of the container: %w", err)
	}
	d.hold(t.ID)
	found, err := d.run(ctx, t, r, what, cmp.Or(t.User, i.Config.User))
	if err != nil {
		d.discard(t, r)
		return nil, recoverable(err)
	}
	r.Started = found.State.StartedAt
	if err := d.records.save(r); err != nil {
		d.discard(t, r)
		return nil, fmt.Errorf("keep a record of the container: %w", err)
	}
	return d.follow(t, r, found.State.Pid, false), nil
}

// run creates and starts the container.
func (d *daemon) run(ctx context.Context, t *driver.Task, r *record, what object, user string) (*engine.Container, error) {
	name := containerName(t)
	id, err := d.c.Create(ctx, name, what)
	if engine.IsConflict(err) {
		if err = d.clear(ctx, t, name); err == nil {
			id, err = d.c.Create(ctx, name, what)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("create the container: %w", err)
	}
	r.Container = id
	uid, gid, err := container.UserOf(user, func(path string) ([]byte, error) { return d.c.File(ctx, id, path) })
	if err != nil {
		return nil, err
	}
	if err := container.Own(t, uid, gid); err != nil {
		return nil, err
	}
	failed := d.c.Start(ctx, id)
	if failed != nil && !engine.IsUncertain(failed) {
		return nil, fmt.Errorf("start the container: %w", failed)
	}
	// The daemon may have started the container in spite of an error.
	found, err := d.c.Inspect(ctx, id)
	if err != nil || failed != nil && !found.State.Running && found.State.StartedAt.IsZero() {
		return nil, fmt.Errorf("start the container: %w", errors.Join(failed, err))
	}
	return found, nil
}

// clear removes the container of an earlier run of the task.
func (d *daemon) clear(ctx context.Context, t *driver.Task, name string) error {
	found, err := d.c.Inspect(ctx, name)
	if engine.IsMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if found.Config.Labels[labelAgent] != d.agent || found.Config.Labels[labelAlloc] != t.AllocID {
		return fmt.Errorf("the Docker daemon has another container with the name %s: remove it", name)
	}
	return d.c.Remove(ctx, found.ID)
}

// discard removes the container of a failed start. If the daemon does not answer, the sweep of
// orphans removes it later.
func (d *daemon) discard(t *driver.Task, r *record) {
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	var err error
	id := r.Container
	if id == "" { // a request without an answer may have created it; others may have its name
		found, missing := d.c.Inspect(ctx, containerName(t))
		if missing == nil && found.Config.Labels[labelTask] == t.ID && found.Config.Labels[labelAgent] == d.agent {
			id = found.ID
		} else if missing != nil && !engine.IsMissing(missing) {
			err = missing
		}
	}
	if id != "" {
		err = d.c.Remove(ctx, id)
	}
	if err == nil {
		err = d.records.remove(t.ID)
	}
	d.release(t.ID)
	if err != nil {
		d.log.Warn("cannot remove the container of a failed start yet", "task", t.ID, "error", err)
	}
}

// recoverable marks errors after which another attempt may succeed.
func recoverable(err error) error {
	var down *engine.DownError
	if engine.IsUncertain(err) || errors.As(err, &down) || errors.Is(err, engine.ErrSilent) || errors.Is(err, context.DeadlineExceeded) {
		return &driver.RecoverableError{Err: err}
	}
	return err
}

// resolveSources returns the paths of the sources of the config's mounts, without links. The daemon
// opens them by name, so nothing may change them meanwhile: no task but this one sees its
// directory, and this one has no container yet. What lies in the shared directory may change.
func resolveSources(t *driver.Task, c *api.ContainerConfig) (paths []string, err error) {
	for _, m := range c.Mounts {
		path := m.Source
		if m.Type == "bind" && !strings.HasPrefix(path, "/") && c.Daemon.VolumeDriver == "" {
			if path, err = resolve(t, m.Source); err != nil {
				return nil, fmt.Errorf("mount %s: %w", m.Source, err)
			}
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func resolve(t *driver.Task, source string) (string, error) {
	b, err := container.Relative(t.Dir, source)
	if err != nil {
		return "", err
	}
	if b.Beneath == t.Dir.Alloc {
		return "", errors.New("other tasks can change the path while the Docker daemon opens it: use the whole directory, which the container has as /alloc, or a path below local")
	}
	fd, err := oci.OpenSource(b)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// started returns a time for a container whose daemon gave none.
func started(at time.Time) time.Time {
	if at.IsZero() {
		return time.Now()
	}
	return at
}
