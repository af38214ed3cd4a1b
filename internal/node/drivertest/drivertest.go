// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package drivertest is a driver for tests of code that uses drivers: its processes are
// numbers, and end when the test ends them.
package drivertest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// A Driver keeps its processes as long as the test wants, as the supervisor does across
// agents.
type Driver struct {
	// Starting, if set, is called before a process starts, and may reject it.
	Starting func(*driver.Task) error

	mu        sync.Mutex
	processes map[string]*Process
	started   []*Process
	changed   chan struct{}
	script    func(argv []string) int
}

// New makes a driver without processes.
func New() *Driver {
	return &Driver{processes: map[string]*Process{}, changed: make(chan struct{})}
}

// A Process is one run of a task.
type Process struct {
	Task *driver.Task

	signals  []string
	d        *Driver
	pid      int
	at       time.Time
	exit     driver.Exit
	done     chan struct{}
	stubborn bool
	script   func(argv []string) int
}

// Name returns "fake".
func (d *Driver) Name() string { return "fake" }

// Fingerprint returns a healthy status.
func (d *Driver) Fingerprint(context.Context) *api.DriverStatus {
	return &api.DriverStatus{Detected: true, Healthy: true, Attributes: map[string]string{"driver.fake": "1"}}
}

// View returns dir.
func (d *Driver) View(dir driver.Dir) driver.Dir { return dir }

// Start makes a process.
func (d *Driver) Start(_ context.Context, t *driver.Task) (driver.Handle, error) {
	if d.Starting != nil {
		if err := d.Starting(t); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &Process{Task: t, d: d, pid: 1000 + len(d.started), at: time.Now(), done: make(chan struct{}), script: d.script}
	d.processes[t.ID] = p
	d.started = append(d.started, p)
	close(d.changed)
	d.changed = make(chan struct{})
	return p, nil
}

// Recover finds a process.
func (d *Driver) Recover(_ context.Context, t *driver.Task) (driver.Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.processes[t.ID]; p != nil {
		return p, nil
	}
	return nil, driver.ErrTaskUnknown
}

// Kept returns the ids of the processes that were not destroyed.
func (d *Driver) Kept(context.Context) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.processes)), nil
}

// TaskIn returns the id of the process whose PID is the group's id.
func (d *Driver) TaskIn(group uint64) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, p := range d.processes {
		if uint64(p.PID()) == group {
			return id
		}
	}
	return ""
}

// End stops a process and forgets it.
func (d *Driver) End(ctx context.Context, id string, timeout time.Duration) error {
	d.mu.Lock()
	p := d.processes[id]
	d.mu.Unlock()
	if p == nil {
		return nil
	}
	if err := p.Stop(ctx, "SIGTERM", timeout); err != nil {
		return err
	}
	return p.Destroy(ctx)
}

// Started returns all processes that were ever started, in order.
func (d *Driver) Started() []*Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*Process{}, d.started...)
}

// Running returns the names of the tasks with a process, in the order of their starts.
func (d *Driver) Running() []string {
	var names []string
	for _, p := range d.Started() {
		select {
		case <-p.done:
		default:
			names = append(names, p.Task.Name)
		}
	}
	return names
}

// Wait waits until n processes were started, and returns the last of them.
func (d *Driver) Wait(n int) *Process {
	for {
		d.mu.Lock()
		changed := d.changed
		if len(d.started) >= n {
			p := d.started[n-1]
			d.mu.Unlock()
			return p
		}
		d.mu.Unlock()
		<-changed
	}
}

// Process returns the running process of a task, or nil.
func (d *Driver) Process(task string) *Process {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := len(d.started) - 1; i >= 0; i-- {
		if p := d.started[i]; p.Task.Name == task {
			select {
			case <-p.done:
			default:
				return p
			}
		}
	}
	return nil
}

// Remember undoes Destroy.
func (d *Driver) Remember(p *Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.processes[p.Task.ID] = p
}

// Forget loses all processes, as a killed supervisor does.
func (d *Driver) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.processes)
}

// Exit ends the process.
func (p *Process) Exit(code int) { p.end(driver.Exit{Code: code}) }

// IgnoreSignals makes the process ignore all signals except SIGKILL.
func (p *Process) IgnoreSignals() {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.stubborn = true
}

func (p *Process) end(x driver.Exit) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	select {
	case <-p.done:
		return
	default:
	}
	x.At = time.Now()
	p.exit = x
	close(p.done)
}

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID returns the process's number.
func (p *Process) PID() int { return p.pid }

// StartedAt returns when Start was called.
func (p *Process) StartedAt() time.Time { return p.at }

// Wait waits for Exit or Stop.
func (p *Process) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-p.done:
		return p.exit, nil
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// Signals returns the received signals, in order.
func (p *Process) Signals() []string {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	return append([]string(nil), p.signals...)
}

// Signal records the signal.
func (p *Process) Signal(_ context.Context, name string) error {
	if name == "SIGNONE" {
		return errors.New("unknown signal SIGNONE")
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.signals = append(p.signals, name)
	return nil
}

// Stop ends the process, immediately or after the timeout.
func (p *Process) Stop(ctx context.Context, signal string, timeout time.Duration) error {
	p.Signal(ctx, signal)
	p.d.mu.Lock()
	stubborn := p.stubborn
	p.d.mu.Unlock()
	if stubborn {
		select {
		case <-time.After(timeout):
			p.end(driver.Exit{Code: 137, Signal: 9})
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		return nil
	}
	p.end(driver.Exit{Code: 130, Signal: 2})
	return nil
}

// Script sets the exit codes of commands in all processes that start later, as
// Process.Script does for one.
func (d *Driver) Script(exit func(argv []string) int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.script = exit
}

// Script sets the exit codes of commands in the process. exit is called concurrently.
func (p *Process) Script(exit func(argv []string) int) {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.script = exit
}

// Exec returns the exit code from Script, or else the length of the command.
func (p *Process) Exec(_ context.Context, e driver.Exec) (int, error) {
	p.d.mu.Lock()
	script := p.script
	p.d.mu.Unlock()
	if script != nil {
		return script(e.Argv), nil
	}
	for _, arg := range e.Argv {
		if _, err := e.Stdout.Write([]byte(arg + "\n")); err != nil {
			return 0, err
		}
	}
	return len(e.Argv) - 1, nil
}

// Stats returns constants.
func (p *Process) Stats(context.Context) (driver.Stats, error) {
	return driver.Stats{At: time.Now(), CPUTime: time.Second, RSSBytes: 1 << 20, Processes: 1}, nil
}

// Destroy forgets the process.
func (p *Process) Destroy(context.Context) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	delete(p.d.processes, p.Task.ID)
	return nil
}
