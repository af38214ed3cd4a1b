// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func goal(g string) func(*api.Task) { return func(t *api.Task) { t.Goal = g } }

// launching is an allocation with these launches.
func launching(a *api.Allocation, id string, tasks map[string]*api.Launch) *api.Allocation {
	next := a.Copy()
	next.Launches = &api.Launches{ID: id, Tasks: tasks}
	next.AllocModifyIndex++
	return next
}

// steer gives the runner other launches.
func (b *bench) steer(r *Runner, id string, tasks map[string]*api.Launch) {
	b.Helper()
	r.Update(launching(r.Allocation(), id, tasks))
	synctest.Wait()
}

// brief is what a task's state says in short.
func brief(r *Runner, task string) string {
	s := r.Report().TaskStates[task]
	text := s.State
	if s.Failed {
		text += " failed"
	}
	if s.Launch != "" {
		text += " " + s.Launch
	}
	return text
}

// verdictOf is what is reported of the launches.
func verdictOf(r *Runner) string {
	s := r.Report().LaunchStatus
	switch {
	case s == nil:
		return ""
	case s.Healthy == nil:
		return s.ID + " unknown"
	case *s.Healthy:
		return s.ID + " healthy"
	}
	return s.ID + " unhealthy"
}

func (b *bench) wantLast(r *Runner, task, want string) {
	b.Helper()
	events := story(r, task)
	b.want("last event of "+task, want, events[len(events)-1])
}

// wantRuns compares which tasks were started how often.
func (b *bench) wantRuns(want ...string) {
	b.Helper()
	var runs []string
	for _, p := range b.driver.Started() {
		runs = append(runs, p.Task.Name)
	}
	b.want("runs", sorted(want), sorted(runs))
}

func TestTaskIsNotStartedBeforeItIsLaunched(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("init", goal("finish")), taskSpec("server"), taskSpec("backup", goal("finish")))
		r := b.start(launching(a, "1", map[string]*api.Launch{
			"server": {Await: true, Why: "Waits for step main-0:[init]"}, "backup": {Why: "Run by plan backup"},
		}))
		b.wantRuns("init")
		b.want("server", "pending", brief(r, "server"))
		b.wantLast(r, "server", "Not Launched: Waits for step main-0:[init]")
		b.wantLast(r, "backup", "Not Launched: Run by plan backup")
		b.want("launches", "1 unknown", verdictOf(r))
		b.driver.Process("init").Exit(0)
		synctest.Wait()
		b.want("init", "dead", brief(r, "init"))
		b.want("status", api.AllocClientRunning, r.Status())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		b.want("launches", "1 healthy", verdictOf(r))

		b.steer(r, "2", map[string]*api.Launch{"server": {Token: "deploy"}, "backup": {}})
		b.wantRuns("init", "server")
		b.want("server", "running deploy", brief(r, "server"))
		b.want("backup", "pending", brief(r, "backup"))
		b.want("restarts", uint64(0), r.Report().TaskStates["server"].Restarts)
		b.want("launches", "2 unknown", verdictOf(r))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		b.want("launches", "2 healthy", verdictOf(r))
	})
}

func TestDeploymentIsJudgedWhenNothingIsAwaited(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("init", goal("finish")), taskSpec("server"))
		a.DeploymentID = "d"
		r := b.start(launching(a, "1", map[string]*api.Launch{"server": {Await: true}}))
		time.Sleep(time.Hour) // longer than healthy_deadline
		b.driver.Process("init").Exit(0)
		synctest.Wait()
		if d := r.Report().DeploymentStatus; d != nil {
			b.Errorf("deployment status = %+v before all is launched", d)
		}
		b.want("launches", "1 unhealthy", verdictOf(r)) // init took longer than it may
		b.steer(r, "2", map[string]*api.Launch{"server": {Token: "deploy"}})
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if d := r.Report().DeploymentStatus; d != nil {
			b.Errorf("deployment status = %+v before min_healthy_time", d)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		b.want("healthy", true, *r.Report().DeploymentStatus.Healthy)
	})
}

func TestNewTokenRunsTheTaskOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", policy(0, "fail"), func(t *api.Task) { t.KillSignal, t.KillTimeout = "SIGTERM", ptr(7*time.Second) }), taskSpec("side"))
		r := b.start(a)
		web := b.driver.Process("web")
		web.IgnoreSignals()
		begun := time.Now()
		again := map[string]*api.Launch{"web": {Token: "r1", Why: "A rolling restart"}}
		b.steer(r, "1", again)
		b.want("web", "running", brief(r, "web"))
		b.steer(r, "1", again)
		b.driver.Wait(3)
		synctest.Wait()
		b.want("time", 7*time.Second, time.Since(begun))
		b.want("signals", []string{"SIGTERM"}, web.Signals())
		b.wantRuns("web", "side", "web")
		b.want("web", "running r1", brief(r, "web"))
		b.want("restarts", uint64(1), r.Report().TaskStates["web"].Restarts)
		b.want("story", []string{
			"Killing: A rolling restart. Sent SIGTERM, SIGKILL follows after 7s", "Terminated: Exit Code: 137, Signal: 9",
			"Launched: A rolling restart", "Started: Runs as process 1002",
		}, story(r, "web")[3:])
		b.steer(r, "2", again)
		b.steer(r, "3", map[string]*api.Launch{"web": {Token: "r1"}, "side": {Token: "r2"}})
		b.wantRuns("web", "side", "web", "side")
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func TestNewTokenEndsTheWaitForARestart(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", policy(2, "fail")), taskSpec("side")))
		b.driver.Process("web").Exit(1)
		synctest.Wait()
		b.want("web", "pending", brief(r, "web"))
		b.steer(r, "1", map[string]*api.Launch{"web": {Token: "r1"}})
		b.wantRuns("web", "side", "web")
		b.want("web", "running r1", brief(r, "web"))
	})
}

func TestTokenThatChangesWhileTheTaskEnds(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web")))
		b.driver.Process("web").IgnoreSignals()
		b.steer(r, "1", map[string]*api.Launch{"web": {Token: "r1"}})
		b.steer(r, "2", map[string]*api.Launch{"web": {Token: "r2"}})
		b.driver.Wait(2)
		synctest.Wait()
		time.Sleep(time.Minute)
		b.wantRuns("web", "web")
		b.want("web", "running r2", brief(r, "web"))
	})
}

func TestHeldTaskIsEndedAndRunsAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web"), taskSpec("init", goal("finish"))))
		b.driver.Process("init").Exit(0)
		synctest.Wait()
		hold := &api.Launch{Hold: true, Why: "Paused by ada"}
		b.steer(r, "1", map[string]*api.Launch{"web": hold, "init": hold})
		b.want("web", "pending", brief(r, "web"))
		b.want("init", "dead", brief(r, "init"))
		b.wantLast(r, "web", "Held: Paused by ada")
		b.want("status", api.AllocClientRunning, r.Status())
		b.want("words", heldDescription, r.Report().ClientDescription)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.want("running", []string(nil), b.driver.Running())
		b.steer(r, "2", nil)
		b.want("running", []string{"web"}, b.driver.Running())
		b.wantRuns("web", "init", "web")
		b.want("words", "Running", r.Report().ClientDescription)
	})
}

func TestHoldThatGoesAwayWhileTheTaskEnds(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", policy(0, "fail"))))
		b.driver.Process("web").IgnoreSignals()
		b.steer(r, "1", map[string]*api.Launch{"web": {Hold: true}})
		b.steer(r, "2", map[string]*api.Launch{"web": {}})
		b.steer(r, "3", nil)
		b.driver.Wait(2)
		synctest.Wait()
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func TestHeldBeforeItEverRan(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		r := b.start(launching(a, "1", map[string]*api.Launch{"web": {Hold: true, Token: "r1"}}))
		b.wantRuns()
		b.steer(r, "2", map[string]*api.Launch{"web": {Token: "r1"}})
		b.wantRuns("web")
		b.want("web", "running r1", brief(r, "web"))
	})
}

func TestWhatAPredecessorDidIsNotRun(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"), taskSpec("init", goal("once"), lifecycle(api.HookPrestart, false)))
		r := b.start(launching(a, "1", map[string]*api.Launch{"init": {Token: "first", Done: true, Why: "By allocation 1234"}}))
		b.wantRuns("web")
		b.want("init", "dead first", brief(r, "init"))
		b.wantLast(r, "init", "Launched: By allocation 1234")
		if err := r.RestartAll(); err != nil {
			b.Fatal(err)
		}
		b.driver.Wait(2)
		synctest.Wait()
		b.wantRuns("web", "web")
	})
}

func TestCustomRunIsItsOwnAffair(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"), taskSpec("backup", goal("finish"), policy(1, "fail"), func(t *api.Task) { t.Env = map[string]string{"TO": "/tmp", "DIR": "${TO}/x"} }))
		r := b.start(launching(a, "1", map[string]*api.Launch{"backup": {}}))
		b.steer(r, "2", map[string]*api.Launch{"backup": {Token: "b1", Alone: true, Env: map[string]string{"TO": "s3://${x}"}}})
		p := b.driver.Process("backup")
		for _, kv := range []string{"TO=s3://${x}", "DIR=s3://${x}/x"} {
			if !slices.Contains(p.Task.Env, kv) {
				b.Errorf("environment %q has no %q", p.Task.Env, kv)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		b.want("launches", "2 healthy", verdictOf(r)) // however long it takes
		p.Exit(1)
		b.driver.Wait(3).Exit(1)
		synctest.Wait()
		b.want("backup", "dead failed b1", brief(r, "backup"))
		b.want("web", "running", brief(r, "web"))
		b.want("status", api.AllocClientRunning, r.Status())

		b.steer(r, "3", map[string]*api.Launch{"backup": {Token: "b2", Alone: true}})
		b.want("backup", "running b2", brief(r, "backup"))
		b.driver.Process("backup").Exit(0)
		synctest.Wait()
		b.want("backup", "dead b2", brief(r, "backup"))
		b.wantRuns("web", "backup", "backup", "backup")
		r.Stop("", true)
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
	})
}

func TestStoppedCustomRunIsNotDone(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(launching(allocation("service", taskSpec("web"), taskSpec("backup", goal("finish"))), "1", map[string]*api.Launch{"backup": {Token: "b1", Alone: true}}))
		b.steer(r, "2", map[string]*api.Launch{"backup": {Token: "b1", Alone: true, Hold: true, Why: "Stopped by ada"}})
		b.want("backup", "pending b1", brief(r, "backup"))
		b.steer(r, "3", map[string]*api.Launch{"backup": {Token: "b2", Alone: true}})
		b.want("backup", "running b2", brief(r, "backup"))
		b.wantRuns("web", "backup", "backup")
	})
}

func TestLaunchOfPrestartWaitsForTheOthersEnds(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("main"), taskSpec("init", lifecycle(api.HookPrestart, false))))
		b.driver.Process("init").Exit(0)
		b.driver.Wait(2).IgnoreSignals()
		synctest.Wait()
		again := &api.Launch{Token: "r1"}
		b.steer(r, "1", map[string]*api.Launch{"main": again, "init": again})
		b.want("running", []string{"main"}, b.driver.Running())
		b.driver.Wait(3)
		synctest.Wait()
		b.want("running", []string{"init"}, b.driver.Running())
		b.driver.Process("init").Exit(0)
		b.driver.Wait(4)
		synctest.Wait()
		b.wantRuns("init", "main", "init", "main")
	})
}

func TestAllTasksOfAnAllocationWithCustomOnesEnd(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(launching(allocation("batch", taskSpec("work"), taskSpec("report")), "1", map[string]*api.Launch{"report": {}}))
		b.driver.Process("work").Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
		b.want("report", "dead", brief(r, "report"))
		b.wantRuns("work")
	})
}

func TestManualHealthIsLeftToOperators(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		a.DeploymentID = "d"
		a.Job.Groups[0].Update.HealthCheck = ptr(api.HealthCheckManual)
		a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: ptr(true), Canary: true} // as somebody said before
		r := b.start(launching(a, "1", map[string]*api.Launch{"web": {Token: "x"}}))
		time.Sleep(time.Hour)
		synctest.Wait()
		b.want("launches", "1 unknown", verdictOf(r))
		if d := r.Report().DeploymentStatus; d != nil {
			b.Errorf("deployment status = %+v; want none", d)
		}
	})
}

func TestHealthOfLaunchesAtOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		a.Job.Groups[0].Update.MinHealthyTime = ptr(time.Duration(0))
		r := b.start(a)
		b.want("launches", "", verdictOf(r))
		b.steer(r, "1", map[string]*api.Launch{"web": {Token: "x"}})
		b.want("launches", "1 healthy", verdictOf(r))
		b.steer(r, "2", map[string]*api.Launch{"web": {Token: "x"}})
		b.want("launches", "2 healthy", verdictOf(r))
		b.steer(r, "3", map[string]*api.Launch{"web": {Token: "x", Hold: true}})
		b.want("launches", "3 healthy", verdictOf(r))
		b.driver.Starting = func(*driver.Task) error { return driver.ErrTaskLost }
		b.steer(r, "4", map[string]*api.Launch{"web": {Token: "y"}})
		b.want("launches", "4 unhealthy", verdictOf(r))
	})
}

func TestRecoveredInstanceIsJudgedByTheUpdateBlock(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		a.PreviousAllocation, a.Recovery = "before", api.RecoveryTransient
		a.Job.Groups[0].Update.MinHealthyTime = ptr(time.Duration(0))
		r := b.start(a)
		if d := r.Report().DeploymentStatus; d == nil || !value(d.Healthy) {
			b.Errorf("deployment status = %+v; want healthy with the start", d)
		}
	})
}
