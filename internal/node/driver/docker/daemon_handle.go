// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/driver/docker/engine"
)

// A daemonHandle is one run of a task by the daemon.
type daemonHandle struct {
	d     *daemon
	t     *driver.Task
	r     *record // owned by the goroutine of its logs, apart from the constant fields
	id    string  // of the container
	begin time.Time
	pid   atomic.Int64
	ended chan struct{} // closed after exit is set
	exit  driver.Exit

	resumed bool // an earlier agent read a part of the output
}

var _ driver.Handle = (*daemonHandle)(nil)

// follow watches a container until it has ended, or the agent ends.
func (d *daemon) follow(t *driver.Task, r *record, pid int, resumed bool) *daemonHandle {
	d.hold(t.ID)
	h := &daemonHandle{d: d, t: t, r: r, id: cmp.Or(r.Container, containerName(t)), begin: started(r.Started), ended: make(chan struct{}), resumed: resumed}
	h.pid.Store(int64(pid))
	stopped := make(chan struct{})
	read := make(chan struct{})
	d.watch.Go(func() {
		defer close(read)
		h.readLogs(stopped)
	})
	d.watch.Go(func() {
		exit, known := h.await()
		if !known {
			return
		}
		close(stopped)
		select {
		case <-read:
		case <-d.ctx.Done():
		}
		h.pid.Store(0)
		h.exit = exit
		close(h.ended)
	})
	return h
}

// retryPause is the time between two questions to a daemon that does not answer.
const retryPause = time.Second

// pause waits before the next question. It reports whether the agent continues.
func (d *daemon) pause() bool {
	timer := time.NewTimer(retryPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.ctx.Done():
		return false
	}
}

// await waits for the end of the container. It reports whether it ended before the agent.
func (h *daemonHandle) await() (driver.Exit, bool) {
	for {
		err := h.d.c.Wait(h.d.ctx, h.id)
		var found *engine.Container
		if err == nil {
			found, err = h.d.c.Inspect(h.d.ctx, h.id)
		}
		switch {
		case h.d.ctx.Err() != nil:
			return driver.Exit{}, false
		case engine.IsMissing(err):
			return driver.Exit{Code: -1, At: time.Now(), Err: driver.ErrTaskLost}, true
		case err == nil && !found.State.Running:
			return exitOf(found.State), true
		}
		if !h.d.pause() {
			return driver.Exit{}, false
		}
	}
}

func exitOf(s engine.State) driver.Exit {
	e := driver.Exit{Code: s.ExitCode, OOMKilled: s.OOMKilled, At: s.FinishedAt}
	if e.Code > 128 && e.Code <= 128+64 {
		e.Signal = e.Code - 128
	}
	if s.Error != "" {
		e.Err = errors.New("the Docker daemon: " + s.Error)
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	return e
}

// PID returns the first process of the container.
func (h *daemonHandle) PID() int { return int(h.pid.Load()) }

// StartedAt returns when the daemon started the container.
func (h *daemonHandle) StartedAt() time.Time { return h.begin }

// Wait waits for the end of the container and of its output.
func (h *daemonHandle) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-h.ended:
		if errors.Is(h.exit.Err, driver.ErrTaskLost) {
			return h.exit, driver.ErrTaskLost
		}
		return h.exit, nil
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// Signal sends a signal to the container's first process.
func (h *daemonHandle) Signal(ctx context.Context, name string) error {
	return h.d.c.Kill(ctx, h.id, name)
}

// Stop sends the signal of the task, or else that of the image.
func (h *daemonHandle) Stop(ctx context.Context, signal string, timeout time.Duration) error {
	if h.t.KillSignal == "" && h.r.StopSignal != "" {
		signal = h.r.StopSignal
	}
	gone := func(err error) bool { return engine.IsConflict(err) || engine.IsMissing(err) }
	if err := h.d.c.Kill(ctx, h.id, signal); err != nil && !gone(err) {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := h.Wait(bounded); bounded.Err() == nil || err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := h.d.c.Kill(ctx, h.id, "SIGKILL"); err != nil && !gone(err) {
		return err
	}
	_, err := h.Wait(ctx)
	if errors.Is(err, driver.ErrTaskLost) {
		return nil
	}
	return err
}

// Stats measures the container.
func (h *daemonHandle) Stats(ctx context.Context) (driver.Stats, error) {
	s, err := h.d.c.Stats(ctx, h.id)
	if err != nil {
		return driver.Stats{}, err
	}
	cache := max(s.Memory.Stats["inactive_file"], s.Memory.Stats["total_inactive_file"])
	return driver.Stats{
		At: s.Read, CPUTime: time.Duration(s.CPU.Usage.Total), RSSBytes: max(s.Memory.Usage-cache, 0), Processes: s.PIDs.Current,
	}, nil
}

// Destroy removes the ended container.
func (h *daemonHandle) Destroy(ctx context.Context) error {
	if err := h.d.c.Remove(ctx, h.id); err != nil {
		return err
	}
	err := h.d.records.remove(h.t.ID)
	h.d.release(h.t.ID)
	return err
}

// Exec runs a command in the container, as its user.
func (h *daemonHandle) Exec(ctx context.Context, e driver.Exec) (int, error) {
	if len(e.Argv) == 0 {
		return 0, errors.New("there is no command to run")
	}
	s, err := h.d.c.Exec(ctx, h.id, engine.Command{
		Cmd: e.Argv, Env: e.Env, Tty: e.TTY, AttachStdin: e.Stdin != nil, AttachStdout: true, AttachStderr: !e.TTY,
	})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if e.Stdin != nil {
		go func() { // ends with its input or with the connection
			if _, err := copyInput(s, e); err == nil {
				_ = s.CloseWrite()
			}
		}()
	}
	over := make(chan struct{})
	defer close(over)
	if e.Resize != nil {
		go func() {
			for {
				select {
				case size, ok := <-e.Resize:
					if !ok {
						return
					}
					_ = s.Resize(ctx, size.Rows, size.Cols) // the command may have ended
				case <-over:
					return
				}
			}
		}()
	}
	if err := s.Copy(e.Stdout, e.Stderr); err != nil {
		return 0, errors.Join(ctx.Err(), fmt.Errorf("read the output of the command: %w", err))
	}
	return s.ExitCode(ctx)
}
