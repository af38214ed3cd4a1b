// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package driver defines the interface between the node agent and the ways to run tasks.
// Each driver is a package below this one; the runner uses them only through the Driver and
// Handle interfaces.
//
// A driver keeps no state across agent restarts: Recover finds a task by its id.
package driver

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/beneath"
)

// ErrTaskLost is returned by Recover and Wait if the task's process ended and its exit was
// not observed.
var ErrTaskLost = errors.New("the task's process ended and its exit was not observed")

// ErrTaskUnknown is returned by Recover if the task was never started, or was destroyed.
var ErrTaskUnknown = errors.New("no such task")

// RecoverableError wraps an error of Start if another attempt may succeed: the restart policy
// decides. After other errors, attempts on this node are useless.
type RecoverableError struct{ Err error }

// Error returns the text of the wrapped error.
func (e *RecoverableError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *RecoverableError) Unwrap() error { return e.Err }

// A Driver runs tasks in one way. It is safe for concurrent use.
type Driver interface {
	// Name returns the driver's name in job files.
	Name() string
	// Fingerprint reports whether the driver can run tasks on this machine, and the
	// attributes to publish ("driver.exec" = "1", ...).
	Fingerprint(ctx context.Context) *api.DriverStatus
	// View returns the paths at which a task sees its directories, for use in the task's
	// environment. They differ from the host's paths if the driver gives tasks their own
	// root.
	View(Dir) Dir
	// Start starts a task. It returns when the task's process exists (exec has succeeded),
	// or with an error that a user understands.
	Start(ctx context.Context, t *Task) (Handle, error)
	// Recover finds a task that an earlier agent started.
	Recover(ctx context.Context, t *Task) (Handle, error)
}

// A Task describes one run of a task.
type Task struct {
	ID      string // unique per run on this node: ALLOC/TASK/RUN
	AllocID string
	JobID   string
	// JobNamespace is the namespace of the job.
	JobNamespace string
	Name         string
	Config       map[string]any // the job file's config block, interpolated
	Env          []string       // KEY=value, complete
	User         string         // name or uid; "" means the driver's default
	Dir          Dir
	Logs         Logs
	Resources    Limits
	KillSignal   string // as in api.Task
	Daemon       bool   // the processes that its main process leaves behind are the task
	// Mounts are volumes and other additions to what the task sees, in this order.
	Mounts []Mount
	// Devices are the device nodes of the devices that the task holds.
	Devices []Device
	// Network is the group's own network; nil: the task uses the network of the host.
	Network *Network
	// DNS configures the resolver of a task that uses the network of the host, and Resolver is the whole text
	// of its /etc/resolv.conf; nil and "": the host's.
	DNS      *api.DNS
	Resolver string
	// Ports are those of the node that the allocation has, by label.
	Ports []api.PortMapping
	// PinImage returns the digest that the task runs of an image with a tag. resolve asks the registry
	// which one the tag leads to now, and is called only for the first instance. It may be nil: images are
	// not pinned.
	PinImage func(ctx context.Context, image string, resolve func(context.Context) (string, error)) (string, error)
	// Own gives the files that the agent wrote for the task to its user. A driver whose users are not
	// those of the host calls it before the task starts; it may be nil.
	Own func(uid, gid int) error
	// Notify tells the user about a step of a long start; it may be nil. Each message of one start
	// replaces the one before, except the first.
	Notify func(message string)
	// Progress is Notify with the bytes that are done, of a total. Each call can become an entry in the servers' log: calls
	// are at least some seconds apart.
	Progress func(message string, done, total int64)
}

// A Mount makes a directory or file of the host visible in a task.
type Mount struct {
	Source      string // an absolute path of the host
	Target      string // an absolute path in the task's root
	ReadOnly    bool
	Propagation string // "private" (the same as ""), "host-to-task" or "bidirectional"
	Label       string // "z" or "Z": a Docker daemon labels the directory for SELinux, for all containers or for this one; "": not
	WithoutLink bool   // fails if Source contains a symbolic link: tasks can change the directories on the way
}

// A Device is a device node of the host that a task may open.
type Device struct {
	Source      string // an absolute path of the host
	Target      string // an absolute path below /dev, as the task sees it
	Permissions string // of "rwm": read, write, make other nodes of it
}

// Mode returns the permissions of a file that its owner may use in that way.
func (d Device) Mode() (mode uint32) {
	for i, bits := range map[string]uint32{"r": 0o400, "w": 0o200} {
		if strings.Contains(d.Permissions, i) {
			mode |= bits
		}
	}
	return mode
}

// Network describes the network that the tasks of a group share.
type Network struct {
	Namespace string // a path of the host that setns accepts
	Hostname  string // "": the driver's default
	Hosts     string // a file of the host for /etc/hosts; "": the driver's default
	Resolver  string // a file of the host for /etc/resolv.conf; "": the driver's default
}

// Dir holds a task's directories, as absolute paths of the host.
type Dir struct {
	Alloc   string // shared by the group's tasks: ALLOC_DIR/alloc
	Task    string // the task's own: ALLOC_DIR/TASK
	Local   string // Task/local
	Secrets string // Task/secrets
	Tmp     string // Task/tmp
}

// Logs describes the files of a task's output: PREFIX.0, PREFIX.1, ...; the highest number is
// the newest.
type Logs struct {
	Root         string `json:",omitempty"` // a directory above the files that no task can move or replace
	StdoutPrefix string // e.g. ROOT/alloc/logs/web.stdout
	StderrPrefix string
	MaxFiles     int
	MaxFileBytes int64
	Disabled     bool
}

// Dir opens the directory of the files.
func (l Logs) Dir() (*beneath.Dir, error) {
	dir := filepath.Dir(l.StdoutPrefix)
	above := l.Root
	if above == "" { // written by an earlier version: ROOT/alloc/logs/web.stdout
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

// Limits are the resource limits of a task. Zero means no limit.
type Limits struct {
	CPUShares   int64 // MHz; relative weight
	MemoryMB    int64 // reserved
	MemoryMaxMB int64 // hard limit; 0: MemoryMB, negative: none
	// Cores lists the only cores that the task may run on, as in "0-1,3".
	Cores string
}

// Exit describes the end of a task's process.
type Exit struct {
	Code      int       // exit code; 128+Signal if a signal ended it
	Signal    int       // the signal that ended it, or 0
	OOMKilled bool      // the kernel killed it for its memory use
	At        time.Time // when
	Err       error     // ErrTaskLost, or another reason why Code has no meaning
	// Background reports whether the main process had exited with code 0 before, and this is
	// the end of the processes that it left in the background.
	Background bool
}

// A Handle is one run of a task. It is safe for concurrent use.
type Handle interface {
	// PID returns the task's process id on the host; 0 if it has no process.
	PID() int
	// StartedAt returns when the process was started.
	StartedAt() time.Time
	// Wait blocks until the task has ended. It may be called repeatedly.
	Wait(ctx context.Context) (Exit, error)
	// Signal sends a signal, by name ("SIGHUP"), to the task's main process.
	Signal(ctx context.Context, name string) error
	// Stop sends the kill signal, and kills every process of the task after timeout. It
	// returns when all have ended.
	Stop(ctx context.Context, signal string, timeout time.Duration) error
	// Exec runs a command in the task's environment (directories, variables, isolation,
	// limits) and returns its exit code.
	Exec(ctx context.Context, e Exec) (int, error)
	// Stats returns the task's current usage.
	Stats(ctx context.Context) (Stats, error)
	// Destroy forgets an ended task whose exit was recorded.
	Destroy(ctx context.Context) error
}

// Exec describes a command to run beside a task.
type Exec struct {
	Argv   []string
	Env    []string // added to the task's
	TTY    bool
	Stdin  io.Reader // nil: empty
	Stdout io.Writer
	Stderr io.Writer // unused with TTY
	Resize <-chan Size
}

// Size is the size of a terminal, in characters.
type Size struct{ Rows, Cols int }

// Stats holds a task's usage.
type Stats struct {
	At        time.Time
	CPUTime   time.Duration // user and system time since its start
	RSSBytes  int64
	Processes int

	// Further measurements, which only cgroups have; 0 if unknown.
	UserTime, SystemTime                                            time.Duration
	ThrottledPeriods                                                uint64
	ThrottledTime                                                   time.Duration
	MemoryBytes, MaxMemoryBytes, CacheBytes, SwapBytes, KernelBytes int64
}
