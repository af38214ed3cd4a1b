// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestServiceIsRestartedUntilItsPolicyIsUsedUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", policy(2, "fail"))))
		begun := time.Now()
		b.driver.Wait(1).Exit(1)
		b.driver.Wait(2).Exit(1)
		first := time.Since(begun)
		if first < 16*time.Second || first > 20*time.Second {
			b.Errorf("the first restart came after %s; want 16s and up to a quarter more", first)
		}
		b.driver.Wait(3).Exit(1)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
		var kinds []string
		for _, e := range r.Report().TaskStates["web"].Events {
			kinds = append(kinds, e.Type)
		}
		b.want("events", []string{"Received", "Task Setup", "Started", "Terminated", "Restarting", "Started", "Terminated", "Restarting", "Started", "Terminated", "Not Restarting"}[1:], kinds)
		events := story(r, "web")
		last := events[len(events)-1]
		b.want("last event", "Not Restarting: Exit Code: 1, not restarting: 2 attempts in 30m used up", last)
		if !strings.Contains(events[3], "(attempt 1 of 2 in 30m)") {
			b.Errorf("restart event = %q; want the attempt in it", events[3])
		}
		b.want("restarts", uint64(2), r.Report().TaskStates["web"].Restarts)
	})
}

func TestBatchTaskEndsWithExitZero(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("batch", taskSpec("work")))
		b.want("status", api.AllocClientRunning, r.Status())
		b.driver.Wait(1).Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
		b.want("story", []string{
			"Received: The task is on its node", "Task Setup: Making the task's directories", "Started: Runs as process 1000",
			"Terminated: Exit Code: 0",
		}, story(r, "work"))
	})
}

func TestStopSendsTheKillSignalAndWaits(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", func(t *api.Task) { t.KillSignal, t.KillTimeout = "SIGTERM", ptr(7*time.Second) })))
		p := b.driver.Wait(1)
		p.IgnoreSignals()
		begun := time.Now()
		r.Stop("Alloc not needed", false)
		<-r.Ended()
		b.want("time", 7*time.Second, time.Since(begun))
		b.want("signals", []string{"SIGTERM"}, p.Signals())
		b.want("status", api.AllocClientComplete, r.Status())
		b.want("story", []string{
			"Killing: Alloc not needed. Sent SIGTERM, SIGKILL follows after 7s",
			"Terminated: Exit Code: 137, Signal: 9", "Killed: The task has been stopped",
		}, story(r, "web")[3:])
	})
}

func TestFailedTaskStopsItsSiblings(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", policy(0, "fail")), taskSpec("side")))
		b.driver.Process("web").Exit(3)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
		b.want("story", `Sibling Task Failed: Task "web" of the group failed`, story(r, "side")[3])
		b.want("failed", false, r.Report().TaskStates["side"].Failed)
	})
}

func TestLeaderEndsTheOthers(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("batch", taskSpec("lead", func(t *api.Task) { t.Leader = true }), taskSpec("ship")))
		b.driver.Process("lead").Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
		b.want("story", `Leader Task Dead: The group's leader task "lead" ended`, story(r, "ship")[3])
	})
}

func TestHooksRunInTheirOrder(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("batch",
			taskSpec("main"),
			taskSpec("init", lifecycle(api.HookPrestart, false)),
			taskSpec("proxy", lifecycle(api.HookPrestart, true)),
			taskSpec("hello", lifecycle(api.HookPoststart, false)),
			taskSpec("bye", lifecycle(api.HookPoststop, false)),
		))
		b.want("first", []string{"init", "proxy"}, sorted(b.driver.Running()))
		b.driver.Process("init").Exit(0)
		synctest.Wait()
		b.want("after init", []string{"hello", "main", "proxy"}, sorted(b.driver.Running()))
		b.driver.Process("hello").Exit(0)
		b.driver.Process("main").Exit(0)
		synctest.Wait()
		b.want("after main", []string{"bye"}, b.driver.Running())
		b.want("proxy", "Main Tasks Dead: The group's main tasks have ended", story(r, "proxy")[3])
		b.want("status", api.AllocClientRunning, r.Status())
		b.driver.Process("bye").Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
	})
}

func TestFailedPrestartKeepsMainFromStarting(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("main"), taskSpec("init", lifecycle(api.HookPrestart, false), policy(0, "fail"))))
		b.driver.Process("init").Exit(1)
		<-r.Ended()
		b.want("started", 1, len(b.driver.Started()))
		b.want("status", api.AllocClientFailed, r.Status())
		b.want("main", "dead", r.Report().TaskStates["main"].State)
	})
}

func TestUserRestartDoesNotCount(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", policy(0, "fail"))))
		for i := 2; i < 5; i++ {
			if err := r.Restart(""); err != nil {
				b.Fatal(err)
			}
			b.driver.Wait(i)
			synctest.Wait()
		}
		b.want("status", api.AllocClientRunning, r.Status())
		b.want("restarts", uint64(3), r.Report().TaskStates["web"].Restarts)
		err := r.Restart("wbe")
		b.want("unknown task", `allocation a10c0000 has no task "wbe"; it has: web`, err.Error())
	})
}

func TestRestartAllBeginsAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("main"), taskSpec("init", lifecycle(api.HookPrestart, false))))
		b.driver.Process("init").Exit(0)
		b.driver.Wait(2)
		synctest.Wait()
		if err := r.RestartAll(); err != nil {
			b.Fatal(err)
		}
		b.driver.Wait(3)
		b.want("running", []string{"init"}, b.driver.Running())
		b.driver.Process("init").Exit(0)
		b.driver.Wait(4)
		synctest.Wait()
		b.want("running", []string{"main"}, b.driver.Running())
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func TestHealthIsKnownAfterMinHealthyTime(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", policy(3, "fail")))
		a.DeploymentID = "d"
		begun := time.Now()
		r := b.start(a)
		time.Sleep(5 * time.Second)
		b.driver.Process("web").Exit(1) // what was well so far does not count
		b.driver.Wait(2)
		again := time.Now()
		synctest.Wait()
		for r.Report().DeploymentStatus == nil {
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		b.want("healthy", true, *r.Report().DeploymentStatus.Healthy)
		if d := time.Since(again); d < 10*time.Second || d > 10200*time.Millisecond {
			b.Errorf("healthy %s after the restart (%s after the start); want 10s", d, again.Sub(begun))
		}
	})
}

func TestUnhealthyAtTheDeadline(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", func(t *api.Task) {
			t.Services = []*api.Service{{Name: "s", PortLabel: "1", Checks: []*api.Check{{Name: "up", Type: api.CheckTCP, PortLabel: "1", Interval: time.Minute}}}}
		}))
		a.DeploymentID = "d"
		r := b.start(a)
		time.Sleep(5*time.Minute + time.Second)
		synctest.Wait()
		d := r.Report().DeploymentStatus
		if d == nil || d.Healthy == nil || *d.Healthy {
			b.Fatalf("deployment status = %+v; want unhealthy", d)
		}
		events := story(r, "web")
		b.want("event", `Alloc Unhealthy: Not healthy for min_healthy_time of 10s by healthy_deadline of 5m: check "up" of service "s" did not pass`, events[len(events)-1])
	})
}

func TestHealthAtOnceWithoutMinHealthyTime(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		a.DeploymentID = "d"
		a.Job.Groups[0].Update.MinHealthyTime = ptr(time.Duration(0))
		r := b.start(a)
		if d := r.Report().DeploymentStatus; d == nil || d.Healthy == nil || !*d.Healthy {
			b.Fatalf("deployment status = %+v; want healthy with the start", d)
		}
	})
}

func TestStartFailureIsToldAndRetried(t *testing.T) {
	inBubble(t, func(b *bench) {
		fail := true
		b.driver.Starting = func(*driver.Task) error {
			if fail {
				fail = false
				return &driver.RecoverableError{Err: errors.New("no such program: /bin/nothing")}
			}
			return nil
		}
		r := b.start(allocation("service", taskSpec("web")))
		b.driver.Wait(1)
		synctest.Wait()
		b.want("status", api.AllocClientRunning, r.Status())
		b.want("event", "Driver Failure: The driver could not start the task: no such program: /bin/nothing", story(r, "web")[2])
	})
}

func TestUnknownDriverIsASetupFailure(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", func(t *api.Task) { t.Driver = "doker" })))
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
		b.want("event", `Setup Failure: Setup failed: this node has no driver "doker"`, story(r, "web")[2])
	})
}

func TestDirectoryThatCannotBeMadeIsASetupFailure(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		if err := os.WriteFile(b.host.Dirs.Root(a.ID), nil, 0o600); err != nil {
			b.Fatal(err)
		}
		r := b.start(a)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
		b.want("story", []string{
			"Setup Failure: Setup failed: create directory " + b.host.Dirs.Root(a.ID) + ": something that is not a directory is in its place",
			"Not Restarting: Another attempt on this node would not help",
		}, story(r, "web")[2:])
	})
}

func TestUpdateInPlaceKeepsTheProcess(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"))
		r := b.start(a)
		next := a.Copy()
		data, err := json.Marshal(a.Job)
		if err != nil {
			b.Fatal(err)
		}
		next.Job = &api.Job{}
		if err := json.Unmarshal(data, next.Job); err != nil {
			b.Fatal(err)
		}
		next.Job.Version, next.AllocModifyIndex = 1, 9
		next.Job.Groups[0].Tasks[0].Restart.Attempts = ptr(0)
		r.Update(next)
		synctest.Wait()
		b.want("started", 1, len(b.driver.Started()))
		b.driver.Process("web").Exit(1)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
	})
}

func TestShutdownDelays(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web", func(t *api.Task) { t.ShutdownDelay = 3 * time.Second }))
		a.Job.Groups[0].ShutdownDelay = ptr(4 * time.Second)
		r := b.start(a)
		begun := time.Now()
		r.Stop("", false)
		<-r.Ended()
		b.want("time", 7*time.Second, time.Since(begun))
	})
}

func TestMaxRunDurationEndsComplete(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("batch", taskSpec("work"))
		a.Job.Groups[0].MaxRunDuration = ptr(time.Hour)
		begun := time.Now()
		r := b.start(a)
		<-r.Ended()
		b.want("time", time.Hour, time.Since(begun))
		b.want("status", api.AllocClientComplete, r.Status())
		b.want("task failed", false, r.Report().TaskStates["work"].Failed)
	})
}
