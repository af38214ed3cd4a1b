// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// world is a core with a real state. It records the verbs instead of carrying them out.
type world struct {
	store   *state.Store
	verbs   []string
	refusal error // of the next verb
	panics  bool  // reports whether every verb panics
}

func (w *world) Store() *state.Store { return w.store }

func (w *world) ListStacks() []*api.StackStatus {
	list, _ := server.Stacks(w.store.Snapshot(), server.StackFilter{Namespace: "*", Statuses: statuses})
	return list
}

func (w *world) Graph() *api.StackGraph {
	graph, _ := server.StackGraph(w.store.Snapshot(), "*")
	return graph
}

// record records a verb, and returns the refusal that a script asked for.
func (w *world) record(format string, args ...any) error {
	if w.panics {
		panic("secret")
	}
	w.verbs = append(w.verbs, fmt.Sprintf(format, args...))
	err := w.refusal
	w.refusal = nil
	return err
}

func (w *world) some() *api.StackStatus { return w.ListStacks()[0] }

func (w *world) DeployStacks(_ context.Context, req *api.DeployStacksRequest, namespace string) (*api.DeployStacksResponse, error) {
	return &api.DeployStacksResponse{}, w.record("deploy from %s in %s by %s", strings.Join(req.From, ","), namespace, req.By)
}

func (w *world) RegisterStack(_ context.Context, req *api.RegisterStackRequest, namespace string) (*api.RegisterStackResponse, error) {
	return &api.RegisterStackResponse{Stack: w.some()}, w.record("register %s %s at %s in %s by %s", req.Unit, req.Stack.Version, req.Address, namespace, req.By)
}

func (w *world) RedeployStack(_ context.Context, namespace, name string, req *api.StackVerbRequest) (*api.StackResponse, error) {
	return &api.StackResponse{Stack: w.some()}, w.record("redeploy %s/%s by %s", namespace, name, req.By)
}

func (w *world) StackVerb(_ context.Context, namespace, name, verb string, req *api.StackVerbRequest) (*api.StackResponse, error) {
	return &api.StackResponse{Stack: w.some()}, w.record("%s %s/%s by %s", verb, namespace, name, req.By)
}

func (w *world) UnitVerb(_ context.Context, namespace, name, verb string, req *api.UnitVerbRequest) (*api.UnitResponse, error) {
	return &api.UnitResponse{}, w.record("%s %s %s, all namespaces: %v, by %s", verb, name, req.Version, req.AllNamespaces, req.By)
}

func (w *world) ShiftVerb(_ context.Context, namespace, name, verb string, req *api.ShiftVerbRequest) (*api.ShiftResponse, error) {
	return &api.ShiftResponse{}, w.record("%s shift %s in %s by %s", verb, name, namespace, req.By)
}

func (w *world) PutNamespace(_ context.Context, n *api.Namespace, _ *uint64) (uint64, error) {
	if err := w.record("create namespace %s", n.Name); err != nil {
		return 0, err
	}
	for _, err := range w.store.Apply(w.store.Index()+1, []state.Command{state.PutNamespace(n, nil)}) {
		return w.store.Index(), err
	}
	return 0, nil
}

var began = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// newWorld returns a world with a shop that calls an inventory during a shift, a deprecated
// inventory of another major version, a database outside of Reeve, and two stacks that have ended.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{store: state.New()}
	w.apply(t,
		state.PutNamespace(&api.Namespace{Name: "dev"}, nil),
		&state.RegisterNode{Node: &api.Node{ID: "n1", Name: "east", Datacenter: "dc1", HTTPAddr: "10.0.0.1:4646"}},
		&state.RegisterNode{Node: &api.Node{ID: "n2", Name: "west", Datacenter: "dc2", HTTPAddr: "10.0.0.2:4646"}},
	)
	for i, s := range []struct{ unit, version, status string }{
		{"inventory", "1.0.0", api.StackReady}, {"inventory", "1.1.0", api.StackReady}, {"inventory", "0.9.0", api.StackReady},
		{"shop", "2.4.0", api.StackReady}, {"db", "14.2.0", api.StackReady}, {"shop", "2.3.0", api.StackGarbage},
		{"shop", "2.5.0", api.StackWarming}, {"shop", "2.2.0", api.StackTerminated},
	} {
		w.addStack(t, i, s.unit, s.version, s.status)
	}
	w.apply(t,
		state.PutShift(&api.Shift{
			ID: "5f1f0000-0000-0000-0000-000000000001", Namespace: "dev", Unit: "inventory", Major: 1, From: w.name("inventory", "1.0.0"), To: w.name("inventory", "1.1.0"),
			Status: api.ShiftRunning, Share: 0.25, StartedAt: began,
		}),
		state.PutUnit(&api.Unit{Namespace: api.AnyNamespace, Name: "inventory", Deprecated: []*api.Deprecation{{Version: api.FeatureVersion{Minor: 9}, By: "ann", Since: began}}}),
	)
	job := w.store.Snapshot().Job("dev", w.name("inventory", "1.0.0"))
	for i, routable := range []bool{true, false} {
		a := &api.Allocation{
			ID: fmt.Sprintf("a110c00%d-0000-0000-0000-000000000000", i), Namespace: "dev", JobID: job.ID, Job: job, Group: "api", Name: fmt.Sprintf("%s.api[%d]", job.ID, i),
			NodeID: "n1", NodeName: "east", DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, CreateTime: began.UnixNano(),
			Serving: &api.Serving{Up: true, Routable: routable},
		}
		w.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Place: []*api.Allocation{a}, Time: a.CreateTime}},
			&state.UpdateAllocations{Allocations: []*api.Allocation{a}, Time: a.CreateTime})
	}
	return w
}

func (w *world) name(unit, version string) string {
	v, err := api.ParseStackVersion(version)
	if err != nil {
		panic(err)
	}
	return api.StackName(unit, v, "aaaaaaaa")
}

// addStack adds a stack to the namespace dev. Its guid is its number and zeros.
func (w *world) addStack(t *testing.T, i int, unit, version, status string) {
	t.Helper()
	v, _ := api.ParseStackVersion(version)
	s := &api.Stack{
		ID: fmt.Sprintf("%d0000000-0000-4000-8000-000000000000", i+1), Name: w.name(unit, version), Namespace: "dev", Unit: unit, Version: v, Shape: api.ShapeService,
		Spec: &api.StackSpec{Version: version}, Status: api.StackPending, StatusReason: api.ReasonStackWaitsTurn, StatusBy: "ann", StatusSince: began,
		DeployedAt: began.Add(time.Duration(i) * time.Minute),
	}
	dcs := []string{"*"}
	switch unit {
	case "inventory":
		s.Spec.Expose = []*api.StackExposure{{Host: "inventory.test"}}
	case "shop":
		s.Spec.Depends, dcs = []*api.StackDependency{{Unit: "inventory", Version: "1.0"}}, []string{"dc2"}
	case "db":
		s.Shape, s.Address = api.ShapeExternal, "10.0.0.7:5432"
	}
	count := 2
	job := &api.Job{Namespace: "dev", ID: s.Name, Name: s.Name, Type: api.JobTypeService, Datacenters: dcs, Stack: s.Spec, Groups: []*api.Group{{Name: "api", Count: &count}}}
	if s.IsExternal() {
		w.apply(t, &state.DeployStacks{Index: w.store.Index(), Stacks: []*api.Stack{s}, Jobs: []*api.Job{nil}})
	} else {
		w.apply(t, &state.DeployStacks{Index: w.store.Index(), Stacks: []*api.Stack{s}, Jobs: []*api.Job{job}}, &state.RegisterJob{Job: job})
	}
	next := w.store.Snapshot().Stack("dev", s.Name).Copy()
	next.Status, next.StatusDescription, next.StatusBy, next.StatusSince = status, "it is "+status+" now", "", began.Add(time.Hour)
	next.Expires = began.Add(2 * time.Hour)
	w.apply(t, state.PutStack(next))
}

func (w *world) apply(t *testing.T, commands ...state.Command) {
	t.Helper()
	for _, err := range w.store.Apply(w.store.Index()+1, commands) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) put(t *testing.T, shift *api.Shift) {
	t.Helper()
	w.apply(t, state.PutShift(shift))
}
