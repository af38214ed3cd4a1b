// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
)

func comesAfter(names ...string) func(*api.Task) { return func(t *api.Task) { t.After = names } }

func timeout(d time.Duration) func(*api.Task) { return func(t *api.Task) { t.Timeout = &d } }

func fated(fate string, a *api.Allocation) *api.Allocation {
	a.Job.Groups[0].Fate = fate
	return a
}

// runs lists the tasks that were started, in order.
func (b *bench) runs() []string {
	var names []string
	for _, p := range b.driver.Started() {
		names = append(names, p.Task.Name)
	}
	return names
}

// crashed compares the beginning of the reason of the last crash.
func (b *bench) crashed(r *Runner, why string) {
	b.Helper()
	if c := r.Report().Crashes; c == nil || !strings.HasPrefix(c.Reason, why) {
		b.Errorf("crashes %+v; want the reason to begin: %s", c, why)
	}
}

func TestSerialTasksRunOneAfterAnother(t *testing.T) {
	for _, kind := range []func(*api.Task){lifecycle(api.HookPrestart, false), goal(api.GoalFinish), lifecycle(api.HookPoststart, false)} {
		inBubble(t, func(b *bench) {
			r := b.start(allocation("service", taskSpec("third", kind, comesAfter("first", "second")), taskSpec("second", kind, comesAfter("first")),
				taskSpec("first", kind), taskSpec("main")))
			for _, name := range []string{"first", "second", "third"} {
				p := b.driver.Process(name)
				if p == nil {
					b.Fatalf("%s does not run after: %v", name, b.runs())
				}
				p.Exit(0)
				synctest.Wait()
			}
			serial := slices.DeleteFunc(b.runs(), func(name string) bool { return name == "main" })
			b.want("order", []string{"first", "second", "third"}, serial)
			b.want("status", api.AllocClientRunning, r.Status())
		})
	}
}

func TestSerialStopsAtTheFirstError(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("batch", taskSpec("first", policy(1, "fail")), taskSpec("second", comesAfter("first")), taskSpec("third", comesAfter("second"))))
		b.driver.Process("first").Exit(1)
		b.driver.Wait(2).Exit(1)
		<-r.Ended()
		b.want("runs", []string{"first", "first"}, b.runs())
		b.want("status", api.AllocClientFailed, r.Status())
		b.crashed(r, `task "first": exited with code 1 after `)
	})
}

// Where nothing ends anything else, what waits for a failure has no turn.
func TestWhatComesAfterAFailureIsNotRun(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(fated(api.FateIndependent, allocation("batch", taskSpec("first", policy(0, "fail")), taskSpec("second", comesAfter("first")),
			taskSpec("third", comesAfter("second")), taskSpec("beside", policy(0, "fail")))))
		b.driver.Process("first").Exit(1)
		synctest.Wait()
		b.wantLast(r, "second", `Sibling Task Failed: Task "first" failed, which it comes after`)
		b.wantLast(r, "third", `Sibling Task Failed: Task "second" has not run, which it comes after`)
		b.want("running", []string{"beside"}, b.driver.Running())
		b.driver.Process("beside").Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
	})
}

func TestTaskComesAfterOneThatIsWell(t *testing.T) {
	inBubble(t, func(b *bench) {
		r, scripts := b.starting(allocation("service", taskSpec("db", checked("liveness", "readiness")), taskSpec("web", comesAfter("db"))), "liveness", "readiness")
		time.Sleep(time.Minute)
		b.want("runs before db is well", []string{"db"}, b.runs())
		b.serves(r, false, false, `task "web" was not running`)
		scripts["liveness"].Store(0)
		time.Sleep(2 * time.Second)
		b.want("runs", []string{"db", "web"}, b.runs())
		scripts["readiness"].Store(0)
		time.Sleep(2 * time.Second)
		b.serves(r, true, true, "")
		b.driver.Process("db").Exit(1) // what runs does not wait again
		synctest.Wait()
		b.want("running", []string{"web"}, b.driver.Running())
	})
}

func TestSerialGoesOnWheneverTheAgentIsKilled(t *testing.T) {
	for n, killed := 1, true; killed; n++ {
		inBubble(t, func(b *bench) {
			a := allocation("batch", taskSpec("first", policy(0, "fail")), taskSpec("second", policy(0, "fail"), comesAfter("first")))
			var r *Runner
			r, killed = b.endure(n, a, func(*Runner) {
				if p := b.driver.Process("first"); p != nil {
					p.Exit(0)
				}
			})
			if p := b.driver.Process("first"); p != nil {
				p.Exit(0)
				synctest.Wait()
			}
			b.want(fmt.Sprintf("killed at call %d: running", n), []string{"second"}, b.driver.Running())
			b.driver.Process("second").Exit(0)
			<-r.Ended()
			b.want("status", api.AllocClientComplete, r.Status())
			b.want("runs", []string{"first", "second"}, b.runs())
		})
	}
}

func TestParallelWaitsForAll(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(fated(api.FateIndependent, allocation("batch", taskSpec("one", policy(0, "fail")), taskSpec("two", policy(0, "fail")))))
		b.driver.Process("one").Exit(1)
		time.Sleep(time.Hour)
		synctest.Wait()
		b.want("running", []string{"two"}, b.driver.Running())
		b.want("status", api.AllocClientRunning, r.Status())
		b.driver.Process("two").Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
	})
}

// The end of one of parallel tasks takes no traffic away.
func TestParallelExitStillRuns(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := fated(api.FateIndependent, allocation("service", taskSpec("web", checked("liveness", "readiness")), taskSpec("other", policy(1, "fail"))))
		r, _ := b.starting(a)
		b.serves(r, true, true, "")
		for range 2 {
			b.driver.Process("other").Exit(0)
			synctest.Wait()
			b.serves(r, true, true, "")
			time.Sleep(20 * time.Second)
			synctest.Wait()
		}
		b.want("other", "dead failed", brief(r, "other"))
		b.want("status", api.AllocClientRunning, r.Status())
		b.serves(r, true, true, "")
		b.want("runs", []string{"other", "other", "web"}, sorted(b.runs()))
	})
}

func TestCodependentExitEndsTheOthersAndIsACrash(t *testing.T) {
	for _, code := range []int{0, 3} {
		inBubble(t, func(b *bench) {
			r := b.start(fated(api.FateCodependent, allocation("service", taskSpec("web", policy(1, "fail")), taskSpec("other", policy(1, "fail")),
				taskSpec("proxy", lifecycle(api.HookPoststart, true), policy(1, "fail")))))
			b.driver.Process("other").Exit(code)
			synctest.Wait()
			b.want("running", []string(nil), b.driver.Running())
			b.crashed(r, fmt.Sprintf(`task "other": exited with code %d`, code))
			b.want("crashes", 1, r.Report().Crashes.Count)
			time.Sleep(21 * time.Second)
			synctest.Wait()
			b.want("running again", []string{"other", "proxy", "web"}, sorted(b.driver.Running()))
			told := strings.Join(story(r, "web"), "\n")
			if want := `Restarted because task "other" ended, and the tasks of the group are codependent`; !strings.Contains(told, want) {
				b.Errorf("web's events lack %q:\n%s", want, told)
			}
			b.driver.Process("proxy").Exit(0)
			b.driver.Wait(9)
			synctest.Wait()
			b.driver.Process("proxy").Exit(0) // its attempts are used up
			<-r.Ended()
			b.want("status", api.AllocClientFailed, r.Status())
		})
	}
}

// The task that has crashed is on record before the others are told to end: so
// must be that they are.
func TestCodependentTasksGoTogetherWheneverTheAgentIsKilled(t *testing.T) {
	n := 1
	for killed := true; killed; n++ {
		inBubble(t, func(b *bench) {
			a := fated(api.FateCodependent, allocation("service", taskSpec("web", policy(9, "fail")), taskSpec("other", policy(9, "fail"))))
			exited := false
			var r *Runner
			r, killed = b.endure(n, a, func(*Runner) {
				if p := b.driver.Process("other"); p != nil && b.driver.Process("web") != nil {
					p.Exit(0)
					exited = true
				}
			})
			time.Sleep(time.Minute)
			synctest.Wait()
			what := fmt.Sprintf("killed at call %d: ", n)
			b.want(what+"running", []string{"other", "web"}, sorted(b.driver.Running()))
			if exited {
				b.want(what+"runs", []string{"other", "other", "web", "web"}, sorted(b.runs()))
				b.want(what+"crashes", 1, r.Report().Crashes.Count)
			}
		})
	}
	if n < 10 {
		t.Errorf("the agent could be killed at %d moments only", n-2)
	}
}

func TestTriedTaskDoesNotCount(t *testing.T) {
	inBubble(t, func(b *bench) {
		r, _ := b.starting(allocation("service", taskSpec("web", checked("liveness", "readiness"), comesAfter("warm")), taskSpec("warm", goal(api.GoalFinish), essential(false), policy(0, "fail"))))
		b.want("runs", []string{"warm"}, b.runs())
		b.driver.Process("warm").Exit(1)
		b.driver.Wait(2)
		time.Sleep(time.Second)
		b.serves(r, true, true, "")
		if c := r.Report().Crashes; c != nil {
			b.Errorf("crashes %+v; want none: its failure does not count", c)
		}
	})
	inBubble(t, func(b *bench) {
		r := b.start(allocation("batch", taskSpec("init", lifecycle(api.HookPrestart, false), essential(false), policy(0, "fail")), taskSpec("work")))
		b.driver.Process("init").Exit(1)
		b.driver.Wait(2).Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
	})
}

func TestTimeoutEndsTheRunAndIsAnError(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("batch", taskSpec("work", timeout(30*time.Second), policy(1, "fail"))))
		begun := time.Now()
		p := b.driver.Process("work")
		<-p.Done()
		b.want("took", 30*time.Second, time.Since(begun))
		synctest.Wait()
		told := story(r, "work")
		b.want("killing", "Killing: Exceeded 30s timeout. Sent SIGINT, SIGKILL follows after 5s", told[len(told)-3])
		const what = "Restarting: Exceeded 30s timeout; ended by signal 2 (SIGINT) after 30s, restarting in 1"
		b.want("restart", what, told[len(told)-1][:len(what)])
		b.crashed(r, `task "work": exceeded 30s timeout; ended by signal 2 (SIGINT) after 30s`)

		b.driver.Wait(2).Exit(0) // in time
		<-r.Ended()
		b.want("status", api.AllocClientComplete, r.Status())
	})
}

// What heeds the signal with exit 0 has not done what it is for.
func TestExitAfterTheTimeoutIsNoSuccess(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("batch", taskSpec("work", timeout(30*time.Second), policy(0, "fail"))))
		p := b.driver.Process("work")
		p.IgnoreSignals()
		time.Sleep(31 * time.Second)
		p.Exit(0)
		<-r.Ended()
		b.want("status", api.AllocClientFailed, r.Status())
		b.crashed(r, `task "work": exceeded 30s timeout`)
	})
}

func TestTimeoutOutlivesTheAgentAndChangesInPlace(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("work", timeout(time.Minute), policy(0, "fail")))
		b.start(a)
		time.Sleep(40 * time.Second)
		b.close()
		b.open()
		r := b.restore(a.Job)
		a2 := changedJob(a, 5, func(j *api.Job) { timeout(50 * time.Second)(j.Groups[0].Tasks[0]) })
		r.Update(a2)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		b.want("running", []string{"work"}, b.driver.Running())
		time.Sleep(1001 * time.Millisecond)
		synctest.Wait()
		b.want("running after 50s", []string(nil), b.driver.Running())
		b.crashed(r, `task "work": exceeded 50s timeout; ended by signal 2`)
	})
}
