// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// The list of routes divides traffic as routers do: stacks by their shares, and other jobs by weight.
func TestRoutesShowTheSharesOfStacks(t *testing.T) {
	stub := func(job, host string, weight, routable int) *api.RouteListStub {
		r := &api.Route{Protocol: api.RouteHTTP, Host: host, Path: "/"}
		return &api.RouteListStub{Claim: r.Claim(), Namespace: "dev", JobID: job, Route: r, Weight: weight, Routable: routable}
	}
	shares := map[string]float64{"shop-1": 0.75, "shop-2": 0.25, "cart-1": 0.9, "cart-2": 0.1, "idle": 0}
	all := []*api.RouteListStub{
		stub("blue", "plain.test", 1, 3), stub("green", "plain.test", 3, 1),
		stub("beside", "shop.test", 1, 9), stub("shop-1", "shop.test", 1, 1), stub("shop-2", "shop.test", 1, 4), stub("later", "shop.test", 1, 9),
		stub("cart-1", "cart.test", 1, 0), stub("cart-2", "cart.test", 1, 2),
		stub("idle", "idle.test", 1, 2),
	}
	divide(all, func(r *api.RouteListStub) (float64, bool) {
		share, isStack := shares[r.JobID]
		return share, isStack
	})
	var got []string
	for _, r := range all {
		got = append(got, fmt.Sprint(r.JobID, " ", r.Share))
	}
	want := []string{"blue 0.5", "green 0.5", "beside 0", "shop-1 0.75", "shop-2 0.25", "later 0", "cart-1 0", "cart-2 1", "idle 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
}

func TestRoutesShowStacksOutsideOfReeve(t *testing.T) {
	h := newHarness(t)
	res, err := h.client.Stacks().Register(t.Context(), &api.RegisterStackRequest{
		Unit: "db", Address: "10.0.0.7:80", Stack: &api.StackSpec{Version: "1.0.0", Expose: []*api.StackExposure{{Host: "db.test"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for index := uint64(1); ; {
		s, meta, err := h.client.Stacks().Get(t.Context(), res.Stack.Name, &client.QueryOptions{Index: index})
		if err != nil {
			t.Fatal(err)
		}
		if s.IsRoutable() {
			break
		}
		index = meta.Index
	}
	list, _, err := h.client.Routes().List(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range list {
		got = append(got, fmt.Sprint(r.Claim, " ", r.JobID, " ", r.Routable, "/", r.Total, " ", r.Share))
	}
	if diff := cmp.Diff([]string{"db.test/ " + res.Stack.Name + " 1/1 1"}, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}
