// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/ledger"
)

// A task is one task of a runner. All fields are guarded by the runner's
// mutex; spec and state are replaced, never changed in place.
type task struct {
	r     *Runner
	name  string
	spec  *api.Task
	state *api.TaskState
	stage stage
	ran   bool // a process of it ran at some time
	run   int  // number of the newest run; 0 before the first
	over  int  // number of the newest run whose end is on record

	policy   restarts
	well     time.Time     // since when this run is; zero: it is not yet
	handle   driver.Handle // of the process that runs
	starting context.CancelFunc
	killed   *cause      // it was told to end
	again    *request    // it was asked to restart
	signaled bool        // the process was told to end, for killed, again or leaving
	cut      bool        // it was ended before it had done what it is for
	late     bool        // it was told to end because of its timeout
	limit    *time.Timer // its timeout
	fresh    bool        // its turn came, and its process is not there yet
	finding  bool        // the process of an earlier agent is looked for
	wake     chan struct{}

	// See launch.go.
	leaving bool           // it was told to end, to be held or launched again
	busy    bool           // what is left of its last run is being cleared away
	intent  *ledger.Commit // why it is leaving is on record
}

// request is that somebody asked for a restart.
type request struct {
	Words  string
	Brief  string `json:",omitempty"` // what the task's end is told with; "": Words
	Counts bool   `json:",omitempty"` // as a failure, by the restart policy
	// Kind is what it is told as, if it counts.
	Kind  api.TroubleKind `json:",omitempty"`
	Until time.Time       `json:",omitzero"` // the new process is not started before
}

func (t *task) member() taskView {
	return taskView{
		name: t.name, hook: hookOf(t.spec), sidecar: t.spec.IsSidecar(), leader: t.spec.Leader, stage: t.stage,
		running: t.handle != nil, ran: t.ran, failed: t.state.Failed && !t.cut, killed: t.killed != nil, fresh: t.fresh,
		idle: t.isIdle(), awaited: t.isAwaited(), held: t.isHeld(), busy: t.busy, alone: t.isAlone(), optional: t.isOptional(),
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

// tell records an event, keeping the last ones.
func (t *task) tell(e *api.TaskEvent) {
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

// loop starts the task, waits for its end, and starts it again, until it is
// dead or the agent ends. found is a process that an earlier agent started.
func (t *task) loop(ctx context.Context, found driver.Handle) {
	h := found
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
			exit, err := h.Wait(ctx)
			if ctx.Err() != nil {
				return
			}
			if err != nil && exit.Err == nil {
				exit.Err = err
			}
			delay, dead = t.exited(ctx, h, exit)
			h = nil
		} else {
			delay, dead = t.notStarted()
		}
		if dead {
			return
		}
		if t.pause(ctx, delay) {
			return
		}
	}
}

// pause waits before a restart. It reports whether the task died meanwhile.
func (t *task) pause(ctx context.Context, delay time.Duration) (dead bool) {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	for {
		t.r.mu.Lock()
		if t.killed != nil || t.isSuperseded() {
			if t.killed != nil {
				t.cutShort()
				t.die(false)
			} else {
				t.requeue()
				t.busy = false
			}
			t.r.advance()
			t.r.save()
			t.r.mu.Unlock()
			return true
		}
		now := t.again != nil
		t.again = nil
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

// exited takes the end of a process into account.
func (t *task) exited(ctx context.Context, h driver.Handle, x driver.Exit) (delay time.Duration, dead bool) {
	r := t.r
	result, problem := t.result(x)
	taken := t.takenPort(x)
	r.mu.Lock()
	at := x.At
	if at.IsZero() {
		at = time.Now()
	}
	late := t.isLate(x, at)
	done := x.Err == nil && x.Code == 0 && x.Signal == 0 && t.mustSucceed() && !t.signaled && !late
	t.handle, t.signaled, t.finding, t.late, t.over = nil, false, false, false, t.run
	t.unlimit()
	t.tell(terminated(x))
	t.change(func(s *api.TaskState) { s.FinishedAt, s.Result = at, result })
	if problem != nil {
		t.tell(message("No result: %v", problem))
	}
	switch asked := t.again; {
	case t.killed != nil:
		t.tell(event(api.EventKilled, "The task has been stopped"))
		if !done {
			t.cutShort()
		}
		t.die(t.killed.fails)
	case done:
		t.die(false)
	case t.isSuperseded():
		t.requeue()
	case late && (asked == nil || asked.Counts):
		t.again = nil
		what, why := t.lateWords(x, at.Sub(t.state.StartedAt))
		delay, dead = t.verdict(what, crash{words: why, kind: api.TroubleTimeout, code: x.Code, signal: x.Signal})
	case asked == nil:
		delay, dead = t.verdict(exitWords(x), t.crashOf(x, at.Sub(t.state.StartedAt), taken))
	case asked.Counts:
		t.again = nil
		delay, dead = t.verdict(asked.Words, crash{words: asked.Words, kind: asked.Kind, code: x.Code, signal: x.Signal})
	default:
		delay = t.obey(asked)
	}
	dead = dead || t.stage != stageActive
	t.busy, t.well = dead, time.Time{}
	saved := r.save()
	r.advance()
	r.host.Changed(r, true)
	r.mu.Unlock()
	// The exit is on record before the driver may forget it.
	if err := saved.Wait(); err != nil {
		r.host.Logger.Error("record a task's exit", "allocation", r.id, "task", t.name, "error", err)
	}
	if err := h.Destroy(ctx); err != nil && ctx.Err() == nil {
		r.host.Logger.Warn("clean up after a task", "allocation", r.id, "task", t.name, "error", err)
	}
	if dead {
		t.release(ctx)
	}
	return delay, dead
}

// notStarted takes into account that the task could not be started; the events
// that say why are there already.
func (t *task) notStarted() (delay time.Duration, dead bool) {
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case t.killed != nil:
		t.cutShort()
		t.die(t.killed.fails)
	case t.isSuperseded():
		t.requeue()
		t.busy = false
	case t.again != nil:
		delay = t.obey(t.again)
	case t.state.Failed:
		t.countCrash(t.failedStart(), 0)
		t.tell(restarting(restartDecision{words: "Another attempt on this node would not help"}))
		t.die(true)
	default:
		delay, dead = t.verdict("Failed to start", t.failedStart())
	}
	dead = dead || t.stage != stageActive
	r.advance()
	r.save()
	r.host.Changed(r, true)
	return delay, dead
}

// verdict asks the restart policy. what begins the sentence of the event, why
// is the reason of the crash.
func (t *task) verdict(what string, why crash) (delay time.Duration, dead bool) {
	well := t.healthyFor()
	v := t.policy.next(t.spec.Restart, what, time.Now(), well, jitterOf(t.r.id, t.name, t.run))
	t.countCrash(why, well)
	t.restart(v)
	if !v.again {
		t.die(true)
	} else {
		t.restartSiblings(v.delay)
	}
	return v.delay, !v.again
}

// obey restarts the task because it was asked to.
func (t *task) obey(q *request) (delay time.Duration) {
	t.again = nil
	v := restartDecision{again: true, words: q.Words + ", restarting now"}
	if v.delay = max(0, time.Until(q.Until)); v.delay > 0 {
		v.words = q.Words + ", restarting in " + seconds(v.delay)
	}
	t.restart(v)
	return v.delay
}

func (t *task) restart(v restartDecision) {
	t.fresh = false
	t.tell(restarting(v))
	if !v.again {
		return
	}
	t.change(func(s *api.TaskState) {
		s.State = api.TaskStatePending
		s.Restarts++
		s.LastRestart = time.Now()
	})
}

// die ends the task for good.
func (t *task) die(failed bool) {
	t.stage = stageDead
	t.handle, t.again, t.leaving = nil, nil, false
	t.unschedule()
	t.change(func(s *api.TaskState) {
		s.State = api.TaskStateDead
		s.Failed = s.Failed || failed
		if s.FinishedAt.IsZero() {
			s.FinishedAt = time.Now()
		}
	})
}

// skip ends a task that never began.
func (t *task) skip(why cause) {
	if e := siblingEvent(why); e != nil {
		t.tell(e)
	}
	t.killed = &why
	if !t.isIdle() {
		t.cutShort()
	}
	t.stage = stageDead
	t.change(func(s *api.TaskState) { s.State = api.TaskStateDead })
}

// end tells the task to end. Its loop notices when it has.
func (t *task) end(why cause) {
	if t.killed != nil || t.stage == stageDead {
		return
	}
	t.killed = &why
	if e := siblingEvent(why); e != nil {
		e.FailsTask = why.fails
		t.tell(e)
	}
	t.interrupt(why)
	t.r.host.Changed(t.r, true)
}

// interrupt ends what the task is doing: its process, its start, or its wait.
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
		if t.r.noDelay() || t.again != nil && t.again.Counts { // what is ill serves nobody meanwhile
			delay = 0
		}
		t.tell(killing(why, signal, timeout))
		intent := t.intent
		t.r.loops.Go(func() {
			if intent != nil {
				t.recorded(intent)
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

// stop ends a process, and keeps trying.
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
			t.tell(e)
			t.r.host.Changed(t.r, true)
			t.r.mu.Unlock()
		}
		if wait(5 * time.Second) {
			return
		}
	}
}
