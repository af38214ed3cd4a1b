// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// A Process is the agent's view of a task's process. It implements driver.Handle except for
// Exec, which needs a driver's knowledge of the task.
type Process struct {
	c     *Client
	id    string
	group string        // name of its control group, if it has one
	done  chan struct{} // closed when exit is set
	gone  chan struct{} // closed when its first process has ended, not later than done

	status atomic.Pointer[Status]
	exit   *ExitState // guarded by Client.mu until done is closed
}

func (p *Process) started() bool { return p.status.Load() != nil }

func (p *Process) begin(st Status) error {
	exit := st.Exit
	st.Exit = nil
	if old := p.status.Load(); old != nil && old.Background { // the event arrived before the answer
		st.Background = true
	}
	p.status.Store(&st)
	if st.Background {
		p.c.mu.Lock()
		p.leave(st)
		p.c.mu.Unlock()
	}
	if exit != nil {
		p.c.mu.Lock()
		defer p.c.mu.Unlock()
		p.end(exit)
	}
	return nil
}

// end records the exit, once. The caller holds Client.mu.
func (p *Process) end(e *ExitState) {
	if p.exit == nil {
		p.exit = e
		close(p.done)
		var st Status
		if known := p.status.Load(); known != nil {
			st = *known
		}
		p.leave(st)
	}
}

// leave records the end of the first process. The caller holds Client.mu.
func (p *Process) leave(st Status) {
	select {
	case <-p.gone:
	default:
		if st.ID != "" {
			p.status.Store(&st)
		}
		close(p.gone)
	}
}

// Background waits until the first process of a daemon has ended. It reports whether the
// daemon continues with other processes.
func (p *Process) Background(ctx context.Context) bool {
	select {
	case <-p.gone:
		return p.status.Load().Background
	case <-ctx.Done():
		return false
	}
}

// PID returns the process id on the host.
func (p *Process) PID() int { return p.status.Load().PID }

// StartedAt returns when the process was started.
func (p *Process) StartedAt() time.Time { return p.status.Load().StartedAt }

// Wait blocks until all processes of the task have ended and their output is in its files.
func (p *Process) Wait(ctx context.Context) (driver.Exit, error) {
	select {
	case <-p.done:
		e := p.exit.exit()
		return e, e.Err
	case <-ctx.Done():
		return driver.Exit{}, ctx.Err()
	}
}

// Signal sends a signal, by name, to the main process.
func (p *Process) Signal(ctx context.Context, name string) error {
	sig, err := parseSignal(name)
	if err != nil {
		return err
	}
	return p.c.call(ctx, verbSignal, taskRequest{ID: p.id, Signal: int(sig)}, nil, nil)
}

// Stop sends the signal ("" means SIGTERM), and kills every process of the task after the
// timeout. It returns when none is left. If ctx or the agent ends first, the supervisor
// completes the stop.
func (p *Process) Stop(ctx context.Context, signal string, timeout time.Duration) error {
	sig := unix.SIGTERM
	if signal != "" {
		var err error
		if sig, err = parseSignal(signal); err != nil {
			return err
		}
	}
	return p.c.call(ctx, verbStop, taskRequest{ID: p.id, Signal: int(sig), Timeout: timeout}, nil, nil)
}

// Destroy forgets an ended task.
func (p *Process) Destroy(ctx context.Context) error {
	err := p.c.call(ctx, verbDestroy, taskRequest{ID: p.id}, nil, nil)
	if err == nil || err == driver.ErrTaskUnknown {
		p.c.mu.Lock()
		defer p.c.mu.Unlock()
		if p.c.procs[p.id] == p {
			delete(p.c.procs, p.id)
		}
		return nil
	}
	return err
}
