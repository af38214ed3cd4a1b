// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

// changedJob is the allocation with a newer version of its job.
func changedJob(a *api.Allocation, index uint64, change func(*api.Job)) *api.Allocation {
	job := *a.Job
	job.Version++
	g := *job.Groups[0]
	job.Groups = []*api.Group{&g}
	tasks := make([]*api.Task, len(g.Tasks))
	for i, t := range g.Tasks {
		c := *t
		c.Services = nil
		for _, s := range t.Services {
			s := *s
			checks := s.Checks
			s.Checks = nil
			for _, k := range checks {
				k := *k
				s.Checks = append(s.Checks, &k)
			}
			c.Services = append(c.Services, &s)
		}
		tasks[i] = &c
	}
	g.Tasks = tasks
	change(&job)
	job.Canonicalize()
	b := *a
	b.Job, b.AllocModifyIndex = &job, index
	return &b
}

func withCheck(name string, change func(*api.Check)) func(*api.Task) {
	return func(t *api.Task) {
		for _, k := range t.Services[0].Checks {
			if k.Name == name {
				change(k)
			}
		}
	}
}

func TestLostLivenessIsACrash(t *testing.T) {
	inBubble(t, func(b *bench) {
		r, scripts := b.starting(allocation("service", taskSpec("main", checked("liveness", "readiness"), policy(2, "fail"))))
		b.serves(r, true, true, "")
		b.pass(time.Minute)
		scripts["liveness"].Store(3)
		b.pass(10 * time.Second)
		const why = `Became unhealthy after 1m6s: liveness check "liveness" of service "s" failed: script: liveness: exit code 3 in 0s`
		told := story(r, "main")
		b.want("story", []string{
			"Unhealthy: " + why,
			"Killing: Unhealthy. Sent SIGINT, SIGKILL follows after 5s",
			"Terminated: Exit Code: 130, Signal: 2",
		}, told[len(told)-4:len(told)-1])
		b.want("restart", "Restarting: "+why+", restarting in 1", told[len(told)-1][:len("Restarting: "+why+", restarting in 1")])
		b.serves(r, false, false, `task "main" was not running`)
		b.want("restarts", uint64(1), r.Report().TaskStates["main"].Restarts)

		scripts["liveness"].Store(0)
		b.driver.Wait(2)
		b.pass(time.Second)
		b.serves(r, true, true, "")
	})
}

func TestNeverHealthyIsACrashAndUsesTheRestartsUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		spec := taskSpec("main", checked("liveness"), withCheck("liveness", func(k *api.Check) { k.StartTimeout = 30 * time.Second }), policy(1, "fail"))
		r, _ := b.starting(allocation("service", spec), "liveness")
		begun := time.Now().Add(-time.Second)
		b.serves(r, false, false, `check "liveness" of service "s" fails`)
		<-r.Ended()
		if took := time.Since(begun); took < 76*time.Second || took > 80*time.Second {
			t.Errorf("it gave up after %s, want twice the start timeout of 30s, and the delay of 16s to 20s", took)
		}
		b.want("status", api.AllocClientFailed, r.Status())
		told := story(r, "main")
		b.want("last event", `Not Restarting: Never healthy: liveness check "liveness" of service "s" did not pass within 30s of the start (asked 64 times): `+
			`script: liveness: exit code 2 in 0s, not restarting: 1 attempt in 30m used up`, told[len(told)-1])
	})
}

func TestWithoutStartTimeoutItStaysClaimed(t *testing.T) {
	inBubble(t, func(b *bench) {
		r, _ := b.starting(allocation("service", taskSpec("main", checked("liveness"))), "liveness")
		b.pass(24 * time.Hour)
		b.serves(r, false, false, `check "liveness" of service "s" fails`)
		b.want("processes", 1, len(b.driver.Started()))
	})
}

// A task that is restarted has its start timeout again, and an agent that is
// replaced does not give it one more.
func TestStartTimeoutOutlivesTheAgent(t *testing.T) {
	inBubble(t, func(b *bench) {
		spec := taskSpec("main", checked("liveness"), withCheck("liveness", func(k *api.Check) { k.StartTimeout = 30 * time.Second }), policy(1, "fail"))
		a := allocation("service", spec)
		r, _ := b.starting(a, "liveness")
		b.pass(19 * time.Second)
		data := r.encode()
		b.close()
		b.open()
		again, err := Restore(b.host, data, func(string, string, string, uint64) *api.Job { return a.Job })
		if err != nil {
			t.Fatal(err)
		}
		again.Resume()
		b.pass(9500 * time.Millisecond)
		b.want("restarts before", uint64(0), again.Report().TaskStates["main"].Restarts)
		b.pass(time.Second)
		b.want("restarts after 30s", uint64(1), again.Report().TaskStates["main"].Restarts)
	})
}

func TestChecksChangeInPlace(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("main", checked("liveness", "readiness")))
		r, scripts := b.starting(a)
		b.serves(r, true, true, "")
		since := r.Report().Serving.Since
		var asked []string
		b.driver.Process("main").Script(func(argv []string) int {
			asked = append(asked, argv[0])
			return int(scripts["readiness"].Load())
		})

		// Both ask another thing from now on, and one joins them.
		a2 := changedJob(a, 5, func(j *api.Job) {
			s := j.Groups[0].Tasks[0].Services[0]
			s.Checks[0].Command, s.Checks[1].Command = "other-liveness", "other-readiness"
			s.Checks = append(s.Checks, &api.Check{Name: "new", Type: api.CheckScript, Command: "new", Kind: api.CheckKindReadiness, Interval: 10 * time.Second, Timeout: time.Second})
		})
		r.Update(a2)
		b.serves(r, true, true, "") // before any of them was asked
		synctest.Wait()
		slices.Sort(asked)
		b.want("asked", []string{"new", "other-liveness", "other-readiness"}, asked)
		if s := r.Report().Serving; s.Since != since {
			t.Error("traffic was interrupted")
		}
		b.want("processes", 1, len(b.driver.Started()))

		// What fails goes on to fail when its check is changed.
		scripts["readiness"].Store(1)
		r.Update(changedJob(a2, 6, func(j *api.Job) {
			s := j.Groups[0].Tasks[0].Services[0]
			s.Checks = s.Checks[1:2]
			s.Checks[0].Timeout = 3 * time.Second
		}))
		synctest.Wait()
		b.serves(r, true, false, `check "readiness" of service "s" fails`)
		r.Update(changedJob(a2, 7, func(j *api.Job) {
			s := j.Groups[0].Tasks[0].Services[0]
			s.Checks = s.Checks[1:2]
			s.Checks[0].Timeout = 4 * time.Second
		}))
		b.serves(r, true, false, `check "readiness" of service "s" fails`)
		scripts["readiness"].Store(0)
		b.pass(time.Second)
		b.serves(r, true, true, "")
		b.want("processes", 1, len(b.driver.Started()))
	})
}

// A check that joins what serves, and fails, takes its effect then.
func TestANewCheckThatFails(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("main", checked("readiness"), policy(2, "fail")))
		r, _ := b.starting(a, "liveness")
		r.Update(changedJob(a, 5, func(j *api.Job) {
			s := j.Groups[0].Tasks[0].Services[0]
			s.Checks = append(s.Checks, &api.Check{Name: "liveness", Type: api.CheckScript, Command: "liveness", Kind: api.CheckKindLiveness,
				Interval: 10 * time.Second, Timeout: time.Second, FailuresBeforeCritical: 3})
		}))
		b.serves(r, true, true, "")
		b.pass(15 * time.Second)
		b.serves(r, true, true, "")
		b.pass(10 * time.Second)
		b.serves(r, false, false, `task "main" was not running`)
	})
}

func TestFlappingReadinessKillsNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		reports := 0
		b.host.Changed = func(_ *Runner, urgent bool) {
			if urgent {
				reports++
			}
		}
		r, _ := b.starting(allocation("service", taskSpec("main", checked("liveness", "readiness"))))
		n := 0
		b.driver.Process("main").Script(func(argv []string) int {
			if argv[0] == "liveness" {
				return 0
			}
			n++
			return n % 2
		})
		reports = 0
		flips, last := 0, r.Report().Serving.Routable
		for range 10 * 60 * 10 {
			b.pass(100 * time.Millisecond)
			synctest.Wait()
			if now := r.Report().Serving.Routable; now != last {
				flips, last = flips+1, now
			}
		}
		if flips < 60 || flips > 140 || reports != flips {
			t.Errorf("%d flips and %d urgent reports in ten minutes, want as many of both, at most two per interval of 10s", flips, reports)
		}
		b.want("processes", []string{"main"}, namesOf(b.driver.Started()))
		b.want("status", api.AllocClientRunning, r.Status())
	})
}

func namesOf(processes []*drivertest.Process) []string {
	var names []string
	for _, p := range processes {
		names = append(names, p.Task.Name)
	}
	return names
}

func TestMonitor(t *testing.T) {
	inBubble(t, func(b *bench) {
		monitored := func(t *api.Task) {
			t.Monitor = &api.Monitor{Command: "plain", Interval: 10 * time.Second, StartTimeout: time.Minute, FailuresBeforeCritical: 2}
		}
		a := allocation("service", taskSpec("main", monitored, policy(1, "fail")))
		r, scripts := b.starting(a, "plain")
		b.serves(r, false, false, `monitor of task "main" fails`)
		scripts["plain"].Store(0)
		b.pass(time.Second)
		b.serves(r, true, true, "")

		// It changes in place; without it nobody asks any more.
		r.Update(changedJob(a, 5, func(j *api.Job) { j.Groups[0].Tasks[0].Monitor = nil }))
		synctest.Wait()
		b.want("checks", 0, len(b.host.Checks.Statuses(r.ID())))
		scripts["plain"].Store(2)
		r.Update(changedJob(a, 6, func(*api.Job) {}))
		synctest.Wait() // it is asked once as it begins
		b.serves(r, true, true, "")

		b.pass(21 * time.Second)
		told := story(r, "main")
		// Intervals are shortened by up to a tenth, so that probes spread out.
		story := strings.Replace(told[len(told)-4], "after 9s:", "after 10s:", 1)
		b.want("story", `Unhealthy: Became unhealthy after 10s: monitor of task "main" failed 2 times in a row: script: plain: exit code 2 in 0s`, story)
		b.serves(r, false, false, `task "main" was not running`)
	})
}
