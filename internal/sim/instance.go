// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// An instance is one allocation on a simulated node. A run has millions: every field is as small as
// it can be.
type instance struct {
	id       string
	job      *job
	group    *group
	ask      *[dimensions]int64 // that of its group, unless the server chose another one
	launches *api.Launches      // launches of its tasks; nil: all run

	runFor  time.Duration // drawn for the current run
	arrived moment
	started moment
	ended   moment

	index    int32 // of its name JOB.GROUP[INDEX]
	first    int32 // 1 + its position in the node's placed; 0 if it replaces another
	restarts int32
	run      int32 // number of starts; appointments of earlier ones are void

	current  phase
	said     phase // in the report in flight
	reported phase // the last one that the servers acknowledged
	health   verdict

	fails      bool // drawn for the current run
	stopping   bool
	deployment bool // reports whether its health is awaited
	holds      bool // reports whether it holds resources
	marked     bool // reports whether it is among those to report
}

// A moment is a time in Unix nanoseconds; 0: never.
type moment int64

func (m moment) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(m))
}

// A phase is a client status.
type phase uint8

const (
	unknown phase = iota
	pending
	running
	complete
	failed
)

var phases = [...]string{"", api.AllocClientPending, api.AllocClientRunning, api.AllocClientComplete, api.AllocClientFailed}

func (p phase) String() string { return phases[p] }

// A verdict is a reported health.
type verdict uint8

const (
	unheard verdict = iota
	healthy
	unhealthy
)

// status returns the client status of the instance.
func (inst *instance) status() string { return inst.current.String() }

// instanceName returns a name that is unique among all jobs.
func (inst *instance) instanceName() string {
	return fmt.Sprintf("%s\x00%s\x00%d", inst.job.spec.ID, inst.group.spec.Name, inst.index)
}

// Kinds of appointments.
const (
	doStart = iota
	doEnd
	doStop
	doHealthy
)

// An appointment is a future action of an instance.
type appointment struct {
	at   time.Time
	inst *instance
	run  int32
	what int32
}

// arrange schedules an action of an instance, or does it immediately if it is due.
func (n *node) arrange(inst *instance, what int32, in time.Duration, now time.Time) {
	if in <= 0 {
		n.do(inst, what, now)
		return
	}
	n.agenda.Push(appointment{now.Add(in), inst, inst.run, what})
	if n.run.awaits(inst, what) {
		n.run.busy.Add(1)
	}
}

// drop clears the agenda.
func (n *node) drop() {
	for _, a := range n.agenda.Items {
		if n.run.awaits(a.inst, a.what) {
			n.run.busy.Add(-1)
		}
	}
	n.agenda.Clear()
}

// keep does the actions that are due.
func (n *node) keep(now time.Time) {
	for n.agenda.Len() > 0 && !n.agenda.Items[0].at.After(now) {
		a := n.agenda.Pop()
		if n.run.awaits(a.inst, a.what) {
			n.run.busy.Add(-1)
		}
		if a.run == a.inst.run && n.instances[a.inst.id] == a.inst {
			n.do(a.inst, a.what, now)
		}
	}
}

func (n *node) do(inst *instance, what int32, now time.Time) {
	switch what {
	case doStart:
		n.start(inst, now)
	case doEnd:
		n.end(inst, now)
	case doStop:
		n.finish(inst, complete, now)
	case doHealthy:
		n.setHealth(inst, healthy)
	}
}

// begin starts the first run of an instance.
func (n *node) begin(inst *instance, now time.Time) {
	inst.run++
	n.arrange(inst, doStart, n.draw(inst), now)
}

// draw draws the next run of an instance, and returns the delay until it starts.
func (n *node) draw(inst *instance) time.Duration {
	l := inst.group.behaviour.draw(n.rng)
	inst.runFor, inst.fails = l.runFor, l.fails
	return l.start
}

func (n *node) start(inst *instance, now time.Time) {
	if inst.group.behaviour.startFail {
		n.end(inst, now)
		return
	}
	inst.started = moment(now.UnixNano())
	n.set(inst, running)
	if b := inst.group.behaviour; inst.deployment && inst.health == unheard && b.healthy >= 0 {
		n.arrange(inst, doHealthy, b.healthy, now)
	}
	if inst.runFor >= 0 && inst.current == running {
		n.arrange(inst, doEnd, inst.runFor, now)
	}
}

// end handles the end of a run by itself: the instance completes, restarts or fails.
func (n *node) end(inst *instance, now time.Time) {
	b := inst.group.behaviour
	switch {
	case !inst.fails && !b.startFail && b.batch:
		n.finish(inst, complete, now)
	case int(inst.restarts) < b.restarts:
		inst.restarts++
		inst.run++
		start := n.draw(inst)
		n.set(inst, pending)
		n.arrange(inst, doStart, b.delay+start, now)
	default:
		n.setHealth(inst, unhealthy)
		n.finish(inst, failed, now)
	}
}

func (n *node) finish(inst *instance, p phase, now time.Time) {
	inst.run++
	inst.ended = moment(now.UnixNano())
	n.set(inst, p)
	n.release(inst)
}

func (n *node) setHealth(inst *instance, v verdict) {
	if inst.deployment && inst.health == unheard && !inst.isPartial() {
		inst.health = v
		n.mark(inst)
	}
}

func (n *node) set(inst *instance, p phase) {
	inst.current = p
	n.mark(inst)
}

// mark notes that the instance must be reported.
func (n *node) mark(inst *instance) {
	if !inst.marked {
		inst.marked = true
		n.marked = append(n.marked, inst)
	}
}

// reports returns the reports of instances, as an agent sends them. Instances that started and
// ended at the same time share their tasks' states.
func reports(instances []*instance) []*api.Allocation {
	list := make([]api.Allocation, len(instances))
	all := make([]*api.Allocation, len(instances))
	var last *instance
	for i, inst := range instances {
		inst.report(&list[i])
		all[i] = &list[i]
		if last != nil && last.isLike(inst) {
			list[i].TaskStates = list[i-1].TaskStates
		} else {
			list[i].TaskStates = inst.taskStates()
		}
		last = inst
	}
	return all
}

func (inst *instance) isLike(other *instance) bool {
	return inst.launches == nil && other.launches == nil && inst.group == other.group && inst.current == other.current && inst.restarts == other.restarts &&
		inst.arrived == other.arrived && inst.started == other.started && inst.ended == other.ended
}

func (inst *instance) report(a *api.Allocation) {
	a.ID, a.ClientStatus = inst.id, inst.status()
	switch inst.current {
	case pending:
		a.ClientDescription = "No task has started"
	case running:
		a.ClientDescription = "Running"
	case complete:
		a.ClientDescription = "All tasks have ended"
	case failed:
		a.ClientDescription = "A task failed"
	}
	if inst.job.spec.Stack != nil && inst.current == running {
		a.Serving = &api.Serving{Up: true, Routable: true} // checks are not simulated
	}
	if l := inst.launches; l != nil {
		a.LaunchStatus = &api.LaunchStatus{ID: l.ID, Timestamp: time.Now()}
		if inst.current == running {
			a.LaunchStatus.Healthy = new(bool)
			*a.LaunchStatus.Healthy = true
		}
	}
	if inst.health != unheard {
		isHealthy := inst.health == healthy
		a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: &isHealthy, Timestamp: time.Now()}
	}
}

func (inst *instance) taskStates() map[string]*api.TaskState {
	states := make(map[string]*api.TaskState, len(inst.group.behaviour.tasks))
	for _, name := range inst.group.behaviour.tasks {
		s := inst.taskState()
		if inst.launches != nil && inst.launches.Tasks[name] != nil {
			follow(s, inst.launches.Tasks[name])
		}
		if t := inst.group.spec.Task(name); t != nil && (t.Goal == api.GoalFinish || t.Goal == api.GoalOnce) {
			reach(s)
		}
		states[name] = s
	}
	return states
}

// follow sets a task's state to that after its launch.
func follow(s *api.TaskState, l *api.Launch) {
	s.Launch = l.Token
	switch {
	case s.State == api.TaskStateDead:
	case l.Done:
		s.State = api.TaskStateDead
	case l.Hold || l.Token == "":
		s.State = api.TaskStatePending
	}
}

// reach sets the state of a running task with an end to that of a finished one.
func reach(s *api.TaskState) {
	if s.State == api.TaskStateRunning {
		s.State, s.FinishedAt = api.TaskStateDead, time.Now()
		s.Events = append(s.Events, &api.TaskEvent{Type: api.EventTerminated, Time: s.FinishedAt.UnixNano(), DisplayMessage: "The run has ended"})
	}
}

// isPartial reports whether a task awaits its launch or is held, so that the instance has no
// health.
func (inst *instance) isPartial() bool {
	if inst.launches == nil {
		return false
	}
	for _, l := range inst.launches.Tasks {
		if l.Await || l.Hold && !l.Alone {
			return true
		}
	}
	return false
}

func (inst *instance) taskState() *api.TaskState {
	s := &api.TaskState{State: api.TaskStatePending, StartedAt: inst.started.time(), Restarts: uint64(inst.restarts)}
	s.Events = append(s.Events, &api.TaskEvent{Type: api.EventReceived, Time: int64(inst.arrived), DisplayMessage: "The task is on its node"})
	if inst.started != 0 {
		s.State = api.TaskStateRunning
		s.Events = append(s.Events, &api.TaskEvent{Type: api.EventStarted, Time: int64(inst.started), DisplayMessage: "Runs"})
	}
	if inst.ended != 0 {
		s.State, s.FinishedAt, s.Failed = api.TaskStateDead, inst.ended.time(), inst.current == failed
		s.Events = append(s.Events, &api.TaskEvent{Type: api.EventTerminated, Time: int64(inst.ended), DisplayMessage: "The run has ended"})
	}
	return s
}
