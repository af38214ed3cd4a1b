// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// world is a core whose state is real, and whose plans and instances are what a
// script says they are. It writes down what was decided.
type world struct {
	store     *state.Store
	plans     []*api.Plan
	paused    map[string]bool // instances, by name
	works     map[string]string
	decisions []string
	refusal   error // of the next verb
}

func (w *world) Store() *state.Store { return w.store }

func (w *world) JobPlans(context.Context, string, string) ([]*api.Plan, uint64, error) {
	var lists []*api.Plan
	for _, p := range w.plans {
		stub := *p
		stub.Phases = nil
		lists = append(lists, &stub)
	}
	return lists, w.store.Index(), nil
}

func (w *world) JobPlan(_ context.Context, _, _, name string) (*api.Plan, uint64, error) {
	for _, p := range w.plans {
		if p.Name == name || p.ID == name {
			return p, w.store.Index(), nil
		}
	}
	return nil, 0, api.Errorf(api.CodeNotFound, "plan %q not found", name)
}

func (w *world) PlanVerb(_ context.Context, namespace, id, plan string, verb api.Verb, req *api.PlanRequest) (*api.PlanResponse, error) {
	if err := w.refusal; err != nil {
		w.refusal = nil
		return nil, err
	}
	said := fmt.Sprintf("%s %s of %s/%s", verb, plan, namespace, id)
	for _, word := range []struct{ name, value string }{{"phase", req.Phase}, {"step", req.Step}} {
		if word.value != "" {
			said += fmt.Sprintf(" %s=%s", word.name, word.value)
		}
	}
	if len(req.Parameters) > 0 {
		said += " with " + shownMap(req.Parameters)
	}
	w.decisions = append(w.decisions, said+" by "+req.By)
	return &api.PlanResponse{}, nil
}

func (w *world) Instances(_ context.Context, namespace, id string) ([]*api.Instance, uint64, error) {
	var all []*api.Instance
	job := w.store.Snapshot().Job(namespace, id)
	if job == nil {
		return nil, 0, api.Errorf(api.CodeNotFound, "job %q not found", id)
	}
	for _, g := range job.Groups {
		for i := range g.Size() {
			name := api.InstanceName(g.Name, i)
			all = append(all, &api.Instance{Name: name, Group: g.Name, Index: i, Paused: w.paused[name], Plan: w.works[name]})
		}
	}
	return all, w.store.Index(), nil
}

func (w *world) InstanceVerb(_ context.Context, namespace, id, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error) {
	if err := w.refusal; err != nil {
		w.refusal = nil
		return nil, err
	}
	w.decisions = append(w.decisions, fmt.Sprintf("%s %s of %s/%s %v by %s", verb, name, namespace, id, req.Tasks, req.By))
	return &api.InstanceResponse{Instance: name, Tasks: req.Tasks}, nil
}

const (
	oneNode   = "11111111-2222-3333-4444-555555555555"
	otherNode = "22222222-2222-3333-4444-555555555555"
	began     = 1_600_000_000 * int64(time.Second)
)

func allocationID(n int) string { return fmt.Sprintf("aaaaaaaa-0000-0000-0000-%012d", n) }

// newWorld has two versions of hello-world: a pod type hello with a port, and
// one world of which only the first pod has been launched; and a service in a
// folder.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{store: state.New(), paused: map[string]bool{}, works: map[string]string{}}
	w.apply(t,
		&state.RegisterNode{Node: &api.Node{ID: oneNode, Name: "east", Datacenter: "dc1", HTTPAddr: "10.0.0.1:4646", Meta: map[string]string{"zone": "a"}}},
		&state.RegisterNode{Node: &api.Node{ID: otherNode, Name: "west", Datacenter: "dc1", HTTPAddr: "10.0.0.2:4646"}},
		&state.RegisterJob{Job: helloWorld(1)},
		&state.RegisterJob{Job: helloWorld(2)},
		&state.RegisterJob{Job: &api.Job{Namespace: "default", ID: "team/db", Name: "team/db", Type: api.JobTypeService}},
	)
	job := w.store.Snapshot().Job("default", "hello-world")
	for i, a := range []*api.Allocation{
		{Name: "hello-world.hello[0]", Group: "hello", NodeID: oneNode, NodeName: "east", ClientStatus: api.AllocClientRunning, TaskStates: tasks("server", api.TaskStateRunning)},
		{Name: "hello-world.hello[1]", Group: "hello", NodeID: otherNode, NodeName: "west", ClientStatus: api.AllocClientRunning, TaskStates: tasks("server", api.TaskStateRunning)},
		{Name: "hello-world.world[0]", Group: "world", NodeID: oneNode, NodeName: "east", ClientStatus: api.AllocClientRunning, TaskStates: tasks("server", api.TaskStateRunning, "sidecar", api.TaskStateDead)},
	} {
		a.ID, a.Namespace, a.JobID, a.Job, a.DesiredStatus = allocationID(i), "default", "hello-world", job, api.AllocDesiredRun
		a.CreateTime = began + int64(i)*int64(time.Second)
		a.AllocatedResources = &api.AllocatedResources{
			Tasks:  map[string]*api.AllocatedTask{"server": {CPU: api.AllocatedCPU{CPUShares: 500}, Memory: api.AllocatedMemory{MemoryMB: 256}}},
			Shared: api.AllocatedShared{DiskMB: 100, Ports: []api.PortMapping{{Label: "http", Value: 1025 + i}}},
		}
		w.place(t, a)
	}
	return w
}

func tasks(namesAndStates ...string) map[string]*api.TaskState {
	all := map[string]*api.TaskState{}
	for i := 0; i < len(namesAndStates); i += 2 {
		s := &api.TaskState{State: namesAndStates[i+1], Launch: "t"}
		s.Events = []*api.TaskEvent{{Type: "Started", Time: began, DisplayMessage: "Task started"}}
		all[namesAndStates[i]] = s
	}
	return all
}

func helloWorld(version int) *api.Job {
	cpu, memory, kill := 500, 256, 5*time.Second
	task := func(name string) *api.Task {
		return &api.Task{
			Name: name, Driver: "raw_exec", User: "nobody", KillTimeout: &kill,
			Config:    map[string]any{"command": "/bin/" + name, "args": []any{"-v", fmt.Sprint(version)}},
			Env:       map[string]string{"VERSION": fmt.Sprint(version)},
			Resources: &api.Resources{CPU: &cpu, MemoryMB: &memory},
			Templates: []*api.Template{{DestPath: "local/" + name + ".conf", EmbeddedTmpl: "version = " + fmt.Sprint(version) + "\n"}},
		}
	}
	two := 2
	once := task("init")
	once.Goal = api.GoalOnce
	return &api.Job{
		Namespace: "default", ID: "hello-world", Name: "hello-world", Type: api.JobTypeService, Datacenters: []string{"*"},
		Meta: map[string]string{"owner": "ann"},
		Groups: []*api.Group{
			{
				Name: "hello", Count: &two, Tasks: []*api.Task{task("server")},
				Networks: []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}, {Label: "admin"}}}},
				Services: []*api.Service{{Name: "hello-web", PortLabel: "http"}},
			},
			{Name: "world", Count: &two, Tasks: []*api.Task{task("server"), task("sidecar"), once}},
		},
	}
}

func (w *world) apply(t *testing.T, commands ...state.Command) {
	t.Helper()
	for _, err := range w.store.Apply(w.store.Index()+1, commands) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) place(t *testing.T, a *api.Allocation) {
	t.Helper()
	w.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: a.Job, Place: []*api.Allocation{a}, Time: a.CreateTime}})
}

// change edits a stored allocation, as the servers and its node would.
func (w *world) change(t *testing.T, id string, edit func(*api.Allocation)) {
	t.Helper()
	a := *w.store.Snapshot().Allocation(id)
	edit(&a)
	w.place(t, &a)
	w.apply(t, &state.UpdateAllocations{Allocations: []*api.Allocation{&a}, Time: a.CreateTime})
}

// set puts a plan that is drawn as a tree in the place of the one of that name.
func (w *world) set(p *api.Plan) {
	for i, other := range w.plans {
		if other.Name == p.Name {
			w.plans[i] = p
			return
		}
	}
	w.plans = append(w.plans, p)
}
