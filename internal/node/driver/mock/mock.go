// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package mock pretends to run tasks, as their config says. It serves tests and load tests: a
// task is a timer, not a process, and ends with the agent.
package mock

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Driver is the mock driver.
type Driver struct {
	mu    sync.Mutex
	tasks map[string]*handle
}

var _ driver.Driver = (*Driver)(nil)

// New makes the driver.
func New() *Driver { return &Driver{tasks: map[string]*handle{}} }

// Name returns "mock_driver"; "mock" is an alias.
func (d *Driver) Name() string { return "mock_driver" }

// Fingerprint always returns a healthy status.
func (d *Driver) Fingerprint(context.Context) *api.DriverStatus {
	return &api.DriverStatus{
		Detected: true, Healthy: true, HealthDescription: "Healthy", UpdateTime: time.Now(),
		Attributes: map[string]string{"driver.mock_driver": "1", "driver.mock": "1"},
	}
}

// View returns dir.
func (d *Driver) View(dir driver.Dir) driver.Dir { return dir }

// WithoutDirs reports whether a task needs no directories, because it writes nothing.
func (d *Driver) WithoutDirs(t *driver.Task) bool {
	_, writes := t.Config["stdout_string"]
	return !writes
}

// WithoutNetwork marks that tasks need no network: they have no processes.
func (d *Driver) WithoutNetwork() {}

// Start starts a run. It blocks for start_block_for, and fails with start_error.
func (d *Driver) Start(ctx context.Context, t *driver.Task) (driver.Handle, error) {
	b, err := readBehaviour(t)
	if err != nil {
		return nil, err
	}
	if b.startBlock > 0 {
		select {
		case <-time.After(b.startBlock):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if b.startError != "" {
		if b.recoverable {
			return nil, &driver.RecoverableError{Err: errors.New(b.startError)}
		}
		return nil, errors.New(b.startError)
	}
	h := newHandle(d, t.ID, b)
	d.mu.Lock()
	d.tasks[t.ID] = h
	d.mu.Unlock()
	if err := h.run(t); err != nil {
		h.Destroy(ctx)
		return nil, err
	}
	return h, nil
}

// Recover finds a task that this driver started. The tasks of an earlier agent ended with
// it.
func (d *Driver) Recover(_ context.Context, t *driver.Task) (driver.Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.tasks[t.ID]; h != nil {
		return h, nil
	}
	return nil, driver.ErrTaskLost
}
