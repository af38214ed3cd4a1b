// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
)

func essential(is bool) func(*api.Task) { return func(t *api.Task) { t.Essential = &is } }

func TestFinishedTaskOfAServiceIsNotRestarted(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web"), taskSpec("format", goal("finish"), policy(2, "fail"))))
		b.driver.Process("format").Exit(1)
		b.driver.Wait(3).Exit(0)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.wantRuns("web", "format", "format")
		b.want("format", "dead", brief(r, "format"))
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func TestServiceOfFinishedTasksIsComplete(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(launching(allocation("service", taskSpec("one", goal("finish")), taskSpec("two", goal("once")), taskSpec("report", goal("finish"))), "1",
			map[string]*api.Launch{"report": {}}))
		b.driver.Process("one").Exit(0)
		synctest.Wait()
		b.want("status", api.AllocClientRunning, r.Status())
		b.driver.Process("two").Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
	})
}

func TestTaskThatRunsMustNotEnd(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", goal("running"), policy(0, "fail"))))
		b.driver.Process("web").Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
	})
}

func TestWorkThatWasCutShortIsNotTakenForDone(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web"), taskSpec("format", goal("once")), taskSpec("later", lifecycle(api.HookPoststart, false))))
		r.Stop("Not needed", true)
		<-r.Ended()
		b.want("format", "dead failed", brief(r, "format"))
		b.want("status", api.AllocClientComplete, r.Status())
		job := r.Allocation().Job
		b.close()
		b.open()
		r = b.restore(job)
		b.want("status", api.AllocClientComplete, r.Status())
	})
}

func TestHealthNeedsFinishedTasks(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("web"), taskSpec("format", goal("finish")))
		a.DeploymentID = "d"
		r := b.start(a)
		time.Sleep(time.Minute)
		synctest.Wait()
		if d := r.Report().DeploymentStatus; d != nil {
			b.Fatalf("deployment status = %+v while a task has yet to finish", d)
		}
		b.driver.Process("format").Exit(0)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		b.want("healthy", true, *r.Report().DeploymentStatus.Healthy)
	})
}

func TestEssentialTaskTakesTheOthersAlong(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("server", essential(true), policy(1, "fail")), taskSpec("sidecar", policy(0, "fail")),
			taskSpec("format", goal("once")), taskSpec("init", lifecycle(api.HookPrestart, false))))
		b.driver.Process("init").Exit(0)
		synctest.Wait()
		b.driver.Process("format").Exit(0)
		begun := time.Now()
		b.driver.Process("server").Exit(1)
		synctest.Wait()
		b.want("running", []string(nil), b.driver.Running())
		b.driver.Wait(6)
		if d := time.Since(begun); d < 16*time.Second || d > 20*time.Second {
			b.Errorf("the others came back after %s; want 16s and up to a quarter more, as the failed one", d)
		}
		synctest.Wait()
		b.wantRuns("init", "server", "sidecar", "format", "server", "sidecar")
		words := `ask "server" failed, which is essential`
		events := story(r, "sidecar")[3:]
		b.want("told", []string{"Sibling Task Failed: Restarted because t" + words, "Killing: T" + words + ". Sent SIGINT, SIGKILL follows after 5s"}, events[:2])
		b.want("restarts", uint64(1), r.Report().TaskStates["sidecar"].Restarts)
		b.want("status", api.AllocClientRunning, r.Status())
		b.driver.Process("server").Exit(1) // its attempts are used up
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
	})
}

func TestOthersWaitForAnEssentialTaskAcrossAgents(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("server", essential(true), policy(1, "fail")), taskSpec("sidecar")))
		begun := time.Now()
		b.driver.Process("server").Exit(1)
		time.Sleep(5 * time.Second)
		job := r.Allocation().Job
		b.close()
		b.open()
		r = b.restore(job)
		b.driver.Wait(4)
		synctest.Wait()
		if d := time.Since(begun); d < 16*time.Second || d > 20*time.Second {
			b.Errorf("back after %s; want 16s and up to a quarter more", d)
		}
		b.wantRuns("server", "sidecar", "server", "sidecar")
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func TestFailureOfATaskThatIsNotEssentialIsItsOwn(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("server"), taskSpec("metrics", essential(false), policy(1, "fail")))
		a.DeploymentID = "d"
		r := b.start(a)
		b.driver.Process("metrics").Exit(1)
		b.driver.Wait(3).Exit(1)
		synctest.Wait()
		b.want("metrics", "dead failed", brief(r, "metrics"))
		b.wantLast(r, "metrics", "Not Restarting: Exit Code: 1, not restarting: 1 attempt in 30m used up")
		b.want("status", api.AllocClientRunning, r.Status())
		time.Sleep(time.Minute)
		synctest.Wait()
		b.want("healthy", true, *r.Report().DeploymentStatus.Healthy)
		b.wantRuns("server", "metrics", "metrics")
		b.steer(r, "1", map[string]*api.Launch{"metrics": {Token: "r1"}}) // an operator restarts it
		b.want("metrics", "running r1", brief(r, "metrics"))
	})
}

func TestNothingButFailedTasksIsAFailure(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(launching(allocation("service", taskSpec("metrics", essential(false), policy(0, "fail")), taskSpec("backup")), "1",
			map[string]*api.Launch{"backup": {}}))
		b.driver.Process("metrics").Exit(1)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
	})
}
