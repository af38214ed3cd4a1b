// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/ledger"
	"github.com/reeve-run/reeve/internal/node/taskenv"
	"github.com/reeve-run/reeve/internal/node/templates"
)

// A task is one task of a runner. The runner's mutex guards all fields. spec and state are
// replaced, never changed in place.
type task struct {
	r           *Runner
	name        string
	spec        *api.Task
	state       *api.TaskState
	stage       stage
	ran         bool   // had a process at some time
	run         int    // number of the newest run; 0 before the first
	recordedRun int    // number of the newest run whose exit is on record
	oomKills    uint64 // runs since the start of the agent that the kernel ended because of their memory use

	policy       restarts
	healthySince time.Time     // when the run became healthy; zero before
	handle       driver.Handle // of the running process
	starting     context.CancelFunc
	killed       *cause      // why the task was told to end; nil otherwise
	request      *request    // the pending request to restart it
	signaled     bool        // reports whether the process was told to end, because of killed, request or leaving
	interrupted  bool        // ended before it reached its goal
	timedOut     bool        // told to end by its timeout
	limit        *time.Timer // timer of its timeout
	startPending bool        // its turn has come, and it has no process yet
	recovering   bool        // Resume is looking for the process of an earlier agent
	wake         chan struct{}
	socket       func()                   // ends the task's socket; nil: it has none. Of the loop alone
	secrets      taskenv.Secrets          // of the run that starts. Of the loop alone
	fetched      bool                     // its artifacts are in its directory
	looping      sync.Mutex               // held by the loop
	watch        *templates.Watch         // of its templates; nil: none. Of the loop alone
	templates    templateRecord           // of its templates
	own          func(uid, gid int) error // writes its templates again, for a user that only the driver knows
	firstRun     bool                     // its templates were rendered for the first time, for the current run
	renewals     map[string]time.Time     // of the run's identities, by name; replaced, never changed in place
	images       map[string]string        // digests of the images that it runs, by name; replaced, never changed in place

	// The state of its launch; see launch.go.
	leaving    bool           // told to end, because of a hold or another launch
	cleaningUp bool           // the driver is removing the remains of its last run
	intent     *ledger.Commit // the write that records why it is leaving
}

// A request is a request to restart a task.
type request struct {
	Words  string
	Brief  string `json:",omitempty"` // description of the stop; "" means Words
	Counts bool   `json:",omitempty"` // counts as a failure in the restart policy
	// Kind is the kind of trouble that is reported if it counts.
	Kind  api.TroubleKind `json:",omitempty"`
	Until time.Time       `json:",omitzero"` // earliest start of the new process
}

func (t *task) view() taskView {
	return taskView{
		name: t.name, hook: hookOf(t.spec), sidecar: t.spec.IsSidecar(), leader: t.spec.Leader, stage: t.stage,
		running: t.handle != nil, ran: t.ran, failed: t.state.Failed && !t.interrupted, killed: t.killed != nil, startPending: t.startPending,
		idle: t.isIdle(), awaited: t.isAwaited(), held: t.isHeld(), cleaningUp: t.cleaningUp, alone: t.isAlone(), optional: t.isOptional(),
		leaving: t.stage == stageActive && t.isSuperseded(),
	}
}

func hookOf(s *api.Task) hook {
	switch {
	case s.IsPrestart():
		return hookPrestart
	case s.IsPoststart():
		return hookPoststart
	case s.IsPoststop():
		return hookPoststop
	}
	return hookMain
}

// addEvent adds an event, and drops the oldest ones beyond api.TaskEventsKept.
func (t *task) addEvent(e *api.TaskEvent) {
	t.change(func(s *api.TaskState) {
		from := max(0, len(s.Events)+1-api.TaskEventsKept)
		events := make([]*api.TaskEvent, 0, len(s.Events)+1-from)
		s.Events = append(append(events, s.Events[from:]...), e)
	})
}

// change replaces the task's state by a changed copy.
func (t *task) change(do func(*api.TaskState)) {
	s := *t.state
	do(&s)
	t.state = &s
	t.r.markModified()
}

// loop starts the task, waits for its exit, and restarts it, until the task is dead or the
// agent ends. found is the process that an earlier agent started; nil if there is none.
func (t *task) loop(ctx context.Context, found driver.Handle) {
	// A launch may start the next loop before this one has closed what it holds.
	t.looping.Lock()
	defer t.looping.Unlock()
	h := found
	if found != nil {
		t.adoptSocket()
	}
	defer t.closeSocket()
	defer t.closeWatch()
	for ctx.Err() == nil {
		if h == nil {
			h = t.start(ctx)
			if ctx.Err() != nil {
				return
			}
		}
		var dead bool
		var delay time.Duration
		if h != nil {
			stop, stopTemplates := t.keepIdentities(ctx, h), t.keepTemplates(ctx, h)
			exit, err := h.Wait(ctx)
			stop()
			stopTemplates()
			t.closeSocket()
			if ctx.Err() != nil {
				return
			}
			if err != nil && exit.Err == nil {
				exit.Err = err
			}
			delay, dead = t.handleExit(ctx, h, exit)
			h = nil
		} else {
			delay, dead = t.handleStartFailure()
		}
		if dead {
			return
		}
		if t.pause(ctx, delay) {
			return
		}
	}
}

// pause waits before a restart. It reports whether the task died in the meantime.
func (t *task) pause(ctx context.Context, delay time.Duration) (dead bool) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		t.r.mu.Lock()
		if t.killed != nil || t.isSuperseded() {
			if t.killed != nil {
				t.markInterrupted()
				t.markDead(false)
			} else {
				t.requeue()
				t.cleaningUp = false
			}
			t.r.advance()
			t.r.save()
			t.r.mu.Unlock()
			return true
		}
		now := t.request != nil
		t.request = nil
		t.r.mu.Unlock()
		if now {
			return false
		}
		select {
		case <-timer.C:
			return false
		case <-ctx.Done():
			return true
		case <-t.wake:
		}
	}
}

// handleExit records the exit of a process and decides what follows.
func (t *task) handleExit(ctx context.Context, h driver.Handle, x driver.Exit) (delay time.Duration, dead bool) {
	r := t.r
	result, problem := t.result(x)
	taken := t.takenPort(x)
	r.mu.Lock()
	at := x.At
	if at.IsZero() {
		at = time.Now()
	}
	late := t.hasTimedOut(x, at)
	done := x.Err == nil && x.Code == 0 && x.Signal == 0 && t.mustSucceed() && !t.signaled && !late
	t.handle, t.signaled, t.recovering, t.timedOut, t.recordedRun = nil, false, false, false, t.run
	t.stopTimeout()
	t.addEvent(terminated(x))
	if x.OOMKilled {
		t.oomKills++
	}
	t.change(func(s *api.TaskState) { s.FinishedAt, s.Result = at, result })
	if problem != nil {
		t.addEvent(message("No result: %v", problem))
	}
	switch asked := t.request; {
	case t.killed != nil:
		t.addEvent(event(api.EventKilled, "The task has been stopped"))
		if !done {
			t.markInterrupted()
		}
		t.markDead(t.killed.fails)
	case done:
		t.markDead(false)
	case t.isSuperseded():
		t.requeue()
	case late && (asked == nil || asked.Counts):
		t.request = nil
		what, why := t.describeTimeout(x, at.Sub(t.state.StartedAt))
		delay, dead = t.applyPolicy(what, crash{description: why, kind: api.TroubleTimeout, code: x.Code, signal: x.Signal})
	case asked == nil:
		delay, dead = t.applyPolicy(describeExit(x), t.crashOf(x, at.Sub(t.state.StartedAt), taken))
	case asked.Counts:
		t.request = nil
		delay, dead = t.applyPolicy(asked.Words, crash{description: asked.Words, kind: asked.Kind, code: x.Code, signal: x.Signal})
	default:
		delay = t.applyRequest(asked)
	}
	dead = dead || t.stage != stageActive
	t.cleaningUp, t.healthySince = dead, time.Time{}
	saved := r.save()
	r.advance()
	r.host.Changed(r, true)
	r.mu.Unlock()
	// The exit must be on record before the driver may forget it.
	if err := saved.Wait(); err != nil {
		r.host.Logger.Error("cannot record a task's exit", "allocation", r.id, "task", t.name, "error", err)
	}
	if err := h.Destroy(ctx); err != nil && ctx.Err() == nil {
		r.host.Logger.Warn("cannot clean up after a task", "allocation", r.id, "task", t.name, "error", err)
	}
	if dead {
		t.release(ctx)
	}
	return delay, dead
}

// handleStartFailure decides what follows a failed start, whose events are recorded.
func (t *task) handleStartFailure() (delay time.Duration, dead bool) {
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case t.killed != nil:
		t.markInterrupted()
		t.markDead(t.killed.fails)
	case t.isSuperseded():
		t.requeue()
		t.cleaningUp = false
	case t.request != nil:
		delay = t.applyRequest(t.request)
	case t.state.Failed:
		t.countCrash(t.failedStart(), 0)
		t.addEvent(restarting(restartDecision{message: "Another attempt on this node would not help"}))
		t.markDead(true)
	default:
		delay, dead = t.applyPolicy("Failed to start", t.failedStart())
	}
	dead = dead || t.stage != stageActive
	r.advance()
	r.save()
	r.host.Changed(r, true)
	return delay, dead
}

// applyPolicy applies the restart policy. what starts the event's sentence, and why is the
// crash to count.
func (t *task) applyPolicy(what string, why crash) (delay time.Duration, dead bool) {
	well := t.healthyFor()
	v := t.policy.next(t.spec.Restart, what, time.Now(), well, jitterOf(t.r.id, t.name, t.run))
	t.countCrash(why, well)
	t.applyDecision(v)
	if !v.restart {
		t.markDead(true)
	} else {
		t.restartSiblings(v.delay)
	}
	return v.delay, !v.restart
}

// applyRequest restarts the task on request.
func (t *task) applyRequest(q *request) (delay time.Duration) {
	t.request = nil
	v := restartDecision{restart: true, message: q.Words + ", restarting now"}
	if v.delay = max(0, time.Until(q.Until)); v.delay > 0 {
		v.message = q.Words + ", restarting in " + formatSeconds(v.delay)
	}
	t.applyDecision(v)
	return v.delay
}

func (t *task) applyDecision(v restartDecision) {
	t.startPending = false
	t.addEvent(restarting(v))
	if !v.restart {
		return
	}
	t.change(func(s *api.TaskState) {
		s.State = api.TaskStatePending
		s.Restarts++
		s.LastRestart = time.Now()
	})
}

// markDead ends the task without a restart.
func (t *task) markDead(failed bool) {
	t.stage = stageDead
	t.handle, t.request, t.leaving = nil, nil, false
	t.unschedule()
	t.change(func(s *api.TaskState) {
		s.State = api.TaskStateDead
		s.Failed = s.Failed || failed
		if s.FinishedAt.IsZero() {
			s.FinishedAt = time.Now()
		}
	})
}

// skip ends a task that never started.
func (t *task) skip(why cause) {
	if e := siblingEvent(why); e != nil {
		t.addEvent(e)
	}
	t.killed = &why
	if !t.isIdle() {
		t.markInterrupted()
	}
	t.stage = stageDead
	t.change(func(s *api.TaskState) { s.State = api.TaskStateDead })
}

// kill tells the task to end. Its loop handles the exit.
func (t *task) kill(why cause) {
	if t.killed != nil || t.stage == stageDead {
		return
	}
	t.killed = &why
	if e := siblingEvent(why); e != nil {
		e.FailsTask = why.fails
		t.addEvent(e)
	}
	t.interrupt(why)
	t.r.host.Changed(t.r, true)
}

// interrupt ends the task's current activity: its process, its start, or its wait.
func (t *task) interrupt(why cause) {
	select {
	case t.wake <- struct{}{}:
	default:
	}
	if t.starting != nil {
		t.starting()
	}
	if h := t.handle; h != nil && !t.signaled {
		t.signaled = true
		signal, timeout, delay := stopOptions(t.spec)
		if t.r.noDelay() || t.request != nil && t.request.Counts { // an unhealthy process serves no requests that a delay could protect
			delay = 0
		}
		t.addEvent(killing(why, signal, timeout))
		intent := t.intent
		t.r.loops.Go(func() {
			if intent != nil {
				t.waitRecorded(intent)
			}
			t.stop(h, signal, timeout, delay)
		})
	}
}

func stopOptions(s *api.Task) (signal string, timeout, delay time.Duration) {
	signal, timeout = s.KillSignal, 5*time.Second
	if signal == "" {
		signal = "SIGINT"
	}
	if s.KillTimeout != nil {
		timeout = *s.KillTimeout
	}
	return signal, timeout, s.ShutdownDelay
}

// stop ends a process, and retries until it succeeds.
func (t *task) stop(h driver.Handle, signal string, timeout, delay time.Duration) {
	ctx := t.r.ctx
	wait := func(d time.Duration) (over bool) {
		if d <= 0 {
			return false
		}
		bounded, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		h.Wait(bounded)
		return ctx.Err() != nil || bounded.Err() == nil
	}
	if wait(delay) {
		return
	}
	for tries := 0; ctx.Err() == nil; tries++ {
		err := h.Stop(ctx, signal, timeout)
		if err == nil || errors.Is(err, driver.ErrTaskUnknown) || errors.Is(err, driver.ErrTaskLost) {
			return
		}
		if tries == 0 && ctx.Err() == nil {
			t.r.mu.Lock()
			e := event(api.EventKilling, "Could not stop the task: "+err.Error())
			e.KillError = err.Error()
			t.addEvent(e)
			t.r.host.Changed(t.r, true)
			t.r.mu.Unlock()
		}
		if wait(5 * time.Second) {
			return
		}
	}
}
