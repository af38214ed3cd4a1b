// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalogentry_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/catalogentry"
)

// routed is a routable allocation of a group with routes to ports.
func routed(routes ...*api.Route) *api.Allocation {
	return &api.Allocation{
		ID: "a1", Namespace: "default", JobID: "shop", Group: "web", Name: "shop.web[3]", NodeID: "n1", NodeName: "rack-1",
		Job:           &api.Job{ID: "shop", Groups: []*api.Group{{Name: "web", Routes: routes}}},
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, CreateIndex: 5, ModifyIndex: 9,
		Serving: &api.Serving{Up: true, Routable: true, Services: []*api.ServiceRegistration{{ID: "r", ServiceName: "web", Address: "10.0.0.7", Port: 80}, nil}},
	}
}

func TestOf(t *testing.T) {
	http, grpc, none := &api.Route{Port: "http"}, &api.Route{Port: "grpc"}, &api.Route{Port: "none"}
	a := routed(http, grpc, none)
	a.AllocatedResources = &api.AllocatedResources{}
	a.AllocatedResources.Shared.Ports = []api.PortMapping{{Label: "http", Value: 8080, HostIP: "2001:db8::1"}, {Label: "grpc", Value: 9090, HostIP: "0.0.0.0"}}
	want := &api.CatalogEntry{
		AllocID: "a1", Namespace: "default", JobID: "shop", Group: "web", Instance: 3, NodeID: "n1", NodeName: "rack-1", Index: 9,
		Services:  []*api.ServiceRegistration{{ID: "r", ServiceName: "web", Address: "10.0.0.7", Port: 80, Tags: []string{}, CreateIndex: 5, ModifyIndex: 9}},
		Endpoints: []*api.Endpoint{{Route: http, Address: "[2001:db8::1]:8080"}, {Route: grpc, Address: "[2001:db8::1]:9090"}},
	}
	if diff := cmp.Diff(want, catalogentry.Of(a)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a.AllocatedResources.Shared.Ports = a.AllocatedResources.Shared.Ports[1:]
	if e := catalogentry.Of(a); len(e.Endpoints) != 1 || e.Endpoints[0].Address != "10.0.0.7:9090" {
		t.Errorf("a port on all addresses leads to %+v, want the service's address", e.Endpoints)
	}
	a.Serving.Services = nil
	if e := catalogentry.Of(a); e.Endpoints[0].Address != "127.0.0.1:9090" {
		t.Errorf("a port of which no address is known leads to %s", e.Endpoints[0].Address)
	}
}

func TestOfWhatIsNotRoutable(t *testing.T) {
	for name, change := range map[string]func(*api.Allocation){
		"not said":       func(a *api.Allocation) { a.Serving = nil },
		"not ready":      func(a *api.Allocation) { a.Serving.Routable = false },
		"told to stop":   func(a *api.Allocation) { a.DesiredStatus = api.AllocDesiredStop },
		"has ended":      func(a *api.Allocation) { a.ClientStatus = api.AllocClientComplete },
		"is not running": func(a *api.Allocation) { a.ClientStatus = api.AllocClientPending },
	} {
		a := routed()
		change(a)
		if e := catalogentry.Of(a); e != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
	suspect := routed()
	suspect.ClientStatus = api.AllocClientUnknown
	if catalogentry.Of(suspect) == nil {
		t.Error("what is not heard of loses its traffic before anything is in its place")
	}
}

func TestIsSame(t *testing.T) {
	weight := 2
	a, b := catalogentry.Of(routed(&api.Route{Port: "http"})), catalogentry.Of(routed(&api.Route{Port: "http"}))
	if !catalogentry.IsSame(a, b) || catalogentry.IsSame(a, nil) || !catalogentry.IsSame(nil, nil) {
		t.Error("equal entries differ, or others do not")
	}
	b.Services[0].Tags = []string{"x"}
	if catalogentry.IsSame(a, b) {
		t.Error("a new tag is no difference")
	}
	b.Services[0].Tags = a.Services[0].Tags
	b.Services[0].ModifyIndex = 77
	if !catalogentry.IsSame(a, b) {
		t.Error("an index is a difference")
	}
	a.Endpoints = []*api.Endpoint{{Route: &api.Route{Port: "http"}, Address: "x:1"}}
	b.Endpoints = []*api.Endpoint{{Route: &api.Route{Port: "http", Weight: &weight}, Address: "x:1"}}
	if catalogentry.IsSame(a, b) {
		t.Error("another weight is no difference")
	}
}

// TestChooseMovesFewKeys takes one of ten away, and counts the keys that move
// although theirs is still there.
func TestChooseMovesFewKeys(t *testing.T) {
	var all []*api.ServiceRegistration
	for i := range 10 {
		all = append(all, &api.ServiceRegistration{ID: fmt.Sprint("registration-", i)})
	}
	shares := map[string]int{}
	for i := range 10_000 {
		key := fmt.Sprint("key-", i)
		best := catalogentry.Choose(all, 1, key)[0]
		shares[best.ID]++
		if left := catalogentry.Choose(all[1:], 1, key)[0]; best != all[0] && left != best {
			t.Fatalf("%s moves from %s to %s though %s went", key, best.ID, left.ID, all[0].ID)
		}
	}
	for id, n := range shares {
		if n < 850 || n > 1150 {
			t.Errorf("%s is chosen for %d of 10,000 keys, want about 1,000", id, n)
		}
	}
	if n := len(catalogentry.Choose(all, 99, "x")); n != 10 {
		t.Errorf("99 of 10 are %d", n)
	}
}

func TestAStacksEntryHasTheAddressOfItsCallersPort(t *testing.T) {
	a := routed(&api.Route{Port: "default", Host: "shop.test"}, &api.Route{Port: "default", Host: "other.test"})
	exposure := &api.StackExposure{Host: "shop.test"}
	a.Job.Stack = &api.StackSpec{Expose: []*api.StackExposure{nil, exposure}}
	a.Job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "default"}, {Label: "admin"}}}}
	a.AllocatedResources = &api.AllocatedResources{}
	a.AllocatedResources.Shared.Ports = []api.PortMapping{{Label: "admin", Value: 81, HostIP: "10.0.0.7"}, {Label: "default", Value: 80, HostIP: "10.0.0.7"}}
	e := catalogentry.Of(a)
	if e.StackAddress != "10.0.0.7:80" {
		t.Errorf("callers of the stack use %q, want the port with the label default", e.StackAddress)
	}
	if e.Endpoints[0].Exposure != exposure || e.Endpoints[1].Exposure != nil {
		t.Errorf("exposures of the endpoints: %v and %v, want that of shop.test alone", e.Endpoints[0].Exposure, e.Endpoints[1].Exposure)
	}
	same, other := catalogentry.Of(a), catalogentry.Of(a)
	same.Endpoints[0].Exposure = &api.StackExposure{Host: "shop.test"}
	other.Endpoints[0].Exposure = nil
	if !catalogentry.IsSame(e, same) || catalogentry.IsSame(e, other) {
		t.Error("an equal exposure is a difference, or a missing one is none")
	}
	other = catalogentry.Of(a)
	other.StackAddress = "10.0.0.7:81"
	if catalogentry.IsSame(e, other) {
		t.Error("another address of the stack is no difference")
	}
	a.Job.Groups = append(a.Job.Groups, &api.Group{Name: "db", Networks: []*api.Network{{DynamicPorts: []api.Port{{Label: "pg"}}}}})
	a.Group = "db"
	if e := catalogentry.Of(a); e.StackAddress != "" {
		t.Errorf("a group without the port of callers has their address %q", e.StackAddress)
	}
}
