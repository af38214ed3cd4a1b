// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/reeve-run/reeve/api"

// stage is how far a task has come.
type stage int

const (
	stageWaiting stage = iota // its turn has not come
	stageActive               // it is being set up, runs, or will be restarted
	stageDead                 // it ended for good
)

// hook is a task's place in its group's life.
type hook int

const (
	hookMain hook = iota
	hookPrestart
	hookPoststart
	hookPoststop
)

// taskView is what decisions need to know of a task.
type taskView struct {
	name    string
	hook    hook
	sidecar bool
	leader  bool
	stage   stage
	running bool
	ran     bool // a process of it ran at some time
	failed  bool
	killed  bool // was told to end
	// What its launch and its job say of it; see launch.go and goal.go.
	idle     bool // it waits to be launched, and nothing waits for it
	awaited  bool // it waits to be launched, and the allocation lives until it has been
	held     bool // it is not to run until it is let go
	busy     bool // what is left of its last run is being cleared away
	fresh    bool // its turn came, and its process is not there yet
	leaving  bool // its process is ended, to be run again by another launch or held
	alone    bool // the others go on when it ends
	optional bool // its failure does not count
	// What it comes after; see after.go.
	waits         bool   // that is not done
	barredBecause string // why it never will be
}

// cause is why a task is to end.
type cause struct {
	event   string // one of the api.Event constants
	words   string
	sibling string // the task that is to blame
	fails   bool   // the task counts as failed
}

// end is that the whole allocation is to end, and why.
type end struct {
	why     cause
	restart bool // and begin again
}

type verb int

const (
	verbStart verb = iota
	verbStop
	verbSkip // a task that never started never will
)

// step is one thing to do.
type step struct {
	task int
	verb verb
	why  cause
}

// decide says what is to be done next for an allocation whose tasks are as
// members says, and whether it is to end. It is called again when something
// changed, until nothing is left to do.
//
// The order of a life: prestart tasks; when those that are not sidecars have
// succeeded, the main tasks; when all of these run, the poststart tasks; when
// the main tasks have ended, sidecars are stopped; when everything has ended,
// the poststop tasks. A task that fails ends all; a leader that ends does too.
// On the way out the leader goes first, then the others, then the sidecars.
//
// Within its hook, a task waits for those that it comes after. The tasks of an
// independent group end alone.
//
// A task that has yet to be launched is left out of that order, whatever its
// hook: what launches it knows when its turn is. A prestart task that is run
// again waits for what else of the group is being ended to be run again.
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

// groupFate reports whether what happened to one task ends the others.
func groupFate(m []taskView) *end {
	for _, x := range m {
		if x.stage == stageDead && x.failed && !x.alone && x.hook != hookPoststop {
			return &end{why: cause{event: api.EventSiblingFailed, sibling: x.name, words: "Task \"" + x.name + "\" of the group failed"}}
		}
	}
	for _, x := range m {
		if x.stage == stageDead && x.leader {
			return &end{why: cause{event: api.EventLeaderDead, sibling: x.name, words: "The group's leader task \"" + x.name + "\" ended"}}
		}
	}
	return nil
}

var (
	mainDead    = cause{event: api.EventMainDead, words: "The group's main tasks have ended"}
	othersEnded = cause{event: api.EventMainDead, words: "The group's other tasks have ended"}
)

// continueTasks lets the allocation live.
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
	if mains == 0 { // then the group exists for its hooks
		mainsRan, mainsDead = prepared, prepared
	}
	for i, x := range m {
		switch {
		case x.idle || x.busy:
		case x.stage == stageWaiting && (x.awaited || x.held):
			if mainsDead && x.sidecar {
				steps = append(steps, step{task: i, verb: verbSkip, why: mainDead})
			}
		case x.stage == stageWaiting && x.barredBecause != "" && x.hook != hookPoststop:
			steps = append(steps, step{task: i, verb: verbSkip, why: barredBy(x)})
		case x.stage == stageWaiting && x.waits:
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

// endAll stops what runs, in order; what has not begun never will.
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

// isOver reports whether all but the poststop tasks have ended.
func isOver(m []taskView) bool {
	for _, x := range m {
		if x.hook != hookPoststop && x.stage != stageDead && !x.idle {
			return false
		}
	}
	return true
}

// startPoststop starts the poststop tasks, if there is something that they come after.
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
		case x.hook != hookPoststop || x.stage != stageWaiting || x.busy:
		case ran && x.barredBecause != "":
			steps = append(steps, step{task: i, verb: verbSkip, why: barredBy(x)})
		case ran && x.waits:
		case ran && !x.idle && !x.awaited && !x.held:
			steps = append(steps, step{task: i, verb: verbStart})
		case e == nil && !x.idle: // it is let go, or launched, some time
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
