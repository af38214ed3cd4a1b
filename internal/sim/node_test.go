// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// alone is a node that nobody talks to, and an instance of a behaviour on it.
func alone(b behaviour) (*node, func(desired string, at time.Time) *instance) {
	b.scenario = &Tasks{}
	g := &group{spec: &api.Group{Name: "g"}, behaviour: &b}
	b.tasks = []string{"main"}
	j := &job{spec: &api.Job{ID: "j"}, groups: map[string]*group{"g": g}}
	r := &run{scenario: &Scenario{Until: untilDone}, jobs: map[string]*job{"j": j}, lost: map[string]bool{}, missed: map[string]time.Time{}}
	n := newNode(r, &api.Node{ID: "n"}, nil, 0)
	return n, func(desired string, at time.Time) *instance {
		n.receive(&api.NodeAllocations{Allocations: []*api.NodeAllocation{{Allocation: &api.Allocation{
			ID: "a", JobID: "j", Group: "g", Name: "j.g[0]", DesiredStatus: desired,
			AllocatedResources: &api.AllocatedResources{Tasks: map[string]*api.AllocatedTask{"main": {CPU: api.AllocatedCPU{CPUShares: 10}}}},
		}}}}, at)
		return n.instances["a"]
	}
}

func TestAnInstanceLives(t *testing.T) {
	begin := time.Unix(1000, 0)
	n, tell := alone(behaviour{start: time.Second, runFor: time.Minute, batch: true})
	inst := tell(api.AllocDesiredRun, begin)
	check := func(at time.Duration, status string, used int64, busy int64) {
		t.Helper()
		n.keep(begin.Add(at))
		if inst.status() != status || n.used[cpu] != used || n.run.used[cpu].Load() != used || n.run.busy.Load() != busy {
			t.Errorf("after %s it is %s, the node holds %d, %d things are awaited; want %s, %d, %d",
				at, inst.status(), n.used[cpu], n.run.busy.Load(), status, used, busy)
		}
	}
	check(0, api.AllocClientPending, 10, 1)
	check(time.Second, api.AllocClientRunning, 10, 1)
	check(time.Minute, api.AllocClientRunning, 10, 1)
	check(61*time.Second, api.AllocClientComplete, 0, 0)
	if n.run.placed.Load() != 1 || len(n.marked) != 1 {
		t.Errorf("%d were placed, %d are to be reported", n.run.placed.Load(), len(n.marked))
	}
	states := reports(n.marked)[0].TaskStates["main"]
	if states.State != api.TaskStateDead || states.Failed || len(states.Events) != 3 {
		t.Errorf("it reports %+v", states)
	}
}

func TestAnInstanceFailsWhenItsRestartsAreUsedUp(t *testing.T) {
	begin := time.Unix(1000, 0)
	n, tell := alone(behaviour{runFor: time.Second, fails: true, restarts: 2, delay: time.Second})
	inst := tell(api.AllocDesiredRun, begin)
	for i, want := range []string{"running", "pending", "running", "pending", "running", "failed"} {
		n.keep(begin.Add(time.Duration(i) * time.Second))
		if inst.status() != want {
			t.Errorf("after %d s it is %s, want %s", i, inst.status(), want)
		}
	}
}

func TestAnInstanceIsStopped(t *testing.T) {
	begin := time.Unix(1000, 0)
	n, tell := alone(behaviour{runFor: forever, kill: 2 * time.Second})
	inst := tell(api.AllocDesiredRun, begin)
	tell(api.AllocDesiredStop, begin.Add(time.Second))
	n.keep(begin.Add(2 * time.Second))
	if inst.status() != api.AllocClientRunning || n.used[cpu] != 10 {
		t.Errorf("while it ends it is %s and the node holds %d", inst.status(), n.used[cpu])
	}
	n.keep(begin.Add(3 * time.Second))
	if inst.status() != api.AllocClientComplete || n.used[cpu] != 0 {
		t.Errorf("then it is %s and the node holds %d", inst.status(), n.used[cpu])
	}
	n.receive(&api.NodeAllocations{Removed: []string{"a"}}, begin)
	if len(n.instances) != 0 {
		t.Error("what the servers removed is still there")
	}
}

func TestWhatIsLostIsReplaced(t *testing.T) {
	begin := time.Unix(1000, 0)
	n, tell := alone(behaviour{runFor: forever})
	tell(api.AllocDesiredRun, begin)
	n.run.lose(n.instances, begin)
	clear(n.instances)
	// The same allocation is back: it was only out of reach.
	tell(api.AllocDesiredRun, begin.Add(time.Second))
	if n.run.placed.Load() != 1 || len(n.replaced) != 0 {
		t.Errorf("back: %d placed, %d replaced", n.run.placed.Load(), len(n.replaced))
	}
	n.run.lose(n.instances, begin)
	n.receive(&api.NodeAllocations{Allocations: []*api.NodeAllocation{{Allocation: &api.Allocation{
		ID: "b", JobID: "j", Group: "g", Name: "j.g[0]", DesiredStatus: api.AllocDesiredRun, PreviousAllocation: "a",
	}}}}, begin.Add(3*time.Second))
	if len(n.replaced) != 1 || n.replaced[0] != 3*time.Second || n.run.placed.Load() != 1 {
		t.Errorf("replaced after %v, want 3 s; %d are placed", n.replaced, n.run.placed.Load())
	}
}

// TestAReplacementOfWhatNoNodeHeardOfIsPlaced loses the first node of an instance before it hears of the instance.
func TestAReplacementOfWhatNoNodeHeardOfIsPlaced(t *testing.T) {
	n, _ := alone(behaviour{runFor: forever})
	receive := func(id, previous string) {
		n.receive(&api.NodeAllocations{Allocations: []*api.NodeAllocation{{Allocation: &api.Allocation{
			ID: id, JobID: "j", Group: "g", Name: "j.g[70]", DesiredStatus: api.AllocDesiredRun, PreviousAllocation: previous,
		}}}}, time.Unix(1000, 0))
	}
	for _, c := range []struct{ id, previous string }{{"b", "a"}, {"c", "b"}, {"d", "c"}} {
		if receive(c.id, c.previous); n.run.placed.Load() != 1 {
			t.Errorf("after %s, %d are placed, want 1", c.id, n.run.placed.Load())
		}
	}
}

func TestJobsOutsideOfTheScenarioLive(t *testing.T) {
	begin := time.Unix(1000, 0)
	n, _ := alone(behaviour{runFor: forever})
	other := &api.Job{ID: "other", Type: api.JobTypeService, Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "raw_exec"}}}}}
	n.receive(&api.NodeAllocations{Jobs: []*api.Job{other}, Allocations: []*api.NodeAllocation{{Allocation: &api.Allocation{
		ID: "a", JobID: "other", Group: "g", Name: "other.g[0]", DesiredStatus: api.AllocDesiredRun,
	}}}}, begin)
	n.keep(begin.Add(time.Minute))
	if inst := n.instances["a"]; inst == nil || inst.status() != api.AllocClientRunning {
		t.Fatalf("it is %+v, want it running", inst)
	}
	if n.run.placed.Load() != 0 || n.run.busy.Load() != 0 {
		t.Errorf("%d count as placed, %d things are awaited; want none", n.run.placed.Load(), n.run.busy.Load())
	}
}

// A custom plan launches tasks that have something to finish, and goes on when they
// have.
func TestLaunchedTaskWithSomethingToFinishFinishesIt(t *testing.T) {
	begin := time.Unix(1000, 0)
	n, tell := alone(behaviour{runFor: forever, tasks: []string{"main", "backup"}})
	inst := tell(api.AllocDesiredRun, begin)
	inst.group.behaviour.tasks = []string{"main", "backup"}
	inst.group.spec.Tasks = []*api.Task{{Name: "main"}, {Name: "backup", Goal: api.GoalFinish}}
	n.keep(begin)
	for _, launch := range []struct {
		token, main, backup string
	}{{"", api.TaskStateRunning, api.TaskStatePending}, {"first", api.TaskStateRunning, api.TaskStateDead}} {
		n.launch(inst, &api.Allocation{Launches: &api.Launches{ID: "l" + launch.token, Tasks: map[string]*api.Launch{"backup": {Token: launch.token}}}}, begin)
		states := inst.taskStates()
		if s := states["backup"]; s.State != launch.backup || s.Failed || s.Launch != launch.token {
			t.Errorf("with the launch %q, backup is %+v", launch.token, s)
		}
		if s := states["main"]; s.State != launch.main {
			t.Errorf("with the launch %q, main is %+v", launch.token, s)
		}
	}
}
