// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/reeve-run/reeve/api"

// A stage is how far a task has come in its life.
type stage int

const (
	stageWaiting stage = iota // waits for its turn
	stageActive               // is set up, runs, or waits for a restart
	stageDead                 // ended and is not restarted
)

// A hook is the phase of the group's life in which a task runs.
type hook int

const (
	hookMain hook = iota
	hookPrestart
	hookPoststart
	hookPoststop
)

// A taskView holds the state of a task that decisions depend on.
type taskView struct {
	name    string
	hook    hook
	sidecar bool
	leader  bool
	stage   stage
	running bool
	ran     bool // had a process at some time
	failed  bool
	killed  bool // was told to end
	// The state of its launch and goal; see launch.go and goal.go.
	idle         bool // waits for a custom plan, and nothing waits for it
	awaited      bool // waits for a launch, and the allocation lives until then
	held         bool // must not run until its hold is released
	cleaningUp   bool // the driver is removing the remains of its last run
	startPending bool // its turn has come, and it has no process yet
	leaving      bool // its process is ending, because of a hold or another launch
	alone        bool // the other tasks continue when it ends
	optional     bool // its failure does not count
	// The state of the tasks named in its after list; see after.go.
	waiting       bool   // reports whether one of them has not reached its goal
	barredBecause string // why one of them never will; "" if all may
}

// A cause is the reason why a task is to end.
type cause struct {
	event   string // one of the api.Event constants
	message string
	sibling string // the task that caused it
	fails   bool   // reports whether the task counts as failed
}

// An end is the decision that the whole allocation ends, with its reason.
type end struct {
	why     cause
	restart bool // reports whether the allocation starts again afterwards
}

type verb int

const (
	verbStart verb = iota
	verbStop
	verbSkip // a waiting task never starts
)

// A step is one action on one task.
type step struct {
	task int
	verb verb
	why  cause
}

// decide returns the next steps for an allocation with the given tasks, and whether the
// allocation ends. The runner calls it after every change, until it returns no step.
//
// The order of a life: first the prestart tasks; when those that are not sidecars have
// succeeded, the main tasks; when all of these run, the poststart tasks; when the main
// tasks have ended, the sidecars stop; when everything has ended, the poststop tasks. A
// task that fails ends all others, and so does a leader that ends. The leader ends first,
// then the other tasks, then the sidecars.
//
// Within its hook, a task waits for the tasks in its after list. The tasks of an
// independent group end alone.
//
// A task that awaits its launch is left out of that order, for any hook: the plan
// that launches it orders it. A prestart task that is launched again waits until the
// group's other tasks that are ending for a relaunch have ended.
func decide(m []taskView, e *end) ([]step, *end) {
	if e == nil {
		e = groupFate(m)
	}
	var steps []step
	if e != nil {
		steps = endAll(m, e.why)
	} else {
		steps = continueTasks(m)
	}
	if isOver(m) {
		steps = append(steps, startPoststop(m, e)...)
		for i, x := range m {
			if e == nil && x.idle && x.hook != hookPoststop {
				steps = append(steps, step{task: i, verb: verbSkip, why: othersEnded})
			}
		}
	}
	return steps, e
}

// groupFate returns the end of the allocation if the fate of one task ends the others; nil
// otherwise.
func groupFate(m []taskView) *end {
	for _, x := range m {
		if x.stage == stageDead && x.failed && !x.alone && x.hook != hookPoststop {
			return &end{why: cause{event: api.EventSiblingFailed, sibling: x.name, message: "Task \"" + x.name + "\" of the group failed"}}
		}
	}
	for _, x := range m {
		if x.stage == stageDead && x.leader {
			return &end{why: cause{event: api.EventLeaderDead, sibling: x.name, message: "The group's leader task \"" + x.name + "\" ended"}}
		}
	}
	return nil
}

var (
	mainDead    = cause{event: api.EventMainDead, message: "The group's main tasks have ended"}
	othersEnded = cause{event: api.EventMainDead, message: "The group's other tasks have ended"}
)

// continueTasks returns the steps of an allocation that is not ending.
func continueTasks(m []taskView) []step {
	var steps []step
	start := func(i int) { steps = append(steps, step{task: i, verb: verbStart}) }
	prepared, mainsRan, mainsDead, mains, leaving := true, true, true, 0, false
	for _, x := range m {
		leaving = leaving || x.leaving
		switch {
		case x.idle:
		case x.hook == hookMain:
			mains++
			mainsRan = mainsRan && (x.ran || x.awaited || x.stage == stageDead)
			mainsDead = mainsDead && x.stage == stageDead
		case x.awaited || x.hook != hookPrestart:
		case x.sidecar:
			prepared = prepared && (x.ran || x.stage == stageDead)
		default:
			prepared = prepared && x.stage == stageDead
		}
	}
	if mains == 0 { // the group consists of hooks only
		mainsRan, mainsDead = prepared, prepared
	}
	for i, x := range m {
		switch {
		case x.idle || x.cleaningUp:
		case x.stage == stageWaiting && (x.awaited || x.held):
			if mainsDead && x.sidecar {
				steps = append(steps, step{task: i, verb: verbSkip, why: mainDead})
			}
		case x.stage == stageWaiting && x.barredBecause != "" && x.hook != hookPoststop:
			steps = append(steps, step{task: i, verb: verbSkip, why: barredCause(x)})
		case x.stage == stageWaiting && x.waiting:
			if mainsDead && x.sidecar {
				steps = append(steps, step{task: i, verb: verbSkip, why: mainDead})
			}
		case x.stage == stageWaiting && x.hook == hookPrestart && leaving:
		case x.stage == stageWaiting && x.hook == hookPrestart:
			start(i)
		case x.stage == stageWaiting && x.hook == hookMain && prepared:
			start(i)
		case x.stage == stageWaiting && x.hook == hookPoststart && mainsRan && (!mainsDead || mains == 0 || !x.sidecar):
			start(i)
		case mainsDead && x.sidecar && x.stage != stageDead && x.hook != hookPoststop && !x.killed:
			steps = append(steps, step{task: i, verb: stopOrSkip(x), why: mainDead})
		}
	}
	return steps
}

// endAll stops the running tasks in order, and skips the waiting ones.
func endAll(m []taskView, why cause) []step {
	var steps []step
	rank := func(x taskView) int {
		switch {
		case x.leader:
			return 0
		case !x.sidecar:
			return 1
		}
		return 2
	}
	first := 3
	for i, x := range m {
		if x.hook == hookPoststop || x.stage == stageDead {
			continue
		}
		if x.stage == stageWaiting {
			steps = append(steps, step{task: i, verb: verbSkip, why: why})
			continue
		}
		first = min(first, rank(x))
	}
	for i, x := range m {
		if x.stage == stageActive && x.hook != hookPoststop && !x.killed && rank(x) == first {
			steps = append(steps, step{task: i, verb: verbStop, why: why})
		}
	}
	return steps
}

// isOver reports whether all tasks except poststop tasks have ended.
func isOver(m []taskView) bool {
	for _, x := range m {
		if x.hook != hookPoststop && x.stage != stageDead && !x.idle {
			return false
		}
	}
	return true
}

// startPoststop starts the poststop tasks if any other task ran, and skips them otherwise.
func startPoststop(m []taskView, e *end) []step {
	ran := e == nil
	for _, x := range m {
		ran = ran || (x.ran && x.hook != hookPoststop)
	}
	why := othersEnded
	if e != nil {
		ran, why = ran && !e.restart, e.why
	}
	var steps []step
	for i, x := range m {
		switch {
		case x.hook != hookPoststop || x.stage != stageWaiting || x.cleaningUp:
		case ran && x.barredBecause != "":
			steps = append(steps, step{task: i, verb: verbSkip, why: barredCause(x)})
		case ran && x.waiting:
		case ran && !x.idle && !x.awaited && !x.held:
			steps = append(steps, step{task: i, verb: verbStart})
		case e == nil && !x.idle: // waits for the release of its hold, or for its launch
		default:
			steps = append(steps, step{task: i, verb: verbSkip, why: why})
		}
	}
	return steps
}

func stopOrSkip(x taskView) verb {
	if x.stage == stageWaiting {
		return verbSkip
	}
	return verbStop
}
