// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package runner runs one allocation from its arrival on the node to its end: directories,
// environment, tasks in the order of their lifecycles, restarts, checks, deployment health,
// and the events that describe all of these.
//
// Decisions are pure functions (order.go, restart.go, status.go). One mutex guards a
// Runner's fields. Every task whose process may run has one goroutine, which starts it,
// waits for it, and restarts it. Every change under the mutex ends with a call of advance,
// which takes the steps from the actual to the desired state.
//
// A runner never decides about other allocations and never talks to servers.
package runner

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/check"
	"github.com/reeve-run/reeve/internal/node/device"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/node/taskenv"
	"github.com/reeve-run/reeve/internal/node/templates"
)

// Host holds the parts of the node that runners share.
type Host struct {
	Drivers map[string]driver.Driver // by their names in job files
	Dirs    *allocdir.Tree
	// Devices returns what a task gets for the devices that it holds; nil: their ids alone.
	Devices func(held []*api.AllocatedDevice) (device.Edits, error)
	Ledger  *ledger.Ledger
	Checks  *check.Scheduler
	Node    func() *api.Node
	Environ []string // the agent's environment
	Traffic taskenv.Traffic
	// Dial connects to an instance for its warm-up; default: over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Identity returns the signed token of a task; nil: the servers sign none.
	Identity func(ctx context.Context, r *api.IdentityRequest) (*api.IdentityResponse, error)
	// Secrets reads the values of secret blocks; nil: the node reads none.
	Secrets Secrets
	// Artifacts fetches the artifacts of tasks; nil: the node fetches none.
	Artifacts Artifacts
	// Templates keeps the values of templates; nil: the node renders none.
	Templates *templates.Watcher
	// Serve serves the API on the socket of a task until stop is called; nil: tasks have no socket.
	Serve func(alloc, task string, l net.Listener) (stop func())
	// Volume returns the directory of a dynamic volume of this node, once it exists; nil: it has none.
	Volume func(ctx context.Context, id string) (string, error)
	// Pin asks the servers which digest a version's instances run; nil: they pin no images.
	Pin func(ctx context.Context, r *api.ImagePinRequest) (*api.ImagePinResponse, error)
	// Networks makes the networks of groups that have their own; nil: this node has none.
	Networks Networks
	// Resolver returns the /etc/resolv.conf of tasks that use the node's network with the given settings.
	Resolver func(*api.DNS) string
	Logger   *slog.Logger
	Context  context.Context // ends with the agent; tasks outlive it
	// Changed is called when the servers need a report of the runner: soon, or immediately
	// if urgent. It must not block, and is called with locks held.
	Changed func(r *Runner, urgent bool)
}

// A Runner runs one allocation.
type Runner struct {
	host *Host
	id   string
	ctx  context.Context // Host.Context
	// loops are the goroutines that run and stop tasks.
	loops sync.WaitGroup

	mu                sync.Mutex
	alloc             *api.Allocation // latest version from the servers; never changed in place
	group             *api.Group
	tasks             []*task
	ending            *end
	started           bool // Start or Resume was called; nothing starts before
	delayed           bool // waiting for the group's shutdown delay
	status            string
	description       string // client description
	deployment        *api.AllocDeploymentStatus
	health            *healthWatch      // of the deployment; nil once decided
	launched          *api.LaunchStatus // verdict on the launches that the tasks follow
	launching         *healthWatch      // of the launches; nil once decided
	checks            map[string]string // check id -> status
	probed            map[string]string // probe.key -> id of the check that was started last
	previouslyPassing map[string]bool   // checks that passed when the previous agent ended
	updatingInPlace   bool              // a new version of the job is being applied in place
	adopted           bool              // found running without a record
	serving           *api.Serving      // nil before the first verdict, or if the servers need none
	registeredJob     *api.Job          // job that serving's services were made from
	registeredCanary  bool              // reports whether they were made for a canary
	crashes           *api.Crashes      // replaced, never changed in place; nil before the first
	limit             *time.Timer       // max_run_duration
	warm              *warmUp           // of the running tasks; nil before it starts
	fenced            string            // why it was stopped without the servers; "" otherwise
	ended             chan struct{}     // closed when all tasks are dead
	modified          int64             // Unix nanoseconds
}

// New makes a runner for an allocation that has arrived. Start starts it.
func New(h *Host, a *api.Allocation) *Runner {
	r := &Runner{host: h, id: a.ID, ctx: h.Context, alloc: a, status: api.AllocClientPending, description: describe(api.AllocClientPending),
		ended: make(chan struct{}), checks: map[string]string{}, probed: map[string]string{}, modified: time.Now().UnixNano()}
	r.group, r.crashes = groupOf(a), a.Crashes
	for _, spec := range r.group.Tasks {
		t := &task{r: r, name: spec.Name, spec: spec, wake: make(chan struct{}, 1), state: &api.TaskState{State: api.TaskStatePending}}
		t.addEvent(received())
		r.tasks = append(r.tasks, t)
	}
	if a.DeploymentStatus != nil {
		d := *a.DeploymentStatus
		r.deployment = &d
	}
	return r
}

// groupOf returns the allocation's group; an empty one if its job lacks it, which the servers
// prevent.
func groupOf(a *api.Allocation) *api.Group {
	if a.Job != nil {
		if g := a.Job.Group(a.Group); g != nil {
			return g
		}
	}
	return &api.Group{Name: a.Group}
}

// Start starts the allocation's tasks. They outlive the host's context: when it ends, the
// runner stops watching them.
func (r *Runner) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = true
	r.watchHealth()
	r.advance()
	if !r.hasActiveTask() { // otherwise each task saves when it starts
		r.save()
	}
}

// SetWaiting sets the description that servers receive until Start is called.
func (r *Runner) SetWaiting(words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started && r.ending == nil {
		r.description = words
		r.host.Changed(r, false)
	}
}

// IsWaiting reports whether the allocation waits for others before it starts.
func (r *Runner) IsWaiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.started && r.ending == nil
}

// ID returns the allocation's id.
func (r *Runner) ID() string { return r.id }

// Ended returns a channel that is closed when all tasks are dead and none will start again.
func (r *Runner) Ended() <-chan struct{} { return r.ended }

// Wait waits for the runner's goroutines. Call it after the host's context or the allocation
// has ended.
func (r *Runner) Wait() { r.loops.Wait() }

// Allocation returns the latest version of the allocation from the servers.
func (r *Runner) Allocation() *api.Allocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alloc
}

// Report returns the node's report of the allocation for the servers.
func (r *Runner) Report() *api.Allocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &api.Allocation{
		ID: r.id, Namespace: r.alloc.Namespace, NodeID: r.alloc.NodeID, JobID: r.alloc.JobID, Group: r.alloc.Group,
		ClientStatus: r.status, ClientDescription: r.description, ModifyTime: r.modified, DeploymentID: r.alloc.DeploymentID,
		TaskStates: make(map[string]*api.TaskState, len(r.tasks)),
	}
	for _, t := range r.tasks {
		a.TaskStates[t.name] = t.state
	}
	if r.deployment != nil && !r.isManual() {
		d := *r.deployment
		a.DeploymentStatus = &d
	}
	if r.launched != nil {
		l := *r.launched
		a.LaunchStatus = &l
	}
	a.Serving, a.Crashes = r.serving, r.crashes
	a.NetworkStatus = r.alloc.NetworkStatus
	return a
}

// Status returns the allocation's client status.
func (r *Runner) Status() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Stop ends the allocation. It returns immediately; Ended is closed at the end.
func (r *Runner) Stop(why string, noDelay bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop(&end{why: cause{event: api.EventKilling, message: why}}, noDelay)
}

// stop ends the allocation. The mutex is held.
func (r *Runner) stop(e *end, noDelay bool) {
	if r.ending != nil && !r.ending.restart {
		return
	}
	r.removeChecks()
	delay := r.group.ShutdownDelay
	if !noDelay && delay != nil && *delay > 0 && r.hasRunningTask() {
		if r.delayed {
			return
		}
		r.delayed = true
		for _, t := range r.tasks {
			if t.handle != nil {
				t.addEvent(message("Waiting %s before stopping the tasks (shutdown_delay of the group)", formatDelay(*delay)))
			}
		}
		r.updateServing() // divert traffic during the delay
		r.host.Changed(r, true)
		r.loops.Go(func() {
			select {
			case <-time.After(*delay):
			case <-r.ended:
			case <-r.ctx.Done():
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.delayed = false
			r.stop(e, true)
		})
		return
	}
	r.ending = e
	r.advance()
	r.save()
}

func (r *Runner) hasRunningTask() bool {
	for _, t := range r.tasks {
		if t.handle != nil {
			return true
		}
	}
	return false
}

// advance takes the steps from the actual to the desired state until none is left. The mutex
// is held.
func (r *Runner) advance() {
	for {
		r.applyLaunches()
		steps, e := decide(r.taskViews(), r.ending)
		r.ending = e
		if len(steps) == 0 {
			if !r.isRestarted() && r.updateChecks() && r.hasOrderedTasks() {
				continue
			}
			break
		}
		for _, s := range steps {
			t := r.tasks[s.task]
			switch s.verb {
			case verbStart:
				t.stage, t.startPending = stageActive, true
				r.loops.Go(func() { t.loop(r.ctx, nil) })
			case verbSkip:
				t.skip(s.why)
			case verbStop:
				t.kill(s.why)
			}
		}
	}
	if r.isRestarted() {
		r.restartAllocation()
		return
	}
	r.judgeHealth()
	r.updateServing()
	r.deriveStatus()
}

// isRestarted reports whether all tasks have ended and the allocation must start again.
func (r *Runner) isRestarted() bool { return r.ending != nil && r.ending.restart && r.allDead() }

// deriveStatus derives the allocation's status from its tasks.
func (r *Runner) deriveStatus() {
	status := clientStatus(r.taskViews())
	words := r.describe(status)
	if r.fenced != "" && r.allDead() {
		status, words = api.AllocClientLost, r.fenced
	}
	if status != r.status || words != r.description && (words == heldDescription || r.description == heldDescription) {
		r.status, r.description = status, words
		r.markModified()
		r.host.Changed(r, true)
	}
	if r.allDead() {
		select {
		case <-r.ended:
		default:
			r.removeChecks()
			r.warm.stop()
			r.health.stop()
			r.launching.stop()
			r.health, r.launching = nil, nil
			if r.limit != nil {
				r.limit.Stop()
			}
			removeNetwork := r.releaseNetwork()
			r.loops.Go(func() {
				removeNetwork()
				if err := r.host.Dirs.RemoveSecrets(r.id); err != nil {
					r.host.Logger.Warn("cannot remove an allocation's secrets", "allocation", r.id, "error", err)
				}
			})
			close(r.ended)
		}
	}
}

// markModified advances the time of the last change. Every change gets a distinct time.
func (r *Runner) markModified() { r.modified = max(time.Now().UnixNano(), r.modified+1) }

func (r *Runner) allDead() bool {
	for _, t := range r.tasks {
		if t.stage != stageDead {
			return false
		}
	}
	return true
}

func (r *Runner) taskViews() []taskView {
	m := make([]taskView, len(r.tasks))
	for i, t := range r.tasks {
		m[i] = t.view()
	}
	r.resolveOrder(m)
	return m
}

func (r *Runner) task(name string) *task {
	for _, t := range r.tasks {
		if t.name == name {
			return t
		}
	}
	return nil
}
