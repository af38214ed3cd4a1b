// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/drivertest"
)

// checked gives a task a service with a check by script for each kind.
func checked(kinds ...string) func(*api.Task) {
	return func(t *api.Task) {
		s := &api.Service{Name: "s", PortLabel: "http", Tags: []string{"at-${NOMAD_ALLOC_INDEX}"}, TaskName: t.Name}
		for _, kind := range kinds {
			name := kind
			if name == "" {
				name = "plain"
			}
			s.Checks = append(s.Checks, &api.Check{Name: name, Type: api.CheckScript, Command: name, Kind: kind, Interval: 10 * time.Second, Timeout: time.Second})
		}
		t.Services = append(t.Services, s)
	}
}

// answers are the exit codes of scripts, by their names.
type answers map[string]*atomic.Int64

func newAnswers(d *drivertest.Driver, failing ...string) answers {
	a := answers{"liveness": new(atomic.Int64), "readiness": new(atomic.Int64), "plain": new(atomic.Int64)}
	for _, name := range failing {
		a[name].Store(2)
	}
	d.Script(func(argv []string) int { return int(a[argv[0]].Load()) })
	return a
}

// serves checks what the servers are told.
func (b *bench) serves(r *Runner, up, routable bool, reason string) {
	b.Helper()
	s := r.Report().Serving
	if s == nil {
		s = &api.Serving{}
	}
	got := api.Serving{Up: s.Up, Routable: s.Routable, Reason: s.Reason}
	if diff := cmp.Diff(api.Serving{Up: up, Routable: routable, Reason: reason}, got); diff != "" {
		b.Errorf("serving (-want +got):\n%s", diff)
	}
}

// pass lets time go by, and what is due at its end happen.
func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// starting starts an allocation whose processes answer as told from the
// beginning.
func (b *bench) starting(a *api.Allocation, failing ...string) (*Runner, answers) {
	scripts := newAnswers(b.driver, failing...)
	r := New(b.host, a)
	r.Start()
	b.driver.Wait(1)
	b.pass(time.Second)
	return r, scripts
}

func TestReadinessMovesTrafficAndKillsNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		r, scripts := b.starting(allocation("service", taskSpec("main", checked("liveness", "readiness"))), "liveness", "readiness")
		b.serves(r, false, false, `check "liveness" of service "s" fails`)

		scripts["liveness"].Store(0)
		b.pass(time.Second)
		b.serves(r, true, false, `check "readiness" of service "s" fails`)

		scripts["readiness"].Store(0)
		b.pass(time.Second)
		b.serves(r, true, true, "")

		scripts["readiness"].Store(1)
		b.pass(11 * time.Second)
		b.serves(r, true, false, `check "readiness" of service "s" fails`)
		if len(b.driver.Started()) != 1 || r.Status() != api.AllocClientRunning {
			t.Errorf("%d processes, status %s: losing readiness must not restart anything", len(b.driver.Started()), r.Status())
		}
	})
}

func TestFailingChecksAreToldWithTheirAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		r, scripts := b.starting(allocation("service", taskSpec("main", checked("liveness", "readiness"))), "readiness")
		failing := func(want ...api.CheckFailure) {
			t.Helper()
			var got []api.CheckFailure
			for _, f := range r.Report().Serving.Failing {
				f := *f
				if f.Since == 0 {
					t.Errorf("%s fails since never", f.Check)
				}
				f.Since = 0
				got = append(got, f)
			}
			b.want("failing checks", want, got)
		}
		failure := func(name string, code int) api.CheckFailure {
			return api.CheckFailure{
				Kind: api.TroubleCheckFailed, Service: "s", Check: name, Task: "main", ExitCode: code,
				Answer: fmt.Sprintf("script: %s: exit code %d in 0s", name, code),
			}
		}
		failing(failure("readiness", 2))
		scripts["readiness"].Store(1)
		b.pass(2 * time.Second)
		failing(failure("readiness", 1))
		scripts["readiness"].Store(0)
		b.pass(2 * time.Second)
		failing()
	})
}

func TestHealthWaitsForAChangedCheckToBeAsked(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("main", checked("readiness")))
		a.Job.Groups[0].Update = &api.Update{MinHealthyTime: ptr(time.Duration(0)), HealthyDeadline: ptr(time.Minute)}
		r, scripts := b.starting(a)
		b.serves(r, true, true, "")
		scripts["readiness"].Store(2)
		u := changedJob(a, 5, func(j *api.Job) {
			c := j.Groups[0].Tasks[0].Services[0].Checks[0]
			c.FailuresBeforeCritical, c.Timeout = 2, 2*time.Second
		})
		u.DeploymentID = "d"
		r.Update(u)
		b.pass(5 * time.Second)
		b.serves(r, true, true, "") // one failure takes nothing away, but proves nothing
		if d := r.Report().DeploymentStatus; d != nil && d.Healthy != nil {
			t.Fatalf("healthy: %t, although the changed check has not passed", *d.Healthy)
		}
		scripts["readiness"].Store(0)
		b.pass(11 * time.Second)
		if d := r.Report().DeploymentStatus; d == nil || d.Healthy == nil || !*d.Healthy {
			t.Errorf("the changed check passed, and the deployment is told %+v", d)
		}
	})
}

func TestCrashesSayWhatTheyAre(t *testing.T) {
	inBubble(t, func(b *bench) {
		r := b.start(allocation("service", taskSpec("web", policy(2, "fail"))))
		is := func(want api.Crashes) {
			t.Helper()
			c := r.Report().Crashes
			if c == nil {
				t.Fatal("no crash is told")
			}
			b.want("crash", want, api.Crashes{Kind: c.Kind, Task: c.Task, ExitCode: c.ExitCode, Signal: c.Signal})
		}
		b.driver.Process("web").Exit(3)
		synctest.Wait()
		is(api.Crashes{Kind: api.TroubleExited, Task: "web", ExitCode: 3})
	})
	inBubble(t, func(b *bench) {
		r, scripts := b.starting(allocation("service", taskSpec("main", checked("liveness"), policy(1, "fail"))))
		scripts["liveness"].Store(2)
		b.pass(20 * time.Second)
		if c := r.Report().Crashes; c == nil || c.Kind != api.TroubleCheckFailed || c.Task != "main" {
			t.Errorf("a liveness check that fails is told as %+v", c)
		}
	})
}

func TestWhatServesIsTold(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("main", checked("")))
		a.AllocatedResources = &api.AllocatedResources{Shared: api.AllocatedShared{
			Ports: []api.PortMapping{{Label: "http", Value: 20001, HostIP: "10.0.0.1"}},
		}}
		r, _ := b.starting(a)
		want := []*api.ServiceRegistration{{
			ID: "_reeve-" + a.ID + "-main-s-http", ServiceName: "s", Namespace: "default", Datacenter: "dc1", JobID: "web",
			AllocID: a.ID, Tags: []string{"at-0"}, Address: "10.0.0.1", Port: 20001,
		}}
		first := r.Report().Serving
		if diff := cmp.Diff(want, first.Services); diff != "" {
			t.Errorf("services (-want +got):\n%s", diff)
		}

		// Tags change in place, and nothing else does.
		job := *a.Job
		job.Version = 1
		job.Groups = []*api.Group{{Name: "g", Tasks: []*api.Task{taskSpec("main", checked(""))}}}
		job.Canonicalize()
		job.Groups[0].Tasks[0].Services[0].Tags = []string{"new"}
		b2 := *a
		b2.Job, b2.AllocModifyIndex = &job, 5
		r.Update(&b2)
		b.pass(time.Second)
		second := r.Report().Serving
		want[0].Tags = []string{"new"}
		if diff := cmp.Diff(want, second.Services); diff != "" {
			t.Errorf("services after a change of tags (-want +got):\n%s", diff)
		}
		if second.Since != first.Since || !second.Routable {
			t.Errorf("serving was interrupted: %+v, then %+v", first, second)
		}
	})
}

func TestServingIsNotSaidOfWhatHasNoServices(t *testing.T) {
	inBubble(t, func(b *bench) {
		if s := b.start(allocation("service", taskSpec("main"))).Report().Serving; s != nil {
			t.Errorf("serving is %+v, want none", s)
		}
	})
}

func TestTrafficLeavesBeforeTheSignal(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("main", checked("readiness")))
		a.Job.Groups[0].ShutdownDelay = ptr(5 * time.Second)
		r, _ := b.starting(a)
		b.serves(r, true, true, "")
		r.Stop("because", false)
		synctest.Wait()
		b.serves(r, true, false, "it is about to stop (shutdown_delay)")
		if p := b.driver.Process("main"); p == nil || len(p.Signals()) > 0 {
			t.Error("the task was told to end before its shutdown_delay was over")
		}
		b.pass(5 * time.Second)
		<-r.Ended()
		synctest.Wait() // what stopped it goes on after the process has ended
		if got := b.driver.Started()[0].Signals(); len(got) != 1 {
			t.Errorf("signals %v, want one", got)
		}
	})
}

// An agent that is replaced does not take traffic away from what serves.
func TestServingOutlivesTheAgent(t *testing.T) {
	inBubble(t, func(b *bench) {
		a := allocation("service", taskSpec("main", checked("liveness", "readiness")))
		r, scripts := b.starting(a)
		b.serves(r, true, true, "")
		since := r.Report().Serving.Since
		data := r.encode()
		b.close()

		b.open()
		scripts["readiness"].Store(1) // it became unready while no agent looked
		again, err := Restore(b.host, data, func(string, string, string, uint64) *api.Job { return a.Job })
		if err != nil {
			t.Fatal(err)
		}
		if s := again.Report().Serving; s == nil || !s.Routable || s.Since != since {
			t.Fatalf("the new agent begins with %+v, want what the last one said", s)
		}
		again.Resume()
		b.pass(time.Second)
		b.serves(again, true, false, `check "readiness" of service "s" fails`)
	})
}
