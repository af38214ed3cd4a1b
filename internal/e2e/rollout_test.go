// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// TestRolloutsOfAShop walks through docs/rollouts.md with examples/plans.hcl and
// the command line, on one machine with real processes. Each part begins
// where the one before it ended.
func TestRolloutsOfAShop(t *testing.T) {
	t.Parallel()
	s := &shop{machine: newMachine(t)}
	s.firstDeployment()
	s.badVersionIsReverted()
	s.changeOfMind()
	s.crashDuringRollout()
	s.scaleDown()
	s.backup()
	s.replacement()
	s.restartOverAKill9()
	s.uninstall()
}

// shop is a machine on which the example is rolled out.
type shop struct{ *machine }

// reeve runs a command and wants it to succeed.
func (s *shop) reeve(args ...string) string {
	s.t.Helper()
	out, code := s.try(args...)
	if code != 0 {
		s.t.Fatalf("reeve %s: exit code %d:\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

func (s *shop) try(args ...string) (output string, code int) {
	s.t.Helper()
	cmd := exec.Command(reeve, args...)
	cmd.Env = append(cmd.Environ(), "REEVE_ADDR=http://"+s.Addr)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		s.t.Fatalf("reeve %s: %v", strings.Join(args, " "), err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (s *shop) run(vars ...string) {
	s.t.Helper()
	args := []string{"job", "run", "-detach"}
	for _, v := range vars {
		args = append(args, "-var", v)
	}
	s.reeve(append(args, "../../examples/plans.hcl")...)
}

// plan waits until a plan is as wanted.
func (s *shop) plan(name, what string, ok func(*api.Plan) bool) *api.Plan {
	s.t.Helper()
	var found, last *api.Plan
	s.eventually("plan "+name+" "+what, func(ctx context.Context) error {
		p, _, err := s.Client.Plans().Get(ctx, "shop", name, nil)
		switch {
		case err != nil && last != nil:
			return fmt.Errorf("%w; it was\n%s", err, drawn(last))
		case err != nil:
			return err
		case !ok(p):
			last = p
			return fmt.Errorf("it is\n%s", drawn(p))
		}
		found = p
		return nil
	})
	return found
}

func drawn(p *api.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s of version %d %s %s\n", p.Name, p.JobVersion, p.Status, p.Message)
	for _, ph := range p.Phases {
		fmt.Fprintf(&b, "  %s %s %s\n", ph.Name, ph.Status, ph.Message)
		for _, st := range ph.Steps {
			fmt.Fprintf(&b, "    %s %s %s\n", st.Name, st.Status, st.Message)
		}
	}
	return b.String()
}

func complete(p *api.Plan) bool { return p.Status == api.PlanComplete }

// steps are the statuses of a phase's steps.
func steps(p *api.Plan, phase string) (statuses []api.PlanStatus) {
	for _, ph := range p.Phases {
		if ph.Name != phase {
			continue
		}
		for _, st := range ph.Steps {
			statuses = append(statuses, st.Status)
		}
	}
	return statuses
}

// canaryDone reports whether the web waits with its first step complete.
func canaryDone(p *api.Plan) bool {
	web := steps(p, "web")
	return p.Status == api.PlanWaiting && len(web) > 0 && web[0] == api.PlanComplete &&
		!slices.Contains(web[1:], api.PlanComplete)
}

// live are the allocations that are to run, by instance.
func (s *shop) live() map[string]*api.AllocationListStub {
	s.t.Helper()
	list, _, err := s.Client.Jobs().Allocations(s.t.Context(), "shop", true, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	live := map[string]*api.AllocationListStub{}
	for _, a := range list {
		if a.DesiredStatus == api.AllocDesiredRun && (a.ClientStatus == api.AllocClientRunning || a.ClientStatus == api.AllocClientPending) {
			live[strings.TrimPrefix(a.Name, "shop.")] = a
		}
	}
	return live
}

// versions are the job versions of the live instances of the web.
func (s *shop) versions() (versions []uint64) {
	s.t.Helper()
	live := s.live()
	for _, name := range slices.Sorted(maps.Keys(live)) {
		if strings.HasPrefix(name, "web[") {
			versions = append(versions, live[name].JobVersion)
		}
	}
	return versions
}

func (s *shop) same(what string, got, want any) {
	s.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// firstDeployment is serial, with an init task before each server, readiness,
// and a canary that is continued twice.
func (s *shop) firstDeployment() {
	s.run()
	p := s.plan("deploy", "waits for the web to be continued", func(p *api.Plan) bool {
		return p.Status == api.PlanWaiting && !slices.ContainsFunc(steps(p, "store"), func(st api.PlanStatus) bool { return st != api.PlanComplete })
	})
	s.same("steps of the store", len(steps(p, "store")), 4)
	live := s.live()
	s.same("instances before the first continue", len(live), 2)
	first, second := live["store[0]"].TaskStates, live["store[1]"].TaskStates
	if !first["prepare"].FinishedAt.Before(first["server"].StartedAt) || !first["server"].StartedAt.Before(second["prepare"].StartedAt) {
		s.t.Errorf("not one after the other: store[0] prepared until %s, served from %s; store[1] was prepared from %s",
			first["prepare"].FinishedAt, first["server"].StartedAt, second["prepare"].StartedAt)
	}
	s.same("state of the task that only the backup plan runs", first["backup"].State, api.TaskStatePending)

	s.reeve("plan", "continue", "shop", "deploy", "web")
	s.plan("deploy", "has one instance of the web", canaryDone)
	s.same("instances of the web after one continue", len(s.versions()), 1)
	s.reeve("plan", "continue", "shop", "deploy", "web")
	s.plan("deploy", "is complete", complete)
	s.same("versions of the web", s.versions(), []uint64{0, 0, 0})
}

// badVersionIsReverted rolls out a version that is never ready: its canary fails
// the deployment, and the version before runs again without a canary of its own.
func (s *shop) badVersionIsReverted() {
	stores := s.live()
	s.run("version=bad", "start_delay=1h")
	s.plan("deploy", "waits", func(p *api.Plan) bool { return p.JobVersion == 1 && p.Status == api.PlanWaiting })
	s.reeve("plan", "continue", "shop", "deploy", "web")
	p := s.plan("deploy", "is complete at the version that was stable", func(p *api.Plan) bool { return p.JobVersion == 2 && complete(p) })
	s.same("steps of the web", len(steps(p, "web")), 3)
	now := s.live()
	for _, name := range []string{"store[0]", "store[1]", "web[1]", "web[2]"} {
		s.same("allocation of "+name, now[name].ID, stores[name].ID)
	}
	job, _, err := s.Client.Jobs().Get(s.t.Context(), "shop", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.same("version that runs", job.Group("web").Tasks[0].Env["VERSION"], "1")
}

// changeOfMind replaces a rollout halfway: all go to the newest version,
// whatever they run.
func (s *shop) changeOfMind() {
	s.run("version=2")
	s.plan("deploy", "waits", func(p *api.Plan) bool { return p.JobVersion == 3 && p.Status == api.PlanWaiting })
	s.reeve("plan", "continue", "shop", "deploy", "web")
	s.plan("deploy", "has one instance", func(p *api.Plan) bool { return p.JobVersion == 3 && canaryDone(p) })
	s.run("version=3")
	s.plan("deploy", "waits again", func(p *api.Plan) bool {
		return p.JobVersion == 4 && p.Status == api.PlanWaiting && !slices.Contains(steps(p, "web"), api.PlanComplete)
	})
	s.reeve("plan", "continue", "shop", "deploy", "web")
	s.plan("deploy", "has one instance", func(p *api.Plan) bool { return p.JobVersion == 4 && canaryDone(p) })
	s.reeve("plan", "continue", "shop", "deploy", "web")
	s.plan("deploy", "is complete", func(p *api.Plan) bool { return p.JobVersion == 4 && complete(p) })
	s.same("versions of the web", s.versions(), []uint64{4, 4, 4})
}

// crashDuringRollout ends an instance that has not been moved yet: it comes
// back at the version it had.
func (s *shop) crashDuringRollout() {
	s.run("version=4")
	s.plan("deploy", "waits", func(p *api.Plan) bool { return p.JobVersion == 5 && p.Status == api.PlanWaiting })
	s.reeve("plan", "continue", "shop", "deploy", "web")
	s.plan("deploy", "has one instance", func(p *api.Plan) bool { return p.JobVersion == 5 && canaryDone(p) })
	crashed := s.live()["web[2]"]
	s.crash(crashed)
	s.eventually("web[2] runs again", func(context.Context) error {
		a := s.live()["web[2]"]
		if a == nil || a.ID == crashed.ID || a.ClientStatus != api.AllocClientRunning {
			return fmt.Errorf("it is %+v", a)
		}
		return nil
	})
	s.same("versions of the web after the crash", s.versions(), []uint64{5, 4, 4})
	s.reeve("plan", "continue", "shop", "deploy", "web")
	s.plan("deploy", "is complete", func(p *api.Plan) bool { return p.JobVersion == 5 && complete(p) })
	s.same("versions of the web", s.versions(), []uint64{5, 5, 5})
}

// crash kills the process of an allocation of the web.
func (s *shop) crash(a *api.AllocationListStub) {
	s.t.Helper()
	full, _, err := s.Client.Allocations().Get(s.t.Context(), a.ID, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, pid := range s.Processes() {
		if slices.Contains(environment(pid), "NOMAD_ALLOC_ID="+full.ID) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				s.t.Fatal(err)
			}
			return
		}
	}
	s.t.Fatalf("no process of %s", full)
}

// environment is what a process was started with; none if it has ended.
func environment(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return strings.Split(string(text), "\x00")
}

// scaleDown takes the highest index away, and nothing else.
func (s *shop) scaleDown() {
	before := s.live()
	s.reeve("job", "scale", "-detach", "shop", "web", "2")
	s.eventually("web[2] is gone", func(context.Context) error {
		if a := s.live()["web[2]"]; a != nil {
			return fmt.Errorf("it is %s", a.ClientStatus)
		}
		return nil
	})
	after := s.live()
	s.same("instances", len(after), 4)
	for name, a := range after {
		s.same("allocation of "+name, a.ID, before[name].ID)
	}
}

// backup runs a custom plan twice, beside the servers that go on.
func (s *shop) backup() {
	before := s.live()
	if out, code := s.try("plan", "start", "-p", "not-a-name=1", "shop", "backup"); code == 0 || !strings.Contains(out, "not-a-name") {
		s.t.Errorf("a parameter that is no name: exit code %d: %s", code, out)
	}
	for _, label := range []string{"friday", "saturday"} {
		s.reeve("plan", "start", "-p", "LABEL="+label, "shop", "backup")
		p := s.plan("backup", "is complete", func(p *api.Plan) bool { return complete(p) && p.Parameters["LABEL"] == label })
		s.same("steps of the backup", steps(p, "store"), []api.PlanStatus{api.PlanComplete, api.PlanComplete})
		for i := range 2 {
			a := s.live()[fmt.Sprintf("store[%d]", i)]
			s.waitForLog(a.ID, "backup", fmt.Sprintf("backup %s: made for instance %d\n", label, i))
		}
	}
	for name, a := range s.live() {
		s.same("allocation of "+name, a.ID, before[name].ID)
		for task, state := range a.TaskStates {
			if task == "server" {
				s.same("restarts of "+name, state.StartedAt, before[name].TaskStates[task].StartedAt)
			}
		}
	}
}

// replacement gives an instance of the store up: the one that takes its place is
// prepared anew, in its own directory, and stays up.
func (s *shop) replacement() {
	before := s.live()
	s.reeve("instance", "replace", "-reason", "bad disk", "shop", "store-0")
	s.eventually("store[0] serves from another directory", func(context.Context) error {
		a := s.live()["store[0]"]
		if a == nil || a.ID == before["store[0]"].ID || a.TaskStates["server"] == nil || a.TaskStates["server"].State != api.TaskStateRunning {
			return fmt.Errorf("it is %+v", a)
		}
		return nil
	})
	s.waitForLog(s.live()["store[0]"].ID, "server", "made for instance 0\n")
	after := s.live()
	delete(before, "store[0]")
	for name, a := range before {
		s.same("allocation of "+name, after[name].ID, a.ID)
	}
}

// restartOverAKill9 pauses a rolling restart, kills the server, and goes on:
// every server task is restarted once. The wait after each batch is the time that
// there is for pausing it: without one all are restarted within 0.1 s.
func (s *shop) restartOverAKill9() {
	before := s.live()
	s.reeve("job", "restart", "-detach", "-yes", "-batch-size", "1", "-batch-wait", "4s", "-task", "server", "-reason", "leaks", "shop")
	list, _, err := s.Client.Restarts().OfJob(s.t.Context(), "shop", nil)
	if err != nil || len(list) != 1 {
		s.t.Fatalf("restarts: %v, %v", list, err)
	}
	id := list[0].ID
	s.restart(id, "has begun", func(r *api.JobRestart) bool { return len(r.RestartedAllocs) > 0 })
	s.reeve("job", "restart", "-pause", id)
	s.Kill()
	s.start()
	s.waitReady()
	paused := s.restart(id, "is still paused", func(r *api.JobRestart) bool { return r.Status == api.RestartPaused })
	if len(paused.RestartedAllocs) == len(before) {
		s.t.Fatal("it was over before it was paused: nothing was tried")
	}
	s.reeve("job", "restart", "-resume", id)
	s.restart(id, "is complete", func(r *api.JobRestart) bool { return r.Status == api.RestartComplete })
	after := s.live()
	s.same("instances", len(after), len(before))
	for name, a := range after {
		s.same("allocation of "+name, a.ID, before[name].ID)
		was, is := before[name].TaskStates["server"], a.TaskStates["server"]
		if is.Restarts != was.Restarts+1 || !is.StartedAt.After(was.StartedAt) {
			s.t.Errorf("the server of %s was restarted %d times, want once; it started at %s, before at %s; its events:", name, is.Restarts-was.Restarts, is.StartedAt, was.StartedAt)
			for _, e := range is.Events {
				s.t.Errorf("  %s %s: %s", time.Unix(0, e.Time).Format(time.TimeOnly), e.Type, e.DisplayMessage)
			}
		}
	}
}

func (s *shop) restart(id, what string, ok func(*api.JobRestart) bool) (found *api.JobRestart) {
	s.t.Helper()
	s.eventually("the restart "+what, func(ctx context.Context) error {
		r, _, err := s.Client.Restarts().Get(ctx, id, nil)
		if err == nil && !ok(r) {
			err = fmt.Errorf("it is %+v", r)
		}
		found = r
		return err
	})
	return found
}

// uninstall forgets the job once nothing of it runs.
func (s *shop) uninstall() {
	s.reeve("job", "stop", "-purge", "-yes", "shop")
	s.eventually("the job is forgotten", func(ctx context.Context) error {
		_, _, err := s.Client.Jobs().Get(ctx, "shop", nil)
		if api.CodeOf(err) == api.CodeNotFound {
			return nil
		}
		return fmt.Errorf("it is there: %v", err)
	})
	for _, pid := range s.Processes() {
		if slices.ContainsFunc(environment(pid), func(v string) bool { return v == "NOMAD_JOB_ID=shop" }) {
			s.t.Errorf("process %d of the job still runs", pid)
		}
	}
}
