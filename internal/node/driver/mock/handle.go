// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package mock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// A handle is one run of a task: a few timers.
type handle struct {
	d       *Driver
	id      string
	b       behaviour
	started time.Time
	done    chan struct{} // closed when exit is set

	mu     sync.Mutex
	exit   *driver.Exit
	stop   *time.Timer // ends the run after a stop
	end    *time.Timer // ends the run by itself
	out    *os.File
	print  *time.Timer
	prints int // remaining outputs
}

func newHandle(d *Driver, id string, b behaviour) *handle {
	return &handle{d: d, id: id, b: b, started: time.Now(), done: make(chan struct{})}
}

func (h *handle) run(t *driver.Task) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.b.stdout != "" && !t.Logs.Disabled && t.Logs.StdoutPrefix != "" {
		dir, err := t.Logs.Dir()
		if err != nil {
			return fmt.Errorf("open the task's log: %w", err)
		}
		defer dir.Close()
		f, _, err := dir.Append(filepath.Base(t.Logs.StdoutPrefix)+".0", 0o644)
		if err != nil {
			return fmt.Errorf("open the task's log: %w", err)
		}
		h.out, h.prints = f, h.b.repeat
		h.printOnce()
	}
	if h.b.runFor >= 0 {
		h.end = time.AfterFunc(h.b.runFor, h.ended)
	}
	return nil
}

// printOnce writes stdout_string, and schedules the next time. The caller holds mu.
func (h *handle) printOnce() {
	h.out.WriteString(h.b.stdout)
	if h.prints > 0 {
		h.prints--
		h.print = time.AfterFunc(h.b.repeatEvery, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.exit == nil {
				h.printOnce()
			}
		})
	}
}

// ended ends the run as its config says.
func (h *handle) ended() {
	e := driver.Exit{Code: h.b.exitCode, Signal: h.b.exitSignal}
	if e.Signal > 0 {
		e.Code = 128 + e.Signal
	}
	if h.b.exitError != "" {
		e.Err = errors.New(h.b.exitError)
	}
	h.finish(e)
}

func (h *handle) finish(e driver.Exit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.exit != nil {
		return
	}
	e.At = time.Now()
	h.exit = &e
	for _, t := range []*time.Timer{h.stop, h.end, h.print} {
		if t != nil {
			t.Stop()
		}
	}
	if h.out != nil {
		h.out.Close()
	}
	close(h.done)
}

// PID returns 0: the run has no process.
func (h *handle) PID() int { return 0 }

// StartedAt returns when the run started.
func (h *handle) StartedAt() time.Time { return h.started }

// Wait blocks until the run has ended.
func (h *handle) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-h.done:
		return *h.exit, h.exit.Err
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// Signal does nothing, or fails with signal_error.
func (h *handle) Signal(context.Context, string) error {
	if h.b.signalError != "" {
		return errors.New(h.b.signalError)
	}
	return nil
}

// Stop ends the run after kill_after, but not later than timeout.
func (h *handle) Stop(ctx context.Context, _ string, timeout time.Duration) error {
	h.mu.Lock()
	if h.exit == nil && h.stop == nil {
		if h.b.killAfter > timeout {
			h.stop = time.AfterFunc(timeout, func() { h.finish(driver.Exit{Code: 137, Signal: 9}) })
		} else {
			h.stop = time.AfterFunc(h.b.killAfter, h.ended)
		}
	}
	h.mu.Unlock()
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Exec prints the command, and succeeds.
func (h *handle) Exec(_ context.Context, e driver.Exec) (int, error) {
	select {
	case <-h.done:
		return 0, errors.New("the task has ended")
	default:
	}
	if e.Stdout != nil {
		fmt.Fprintln(e.Stdout, strings.Join(e.Argv, " "))
	}
	return 0, nil
}

// Stats returns zeros.
func (h *handle) Stats(context.Context) (driver.Stats, error) {
	return driver.Stats{At: time.Now()}, nil
}

// Destroy forgets the run.
func (h *handle) Destroy(context.Context) error {
	h.finish(driver.Exit{Code: 137, Signal: 9})
	h.d.mu.Lock()
	defer h.d.mu.Unlock()
	if h.d.tasks[h.id] == h {
		delete(h.d.tasks, h.id)
	}
	return nil
}
