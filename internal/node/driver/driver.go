// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package driver says what the node agent asks of a way to run tasks. Each
// driver is a package below this one; the runner knows them only through the
// Driver and Handle interfaces.
//
// A driver keeps no state of its own across agent restarts: a task is found
// again by its id, with Recover.
package driver

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
)

// ErrTaskLost is returned by Recover and Wait when the task's process is gone
// and nobody saw how it ended.
var ErrTaskLost = errors.New("the task's process is gone and its exit was not seen")

// ErrTaskUnknown is returned by Recover when no such task was ever started, or
// it was destroyed.
var ErrTaskUnknown = errors.New("no such task")

// RecoverableError wraps an error of Start after which another attempt may
// succeed: the restart policy decides. After other errors it does not matter
// how often one tries.
type RecoverableError struct{ Err error }

// Error is that of the wrapped error.
func (e *RecoverableError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *RecoverableError) Unwrap() error { return e.Err }

// A Driver runs tasks in one way. It is safe for concurrent use.
type Driver interface {
	// Name is what job files call it.
	Name() string
	// Fingerprint says whether it can run tasks on this machine, with the
	// attributes to publish ("driver.exec" = "1", ...).
	Fingerprint(ctx context.Context) *api.DriverStatus
	// View says where a task sees its directories: for a driver with a root of
	// its own elsewhere than on the host. It is what the task's environment must
	// name.
	View(Dir) Dir
	// Start starts a task. It returns when the task's process exists (exec has
	// succeeded), or with an error that a user understands.
	Start(ctx context.Context, t *Task) (Handle, error)
	// Recover finds a task that an earlier agent started.
	Recover(ctx context.Context, t *Task) (Handle, error)
}

// A Task is all that a driver needs to start one run of one task.
type Task struct {
	ID         string // unique per run on this node: ALLOC/TASK/RUN
	AllocID    string
	Name       string
	Config     map[string]any // the job file's config block, interpolated
	Env        []string       // KEY=value, complete
	User       string         // name or uid; "" is the driver's default
	Dir        Dir
	Logs       Logs
	Resources  Limits
	KillSignal string // as in api.Task
	Daemon     bool   // what its process leaves behind is the task from then on
}

// Dir is a task's directories, as absolute paths of the host.
type Dir struct {
	Alloc   string // shared by the group's tasks: ALLOC_DIR/alloc
	Task    string // the task's own: ALLOC_DIR/TASK
	Local   string // Task/local
	Secrets string // Task/secrets
	Tmp     string // Task/tmp
}

// Logs says where a task's output goes: PREFIX.0, PREFIX.1, ... the highest
// number is the newest.
type Logs struct {
	Root         string `json:",omitempty"` // a directory above the files that no task can move or replace
	StdoutPrefix string // e.g. ROOT/alloc/logs/web.stdout
	StderrPrefix string
	MaxFiles     int
	MaxFileBytes int64
	Disabled     bool
}

// Dir opens the directory that the files are in.
func (l Logs) Dir() (*beneath.Dir, error) {
	dir := filepath.Dir(l.StdoutPrefix)
	above := l.Root
	if above == "" { // of tasks that an earlier version started: ROOT/alloc/logs/web.stdout
		above = filepath.Dir(filepath.Dir(dir))
	}
	below, err := filepath.Rel(above, dir)
	if err != nil {
		return nil, err
	}
	root, err := beneath.Open(above)
	if err != nil || below == "." {
		return root, err
	}
	defer root.Close()
	return root.Dir(below)
}

// Limits bound a task. Zero is no limit.
type Limits struct {
	CPUShares   int64 // MHz; relative weight
	MemoryMB    int64 // reserved
	MemoryMaxMB int64 // hard limit; 0: MemoryMB, negative: none
	// Cores are the only ones that the task may run on, as in "0-1,3".
	Cores string
}

// Exit is how a task's process ended.
type Exit struct {
	Code      int       // exit code; 128+Signal when a signal ended it
	Signal    int       // the signal that ended it, or 0
	OOMKilled bool      // the kernel killed it for its memory
	At        time.Time // when
	Err       error     // ErrTaskLost, or another reason why Code means nothing
	// Background: its process had ended before, with 0; this is the end of what it
	// left in the background.
	Background bool
}

// A Handle is one run of a task. It is safe for concurrent use.
type Handle interface {
	// PID is the task's process id on the host; 0 when there is none.
	PID() int
	// StartedAt is when the process was started.
	StartedAt() time.Time
	// Wait blocks until the task ended. It may be called many times.
	Wait(ctx context.Context) (Exit, error)
	// Signal sends a signal, by name ("SIGHUP"), to the task's main process.
	Signal(ctx context.Context, name string) error
	// Stop sends the kill signal, and after timeout ends every process of the
	// task by force. It returns when none is left.
	Stop(ctx context.Context, signal string, timeout time.Duration) error
	// Exec runs a command in the task's surroundings (directories, environment,
	// isolation, limits) and returns its exit code.
	Exec(ctx context.Context, e Exec) (int, error)
	// Stats measures the task now.
	Stats(ctx context.Context) (Stats, error)
	// Destroy forgets the task: nothing of it runs, and its exit was recorded.
	Destroy(ctx context.Context) error
}

// Exec is a command to run beside a task.
type Exec struct {
	Argv   []string
	Env    []string // added to the task's
	TTY    bool
	Stdin  io.Reader // nil: empty
	Stdout io.Writer
	Stderr io.Writer // unused with TTY
	Resize <-chan Size
}

// Size is a terminal's size in characters.
type Size struct{ Rows, Cols int }

// Stats is what a task uses.
type Stats struct {
	At        time.Time
	CPUTime   time.Duration // user and system, since its start
	RSSBytes  int64
	Processes int
}
