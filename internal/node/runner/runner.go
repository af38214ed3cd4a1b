// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package runner carries one allocation from its arrival on the node to its
// end: directories, environment, tasks in the order of their lifecycles,
// restarts, checks, deployment health, and the events that tell about it.
//
// Decisions are pure functions (order.go, restart.go, status.go). A Runner's
// fields are guarded by one mutex; every task whose process may run has one
// goroutine, which starts it, waits for it, and starts it again. Whatever
// changes something under the mutex ends with settle, which acts upon the
// difference between what is and what should be.
//
// A runner never decides about other allocations and never talks to servers.
package runner

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/check"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/ledger"
)

// Host is what runners share: the node they run on.
type Host struct {
	Drivers map[string]driver.Driver // by the name that job files use
	Dirs    *allocdir.Tree
	Ledger  *ledger.Ledger
	Checks  *check.Scheduler
	Node    func() *api.Node
	Environ []string // the agent's environment
	Logger  *slog.Logger
	Context context.Context // ends with the agent; tasks go on
	// Changed is called when there is something to report to the servers; soon,
	// or at once when urgent. It must not block, and is called with locks held.
	Changed func(r *Runner, urgent bool)
}

// A Runner runs one allocation.
type Runner struct {
	host *Host
	id   string
	ctx  context.Context // the host's
	// loops are the task goroutines and those that stop tasks.
	loops sync.WaitGroup

	mu         sync.Mutex
	alloc      *api.Allocation // as the servers last sent it; never changed in place
	group      *api.Group
	tasks      []*task
	ending     *end
	begun      bool // Start or Resume was called; until then nothing starts
	delayed    bool // waits for the group's shutdown delay
	status     string
	words      string // the client description
	deployment *api.AllocDeploymentStatus
	health     *healthWatch      // of the deployment; nil when it is not open
	launched   *api.LaunchStatus // of the launches that are acted upon
	launching  *healthWatch      // of these; nil when it is not open
	checks     map[string]string // check id -> status
	probed     map[string]string // probe.key -> id of the check that was begun last
	passed     map[string]bool   // checks that passed when the last agent ended
	renewed    bool              // the job's newer version is being taken over, in place
	adopted    bool              // it was found running without a record
	serving    *api.Serving      // nil: nobody asks, or it was not said yet
	offered    *api.Job          // that serving's services were made of, ...
	canary     bool              // ... and as what
	crashes    *api.Crashes      // replaced, never changed in place; nil before the first
	limit      *time.Timer       // max_run_duration
	fenced     string            // why it was stopped without the servers; "" if it was not
	ended      chan struct{}     // closed when everything is dead
	modified   int64             // Unix nanoseconds
}

// New makes the runner of an allocation that arrived. Start runs it.
func New(h *Host, a *api.Allocation) *Runner {
	r := &Runner{host: h, id: a.ID, ctx: h.Context, alloc: a, status: api.AllocClientPending, words: describe(api.AllocClientPending),
		ended: make(chan struct{}), checks: map[string]string{}, probed: map[string]string{}, modified: time.Now().UnixNano()}
	r.group, r.crashes = groupOf(a), a.Crashes
	for _, spec := range r.group.Tasks {
		t := &task{r: r, name: spec.Name, spec: spec, wake: make(chan struct{}, 1), state: &api.TaskState{State: api.TaskStatePending}}
		t.tell(received())
		r.tasks = append(r.tasks, t)
	}
	if a.DeploymentStatus != nil {
		d := *a.DeploymentStatus
		r.deployment = &d
	}
	return r
}

// groupOf is the allocation's group; an empty one if its job does not have it,
// which the servers prevent.
func groupOf(a *api.Allocation) *api.Group {
	if a.Job != nil {
		if g := a.Job.Group(a.Group); g != nil {
			return g
		}
	}
	return &api.Group{Name: a.Group}
}

// Start runs the allocation's tasks. They outlive the host's context: at its
// end the runner only stops looking after them.
func (r *Runner) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
	r.watchHealth()
	r.advance()
	if !r.anyActive() { // else each task saves when it starts
		r.save()
	}
}

// Await says what comes before Start, which the servers are told.
func (r *Runner) Await(words string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.begun && r.ending == nil {
		r.words = words
		r.host.Changed(r, false)
	}
}

// ID is the allocation's id.
func (r *Runner) ID() string { return r.id }

// Ended is closed when all tasks are dead and none will start again.
func (r *Runner) Ended() <-chan struct{} { return r.ended }

// Wait waits for the runner's goroutines, once the host's context has ended
// or the allocation has.
func (r *Runner) Wait() { r.loops.Wait() }

// Allocation is the allocation as the servers last sent it.
func (r *Runner) Allocation() *api.Allocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alloc
}

// Report is what the servers are told of the allocation.
func (r *Runner) Report() *api.Allocation {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &api.Allocation{
		ID: r.id, Namespace: r.alloc.Namespace, NodeID: r.alloc.NodeID, JobID: r.alloc.JobID, Group: r.alloc.Group,
		ClientStatus: r.status, ClientDescription: r.words, ModifyTime: r.modified, DeploymentID: r.alloc.DeploymentID,
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
	return a
}

// Status is the allocation's client status.
func (r *Runner) Status() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// Stop ends the allocation. It returns at once; Ended tells when it is over.
func (r *Runner) Stop(why string, noDelay bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop(&end{why: cause{event: api.EventKilling, words: why}}, noDelay)
}

// stop is Stop with the mutex held.
func (r *Runner) stop(e *end, noDelay bool) {
	if r.ending != nil && !r.ending.restart {
		return
	}
	r.dropChecks()
	delay := r.group.ShutdownDelay
	if !noDelay && delay != nil && *delay > 0 && r.anyRunning() {
		if r.delayed {
			return
		}
		r.delayed = true
		for _, t := range r.tasks {
			if t.handle != nil {
				t.tell(message("Waiting %s before stopping the tasks (shutdown_delay of the group)", formatDelay(*delay)))
			}
		}
		r.serve() // traffic is to have gone elsewhere by then
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

func (r *Runner) anyRunning() bool {
	for _, t := range r.tasks {
		if t.handle != nil {
			return true
		}
	}
	return false
}

// advance acts upon what should happen next, until nothing should. The mutex is
// held.
func (r *Runner) advance() {
	for {
		r.applyLaunches()
		steps, e := decide(r.taskViews(), r.ending)
		r.ending = e
		if len(steps) == 0 {
			if !r.isRestarted() && r.watchServices() && r.isOrdered() {
				continue
			}
			break
		}
		for _, s := range steps {
			t := r.tasks[s.task]
			switch s.verb {
			case verbStart:
				t.stage, t.fresh = stageActive, true
				r.loops.Go(func() { t.loop(r.ctx, nil) })
			case verbSkip:
				t.skip(s.why)
			case verbStop:
				t.end(s.why)
			}
		}
	}
	if r.isRestarted() {
		r.again()
		return
	}
	r.judgeHealth()
	r.serve()
	r.deriveStatus()
}

// isRestarted reports whether the allocation's life is to begin again now.
func (r *Runner) isRestarted() bool { return r.ending != nil && r.ending.restart && r.allDead() }

// deriveStatus derives the allocation's status from its tasks.
func (r *Runner) deriveStatus() {
	status := clientStatus(r.taskViews())
	words := r.describe(status)
	if r.fenced != "" && r.allDead() {
		status, words = api.AllocClientLost, r.fenced
	}
	if status != r.status || words != r.words && (words == wordsHeld || r.words == wordsHeld) {
		r.status, r.words = status, words
		r.markModified()
		r.host.Changed(r, true)
	}
	if r.allDead() {
		select {
		case <-r.ended:
		default:
			r.dropChecks()
			r.health.stop()
			r.launching.stop()
			r.health, r.launching = nil, nil
			if r.limit != nil {
				r.limit.Stop()
			}
			r.loops.Go(func() {
				if err := r.host.Dirs.RemoveSecrets(r.id); err != nil {
					r.host.Logger.Warn("remove an allocation's secrets", "allocation", r.id, "error", err)
				}
			})
			close(r.ended)
		}
	}
}

// markModified notes that there is something new to tell; no two changes have one time.
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
		m[i] = t.member()
	}
	r.order(m)
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
