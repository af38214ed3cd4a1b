// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// An instance is one allocation on a simulated node.
type instance struct {
	name  string // JOB.GROUP[INDEX]
	id    string
	job   *job
	group *group
	ask   [dimensions]int64

	status     string // api.AllocClient...
	stopping   bool
	deployment bool          // reports whether its health is awaited
	healthy    *bool         // reported health
	launches   *api.Launches // launches of its tasks; nil: all run
	restarts   int
	run        int // number of starts; appointments of earlier ones are void
	life       life

	arrived time.Time
	started time.Time
	ended   time.Time

	holds    bool   // reports whether it holds resources
	first    int    // 1 + its position in the node's placed; 0 if it replaces another
	marked   bool   // reports whether it is among those to report
	said     string // status in the report in flight
	reported string // last status that the servers acknowledged
}

// instanceName returns a name that is unique among all jobs.
func (inst *instance) instanceName() string { return inst.job.spec.ID + "\x00" + inst.name }

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
	run  int
	what int
}

// arrange schedules an action of an instance, or does it immediately if it is due.
func (n *node) arrange(inst *instance, what int, in time.Duration, now time.Time) {
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

func (n *node) do(inst *instance, what int, now time.Time) {
	switch what {
	case doStart:
		n.start(inst, now)
	case doEnd:
		n.end(inst, now)
	case doStop:
		n.finish(inst, api.AllocClientComplete, now)
	case doHealthy:
		n.health(inst, true)
	}
}

// begin starts the first run of an instance.
func (n *node) begin(inst *instance, now time.Time) {
	inst.run++
	inst.life = inst.group.behaviour.draw(n.rng)
	n.arrange(inst, doStart, inst.life.start, now)
}

func (n *node) start(inst *instance, now time.Time) {
	if inst.group.behaviour.startFail {
		n.end(inst, now)
		return
	}
	inst.started = now
	n.set(inst, api.AllocClientRunning)
	if b := inst.group.behaviour; inst.deployment && inst.healthy == nil && b.healthy >= 0 {
		n.arrange(inst, doHealthy, b.healthy, now)
	}
	if inst.life.runFor >= 0 && inst.status == api.AllocClientRunning {
		n.arrange(inst, doEnd, inst.life.runFor, now)
	}
}

// end handles the end of a run by itself: the instance completes, restarts or fails.
func (n *node) end(inst *instance, now time.Time) {
	b := inst.group.behaviour
	switch {
	case !inst.life.fails && !b.startFail && b.batch:
		n.finish(inst, api.AllocClientComplete, now)
	case inst.restarts < b.restarts:
		inst.restarts++
		inst.run++
		inst.life = b.draw(n.rng)
		n.set(inst, api.AllocClientPending)
		n.arrange(inst, doStart, b.delay+inst.life.start, now)
	default:
		n.health(inst, false)
		n.finish(inst, api.AllocClientFailed, now)
	}
}

func (n *node) finish(inst *instance, status string, now time.Time) {
	inst.run++
	inst.ended = now
	n.set(inst, status)
	n.release(inst)
}

func (n *node) health(inst *instance, healthy bool) {
	if inst.deployment && inst.healthy == nil && !inst.isPartial() {
		inst.healthy = &healthy
		n.mark(inst)
	}
}

func (n *node) set(inst *instance, status string) {
	inst.status = status
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
	return inst.launches == nil && other.launches == nil && inst.group == other.group && inst.status == other.status && inst.restarts == other.restarts &&
		inst.arrived.Equal(other.arrived) && inst.started.Equal(other.started) && inst.ended.Equal(other.ended)
}

func (inst *instance) report(a *api.Allocation) {
	a.ID, a.ClientStatus = inst.id, inst.status
	switch inst.status {
	case api.AllocClientPending:
		a.ClientDescription = "No task has started"
	case api.AllocClientRunning:
		a.ClientDescription = "Running"
	case api.AllocClientComplete:
		a.ClientDescription = "All tasks have ended"
	case api.AllocClientFailed:
		a.ClientDescription = "A task failed"
	}
	if inst.job.spec.Stack != nil && inst.status == api.AllocClientRunning {
		a.Serving = &api.Serving{Up: true, Routable: true} // checks are not simulated
	}
	if l := inst.launches; l != nil {
		a.LaunchStatus = &api.LaunchStatus{ID: l.ID, Timestamp: time.Now()}
		if inst.status == api.AllocClientRunning {
			a.LaunchStatus.Healthy = new(bool)
			*a.LaunchStatus.Healthy = true
		}
	}
	if inst.healthy != nil {
		a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: inst.healthy, Timestamp: time.Now()}
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
	s := &api.TaskState{State: api.TaskStatePending, StartedAt: inst.started, Restarts: uint64(inst.restarts)}
	s.Events = append(s.Events, &api.TaskEvent{Type: api.EventReceived, Time: inst.arrived.UnixNano(), DisplayMessage: "The task is on its node"})
	if !inst.started.IsZero() {
		s.State = api.TaskStateRunning
		s.Events = append(s.Events, &api.TaskEvent{Type: api.EventStarted, Time: inst.started.UnixNano(), DisplayMessage: "Runs"})
	}
	if !inst.ended.IsZero() {
		s.State, s.FinishedAt, s.Failed = api.TaskStateDead, inst.ended, inst.status == api.AllocClientFailed
		s.Events = append(s.Events, &api.TaskEvent{Type: api.EventTerminated, Time: inst.ended.UnixNano(), DisplayMessage: "The run has ended"})
	}
	return s
}
