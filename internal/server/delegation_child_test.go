// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"math/rand/v2"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestChildrenAllowWhatTheirParentsAllow compares the check of rules with the jobs that the two namespaces
// admit.
func TestChildrenAllowWhatTheirParentsAllow(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	pools := []string{"default", "all", "gpu", "gpu-2", "batch", "web"}
	some := func(all []string) (list []string) {
		for range r.IntN(4) {
			list = append(list, all[r.IntN(len(all))])
		}
		return list
	}
	patterns := append([]string{"*", "g*", "gpu*", "*a*", "b*h", "*-2"}, pools...)
	rules := func() *api.NamespaceNodePools {
		if r.IntN(6) == 0 {
			return nil
		}
		p := new(api.NamespaceNodePools)
		if r.IntN(3) == 0 {
			p.Default = pools[r.IntN(len(pools))]
		}
		if r.IntN(2) == 0 {
			p.Allowed = some(patterns)
		} else {
			p.Denied = some(patterns)
		}
		return p
	}
	drivers := []string{"raw_exec", "exec", "docker"}
	capabilities := func() *api.NamespaceCapabilities {
		return &api.NamespaceCapabilities{EnabledTaskDrivers: some(drivers), DisabledTaskDrivers: some(drivers), EnabledNetworkModes: some([]string{"host", "bridge"}), DisabledNetworkModes: some([]string{"host", "bridge"})}
	}
	priorities := func() *api.NamespacePriorities {
		if r.IntN(2) == 0 {
			return nil
		}
		return &api.NamespacePriorities{Min: r.IntN(4) * 20, Max: 60 + r.IntN(3)*20}
	}
	accepted, restricted := 0, 0
	for range 20000 {
		parent := &api.Namespace{Name: "web", NodePoolConfiguration: rules(), Capabilities: capabilities(), Priorities: priorities()}
		child := &api.Namespace{Name: "web/x", NodePoolConfiguration: rules(), Capabilities: capabilities(), Priorities: priorities()}
		if err := checkChild(child, nil, parent); err != nil {
			continue
		}
		accepted++
		for _, pool := range pools {
			for _, driver := range drivers {
				for _, mode := range []string{"host", "bridge", ""} {
					job := &api.Job{NodePool: pool, Priority: 1 + r.IntN(100), Groups: []*api.Group{{Name: "g", Networks: []*api.Network{{Mode: mode}}, Tasks: []*api.Task{{Name: "t", Driver: driver}}}}}
					refused := len(parent.Refusals(job)) > 0
					if refused {
						restricted++
					}
					if refused && len(child.Refusals(job)) == 0 {
						t.Fatalf("a job of pool %s, driver %s, mode %q, priority %d: the child admits it and its parent does not: %+v %+v %+v, %+v %+v %+v", pool, driver, mode, job.Priority,
							child.NodePoolConfiguration, child.Capabilities, child.Priorities, parent.NodePoolConfiguration, parent.Capabilities, parent.Priorities)
					}
				}
			}
		}
	}
	if accepted < 500 || restricted < 1000 {
		t.Errorf("%d pairs were accepted, and %d jobs refused: the test compares hardly anything", accepted, restricted)
	}
}

func TestOnlyManagementChangesQuotasOfChildren(t *testing.T) {
	parent := &api.Namespace{Name: "web", Quota: "team"}
	for _, c := range []struct {
		old, quota string
		isNew, ok  bool
	}{
		{"", "", true, true}, {"", "team", true, true}, {"", "payments", true, false},
		{"", "team", false, true}, {"team", "", false, true}, {"strict", "strict", false, true}, {"strict", "", false, false}, {"strict", "team", false, false}, {"", "payments", false, false},
	} {
		var old *api.Namespace
		if !c.isNew {
			old = &api.Namespace{Name: "web/x", Quota: c.old}
		}
		if err := checkChild(&api.Namespace{Name: "web/x", Quota: c.quota}, old, parent); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
