// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// TestQuotaChangesAreRejected sends quotas that are not valid, some of them to do harm.
func TestQuotaChangesAreRejected(t *testing.T) {
	h := newHarness(t)
	long := strings.Repeat("a", 1<<20-200)
	limit := func(text string) string { return `{"Name": "q", "Limits": [{"RegionLimit": ` + text + `}]}` }
	var pools []string
	for i := range 129 {
		pools = append(pools, fmt.Sprintf(`{"NodePool": "p%d"}`, i))
	}
	if got := h.do("PUT", "/v1/quota", `{"Name": "used"}`); got.status != 200 {
		t.Fatal(got.body)
	}
	if got := h.do("PUT", "/v1/namespace", `{"Name": "dev", "Quota": "used"}`); got.status != 200 {
		t.Fatal(got.body)
	}
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"PUT", "/v1/quota", `{}`, 400, "Name is missing"},
		{"PUT", "/v1/quota", `{"Name": "a/b"}`, 400, `Name: "a/b" must be 1 to 128`},
		{"PUT", "/v1/quota", `{"Name": "` + long + `"}`, 400, "must be 1 to 128"},
		{"PUT", "/v1/quota", `{"Name": "q", "Description": "` + long + `"}`, 400, "Description: has"},
		{"PUT", "/v1/quota", `{"Name": "q", "Limits": [null]}`, 400, "Limits[0] must be an object, not null"},
		{"PUT", "/v1/quota", `{"Name": "q", "Limits": [{}]}`, 400, "has no RegionLimit"},
		{"PUT", "/v1/quota", `{"Name": "q", "Limits": [{"RegionLimit": {}}, {"RegionLimit": {}}]}`, 400, "a cluster is one region"},
		{"PUT", "/v1/quota", `{"Name": "q", "Limits": [{"Region": "eu", "RegionLimit": {}}]}`, 400, `this cluster is region "global"`},
		{"PUT", "/v1/quota", `{"Name": "q", "Limits": [{"VariablesLimit": 1, "RegionLimit": {}}]}`, 400, "VariablesLimit"},
		{"PUT", "/v1/quota", limit(`{"CPU": 9223372036854775807}`), 400, "CPU is 9223372036854775807; at most"},
		{"PUT", "/v1/quota", limit(`{"MemoryMB": -9223372036854775808}`), 400, "MemoryMB is -9223372036854775808"},
		{"PUT", "/v1/quota", limit(`{"MemoryMB": 1e400}`), 400, ""},
		{"PUT", "/v1/quota", limit(`{"MemoryMB": 9223372036854775808}`), 400, ""},
		{"PUT", "/v1/quota", limit(`{"Devices": [{"Name": "gpu", "Count": 1}]}`), 400, "Devices is not supported; remove it"},
		{"PUT", "/v1/quota", limit(`{"SecretsMB": 1}`), 400, "SecretsMB is not supported"},
		{"PUT", "/v1/quota", limit(`{"Storage": {"VariablesMB": 1}}`), 400, "Storage is not supported"},
		{"PUT", "/v1/quota", limit(`{"NUMA": {}}`), 400, "NUMA is not supported"},
		{"PUT", "/v1/quota", limit(`{"NodePools": [null]}`), 400, "NodePools[0] must be an object, not null"},
		{"PUT", "/v1/quota", limit(`{"NodePools": [{"NodePool": "a b"}]}`), 400, `"a b" is not the name of a node pool`},
		{"PUT", "/v1/quota", limit(`{"NodePools": [{"NodePool": "a"}, {"NodePool": "a"}]}`), 400, `"a" occurs twice`},
		{"PUT", "/v1/quota", limit(`{"NodePools": [{"NodePool": "all"}]}`), 400, "count against the limits of each pool"},
		{"PUT", "/v1/quota", limit(`{"NodePools": [` + strings.Join(pools, ",") + `]}`), 400, "has 129 entries"},
		{"PUT", "/v1/quota/a", `{"Name": "b"}`, 400, `the one in the path "a"`},
		{"PUT", "/v1/quota?cas=0", `{"Name": "used"}`, 409, "has modify index"},
		{"GET", "/v1/quota/nowhere", "", 404, `quota "nowhere" not found`},
		{"GET", "/v1/quota/usage/nowhere", "", 404, `quota "nowhere" not found`},
		{"DELETE", "/v1/quota/nowhere", "", 404, "nowhere"},
		{"DELETE", "/v1/quota/used", "", 409, `reeve namespace apply -quota "" dev`},
	} {
		got := h.do(tc.method, tc.path, tc.body)
		if got.status != tc.status || !strings.Contains(strings.ReplaceAll(got.body, `\"`, `"`), tc.want) {
			t.Errorf("%s %s %.80s: got %d %.300s, want %d with %q", tc.method, tc.path, tc.body, got.status, got.body, tc.status, tc.want)
		}
	}
}

// TestUsersReadTheQuotasOfTheirNamespaces gives users capabilities in one namespace each.
func TestUsersReadTheQuotasOfTheirNamespaces(t *testing.T) {
	srv := newIdleServer(t)
	h := &harness{t: t, server: srv.Server}
	c := Config{Server: srv.Server}
	withUsers(t)(&c)
	h.handler = New(c)
	t.Cleanup(h.handler.Close)
	srv.apply(t, &state.RaiseLevel{Level: state.Level})
	for _, name := range []string{"whole", "team", "other"} {
		srv.apply(t, state.PutQuota(&api.Quota{Name: name}, nil))
	}
	for name, quota := range map[string]string{"a": "whole", "b": "other"} {
		srv.apply(t, state.PutNamespace(&api.Namespace{Name: name, Quota: quota}, nil))
	}
	for name, quota := range map[string]string{"a/x": "team", "a/y": ""} {
		srv.apply(t, state.PutNamespace(&api.Namespace{Name: name, Quota: quota}, nil))
	}
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", Status: api.NodeStatusReady}})
	for _, namespace := range []string{"a/x", "a/y"} {
		job := storedJob("secret-" + namespace[2:])
		job.Namespace = namespace
		srv.apply(t, &state.RegisterJob{Job: job})
		srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{{
			ID: "alloc-" + namespace[2:], Namespace: namespace, JobID: job.ID, NodeID: testNode, Group: job.Groups[0].Name,
		}}}})
	}
	for name, rules := range map[string]string{
		"inx": `namespace "a/x" { capabilities = ["read-job"] }`, "inb": `namespace "b" { capabilities = ["list-jobs"] }`,
		"quotas": `quota { policy = "read" }`, "nodes": `node { policy = "read" }`,
	} {
		srv.apply(t, state.PutACLPolicy(&api.ACLPolicy{Name: name, Rules: rules}))
	}
	for policy, want := range map[string]struct{ seen, jobs []string }{
		"inx": {[]string{"whole", "team"}, []string{"secret-x"}}, "inb": {[]string{"other"}, nil},
		"quotas": {[]string{"whole", "team", "other"}, nil}, "nodes": {nil, nil},
	} {
		user, _ := h.user(policy)
		for _, path := range []string{"/v1/quotas", "/v1/quota-usages"} {
			list := user.ask(t, h.handler, http.MethodGet, path, "")
			if list.status != http.StatusOK {
				t.Errorf("%s: %s: %d %s", policy, path, list.status, list.body)
			}
			if strings.Contains(list.body, "secret") {
				t.Errorf("%s: the list shows jobs: %s", policy, list.body)
			}
			for _, name := range []string{"whole", "team", "other"} {
				may := strings.Contains(strings.Join(want.seen, " "), name)
				if strings.Contains(list.body, `"Name":"`+name+`"`) != may {
					t.Errorf("%s: %s shows quota %s: %t, want %t", policy, path, name, !may, may)
				}
				status := http.StatusForbidden
				if may {
					status = http.StatusOK
				}
				for _, one := range []string{"/v1/quota/", "/v1/quota/usage/"} {
					got := user.ask(t, h.handler, http.MethodGet, one+name, "")
					if got.status != status {
						t.Errorf("%s: %s: %d %s, want %d", policy, one+name, got.status, got.body, status)
					}
					for _, job := range []string{"secret-x", "secret-y"} {
						if strings.Contains(got.body, job) && !strings.Contains(strings.Join(want.jobs, " "), job) {
							t.Errorf("%s: %s shows %s", policy, one+name, job)
						}
					}
					if one == "/v1/quota/usage/" && may && len(want.jobs) > 0 && !strings.Contains(got.body, want.jobs[0]) {
						t.Errorf("%s: %s does not show %s: %s", policy, one+name, want.jobs, got.body)
					}
				}
			}
		}
		for _, method := range []string{http.MethodPut, http.MethodDelete} {
			if got := user.ask(t, h.handler, method, "/v1/quota/team", `{}`); got.status != http.StatusForbidden {
				t.Errorf("%s: %s: %d %s", policy, method, got.status, got.body)
			}
		}
	}
}

// TestNomadsClientManagesQuotas creates a quota and namespaces with Nomad's client.
func TestNomadsClientManagesQuotas(t *testing.T) {
	h := newHarness(t, withUsers(t))
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL, SecretID: operatorToken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	n := func(i int) *int { return &i }
	_, err = c.Quotas().Register(&nomad.QuotaSpec{Name: "team", Description: "first", Limits: []*nomad.QuotaLimit{{
		Region: "global", RegionLimit: &nomad.QuotaResources{
			CPU: n(1000), MemoryMB: n(2000), NodePools: []*nomad.NodePoolLimit{{NodePool: "gpu", Cores: n(-1)}},
		},
	}}}, nil)
	must(err)
	_, err = c.Namespaces().Register(&nomad.Namespace{
		Name: "dev", Quota: "team", NodePoolConfiguration: &nomad.NamespaceNodePoolConfiguration{Default: "default", Denied: []string{"gpu-*"}},
	}, nil)
	must(err)
	space, _, err := c.Namespaces().Info("dev", nil)
	must(err)
	if p := space.NodePoolConfiguration; space.Quota != "team" || p == nil || p.Default != "default" || len(p.Denied) != 1 {
		t.Errorf("the namespace is %+v, %+v", space, p)
	}
	quota, _, err := c.Quotas().Info("team", nil)
	must(err)
	if l := quota.Limits[0]; quota.Description != "first" || *l.RegionLimit.CPU != 1000 || len(l.Hash) == 0 || *l.RegionLimit.NodePools[0].Cores != -1 {
		t.Errorf("the quota is %+v", quota)
	}
	if list, _, err := c.Quotas().List(nil); err != nil || len(list) != 1 || list[0].Name != "team" {
		t.Errorf("the quotas are %v, %v", list, err)
	}
	usage, _, err := c.Quotas().Usage("team", nil)
	must(err)
	if usage.Name != "team" || len(usage.Used) != 1 {
		t.Errorf("the usage is %+v", usage)
	}
	for _, l := range usage.Used {
		if string(l.Hash) != string(quota.Limits[0].Hash) || *l.RegionLimit.MemoryMB != 0 || len(l.RegionLimit.NodePools) != 1 {
			t.Errorf("the used amounts are %+v", l)
		}
	}
	if all, _, err := c.Quotas().ListUsage(nil); err != nil || len(all) != 1 {
		t.Errorf("the usages are %v, %v", all, err)
	}
	if _, err := c.Quotas().Delete("team", nil); err == nil || !strings.Contains(err.Error(), "409") {
		t.Errorf("delete a quota in use: %v", err)
	}
	space.Quota = ""
	_, err = c.Namespaces().Register(space, nil)
	must(err)
	_, err = c.Quotas().Delete("team", nil)
	must(err)
}
