// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/state"
)

func (h *harness) putNamespaces(names ...string) {
	h.t.Helper()
	for _, name := range names {
		if a := h.do(http.MethodPut, "/v1/namespaces", fmt.Sprintf(`{"Name": %q}`, name)); a.status != http.StatusOK {
			h.t.Fatalf("put namespace %q: %d %s", name, a.status, a.body)
		}
	}
}

func (h *harness) namespaces(query string) (names []string) {
	h.t.Helper()
	var all []*api.Namespace
	h.get("/v1/namespaces"+query, &all)
	for _, n := range all {
		names = append(names, n.Name)
	}
	return names
}

func TestNamespacesAreListedByName(t *testing.T) {
	h := newHarness(t)
	if diff := cmp.Diff([]string{"default"}, h.namespaces("")); diff != "" {
		t.Errorf("namespaces of a new cluster (-want +got):\n%s", diff)
	}
	h.putNamespaces("dev", "dev/sandbox", "Prod", "dev-2")
	for query, want := range map[string]string{
		"":                                    "Prod default dev dev-2 dev/sandbox",
		"?prefix=dev":                         "dev dev-2 dev/sandbox",
		"?prefix=dev/":                        "dev/sandbox",
		"?prefix=d&per_page=2":                "default dev",
		"?next_token=dev-2&per_page=9":        "dev-2 dev/sandbox",
		"?reverse&per_page=1":                 "dev/sandbox",
		"?filter=Name+matches+%22%5Edev-%22":  "dev-2",
		"?filter=Description+is+not+empty":    "default",
		"?namespace=dev&filter=Meta+is+empty": "Prod default dev dev-2 dev/sandbox",
	} {
		if got := strings.Join(h.namespaces(query), " "); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
}

// The paths of nested names hold their slashes as they are, or escaped.
func TestNamesOfNestedNamespacesInPaths(t *testing.T) {
	h := newHarness(t)
	h.putNamespaces("dev")
	for i, path := range []string{"/v1/namespace/dev/sandbox", "/v1/namespace/dev%2Fsandbox", "/v1/namespace/dev%2fsandbox"} {
		description := fmt.Sprint("change ", i)
		if a := h.do(http.MethodPost, path, fmt.Sprintf(`{"Description": %q}`, description)); a.status != http.StatusOK {
			t.Fatalf("POST %s: %d %s", path, a.status, a.body)
		}
		for _, path := range []string{"/v1/namespace/dev/sandbox", "/v1/namespace/dev%2Fsandbox"} {
			var n api.Namespace
			h.get(path, &n)
			if n.Name != "dev/sandbox" || n.Description != description {
				t.Errorf("GET %s: %+v", path, n)
			}
		}
	}
	for _, path := range []string{"/v1/namespace/dev/sandbox", "/v1/namespace/dev"} {
		if a := h.do(http.MethodDelete, path, ""); a.status != http.StatusOK {
			t.Errorf("DELETE %s: %d %s", path, a.status, a.body)
		}
		if a := h.do(http.MethodGet, path, ""); a.status != http.StatusNotFound {
			t.Errorf("GET %s of a deleted namespace: %d %s", path, a.status, a.body)
		}
	}
}

func TestNamespaceChangesAreRejected(t *testing.T) {
	h := newHarness(t)
	h.putNamespaces("dev", "dev/sandbox", "dev/sandbox/x", "used")
	job := testJob("web")
	job.Namespace = "used"
	if _, err := h.client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"PUT", "/v1/namespaces", `{}`, 400, "Name is missing"},
		{"PUT", "/v1/namespace", `{"Name": "a_b"}`, 400, `Name: "a_b" must be 1 to 128 letters, digits and "-"`},
		{"PUT", "/v1/namespace", `{"Name": "a//b"}`, 400, `Name: "a//b" must be`},
		{"PUT", "/v1/namespace", `{"Name": "/a"}`, 400, `Name: "/a" must be`},
		{"PUT", "/v1/namespace", `{"Name": "*"}`, 400, `Name: "*" must be`},
		{"PUT", "/v1/namespace", `{"Name": "` + strings.Repeat("a", 129) + `"}`, 400, "must be 1 to 128"},
		{"PUT", "/v1/namespace", `{"Name": "a", "Description": "` + strings.Repeat("a", 257) + `"}`, 400, "Description: has 257 bytes"},
		{"PUT", "/v1/namespace", `{"Name": "a", "Meta": {"k": "` + strings.Repeat("a", 17<<10) + `"}}`, 400, "Meta: has 17409 bytes"},
		{"PUT", "/v1/namespace", `{"Name": "a", "Quota": "small"}`, 400, `needs quota "small", which does not exist; create it with: reeve quota apply FILE`},
		{"PUT", "/v1/namespace", `{"Name": "a", "Quota": "a/b"}`, 400, `Quota: "a/b" must be`},
		{"PUT", "/v1/namespace", `{"Name": "a", "NodePoolConfiguration": {"Default": "g pu"}}`, 400, `Default: "g pu" is not the name of a node pool`},
		{"PUT", "/v1/namespace", `{"Name": "a", "NodePoolConfiguration": {"Allowed": ["a"], "Denied": ["b"]}}`, 400, "Allowed and Denied are both set; remove one"},
		{"PUT", "/v1/namespace", `{"Name": "a", "NodePoolConfiguration": {"Denied": ["*", "` + strings.Repeat("a", 1<<20-200) + `"]}}`, 400, "is not the name of a node pool"},
		{"PUT", "/v1/namespace", `{"Name": "a", "VaultConfiguration": {"Default": "x"}}`, 400, "VaultConfiguration: not supported"},
		{"PUT", "/v1/namespace", `{"Name": "ops/db"}`, 400, "create it with: reeve namespace apply ops"},
		{"PUT", "/v1/namespace", `{"Name": "DEV"}`, 409, `differs from "dev" only in case`},
		{"PUT", "/v1/namespace/a", `{"Name": "b"}`, 400, `the namespace in the body is "b", the one in the path "a"`},
		{"PUT", "/v1/namespace?cas=0", `{"Name": "dev"}`, 409, "has modify index"},
		{"PUT", "/v1/namespace?cas=7", `{"Name": "new"}`, 409, "has modify index 0, not 7"},
		{"PUT", "/v1/namespace?cas=x", `{"Name": "new"}`, 400, "cas"},
		{"DELETE", "/v1/namespace/default", "", 400, "built in and cannot be deleted"},
		{"DELETE", "/v1/namespace/nowhere", "", 404, `namespace "nowhere" not found`},
		{"DELETE", "/v1/namespace/dev", "", 409, "reeve namespace delete dev/sandbox/x"},
		{"DELETE", "/v1/namespace/used", "", 409, `has job web; stop its jobs first: reeve job stop -namespace used web`},
		{"PUT", "/v1/jobs?namespace=nowhere", samples["PUT /v1/jobs"], 400, `namespace "nowhere" does not exist; create it with: reeve namespace apply nowhere`},
		{"PUT", "/v1/job/web/plan?namespace=nowhere", samples["PUT /v1/job/{id}/plan"], 400, "reeve namespace apply nowhere"},
		{"GET", "/v1/namespace/", "", 404, `namespace "" not found`},
		{"PATCH", "/v1/namespace/dev", "", 405, "use DELETE, GET, HEAD, POST, PUT"},
	} {
		a := h.do(tc.method, tc.path, tc.body)
		if a.status != tc.status || !strings.Contains(a.body, tc.want) {
			t.Errorf("%s %s %.80s: got %d %s, want %d with %q", tc.method, tc.path, tc.body, a.status, a.body, tc.status, tc.want)
		}
	}
}

// The names of at most five jobs are shown.
func TestDeletionNamesSomeOfTheJobs(t *testing.T) {
	h := newHarness(t)
	h.putNamespaces("dev")
	for i := range 7 {
		job := testJob(fmt.Sprint("web-", i))
		job.Namespace = "dev"
		if _, err := h.client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job}); err != nil {
			t.Fatal(err)
		}
	}
	a := h.do(http.MethodDelete, "/v1/namespace/dev", "")
	if want := "jobs web-0, web-1, web-2, web-3, web-4 and others;"; a.status != http.StatusConflict || !strings.Contains(a.body, want) {
		t.Errorf("got %d %s, want 409 with %q", a.status, a.body, want)
	}
}

func TestDefaultNamespaceCanBeChanged(t *testing.T) {
	h := newHarness(t)
	if a := h.do(http.MethodPut, "/v1/namespace?cas=1", `{"Name": "default", "Meta": {"team": "web"}}`); a.status != http.StatusOK {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	var n api.Namespace
	h.get("/v1/namespace/default", &n)
	if n.CreateIndex != 1 || n.ModifyIndex <= 1 || n.Meta["team"] != "web" {
		t.Errorf("the changed namespace is %+v", n)
	}
	if got := h.namespaces(""); len(got) != 1 {
		t.Errorf("namespaces are %v, want one", got)
	}
	if a := h.do(http.MethodDelete, "/v1/namespace/default", ""); a.status != http.StatusBadRequest {
		t.Errorf("delete the changed namespace: %d %s", a.status, a.body)
	}
}

func TestNamespaceCapabilitiesRestrictJobs(t *testing.T) {
	h := newHarness(t)
	if a := h.do(http.MethodPut, "/v1/namespace", `{"Name": "dev", "Capabilities": {"EnabledTaskDrivers": ["exec", "raw_exec"], "DisabledTaskDrivers": ["raw_exec"], "DisabledNetworkModes": ["host"]}}`); a.status != http.StatusOK {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	job := testJob("web")
	job.Namespace = "dev"
	job.Groups[0].Networks = []*api.Network{{}}
	_, err := h.client.Jobs().Register(t.Context(), &api.RegisterJobRequest{Job: job})
	for _, want := range []string{
		`group "web", task "main": namespace "dev" does not allow driver "mock"`, `group "web": namespace "dev" does not allow network mode "host"`,
		"reeve namespace inspect dev",
	} {
		if err == nil || !strings.Contains(fmt.Sprint(err, err.(*api.Error).Detail), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A blocking query returns when the namespace changes, and not for changes of others.
func TestBlockingQueriesOfNamespaces(t *testing.T) {
	h := newHarness(t)
	h.putNamespaces("dev")
	n := h.get("/v1/namespace/dev", nil)
	index := n.header.Get("X-Nomad-Index")
	woken := make(chan answer, 1)
	go func() { woken <- h.do(http.MethodGet, "/v1/namespace/dev?wait=60s&index="+index, "") }()
	h.putNamespaces("other")
	if a := h.do(http.MethodPut, "/v1/namespace", `{"Name": "dev", "Description": "changed"}`); a.status != http.StatusOK {
		t.Fatalf("got %d %s", a.status, a.body)
	}
	if a := <-woken; !strings.Contains(a.body, `"changed"`) || a.header.Get("X-Nomad-Index") == index {
		t.Errorf("woken with %s at index %s", a.body, a.header.Get("X-Nomad-Index"))
	}
}

// The official client of Nomad's API does everything that it can do with namespaces.
func TestNomadsClientUsesNamespaces(t *testing.T) {
	h := newHarness(t)
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ns := c.Namespaces()
	for _, n := range []*nomad.Namespace{
		{Name: "dev", Description: "for developers", Meta: map[string]string{"team": "web"}, Capabilities: &nomad.NamespaceCapabilities{DisabledTaskDrivers: []string{"raw_exec"}}},
		{Name: "dev/sandbox"},
	} {
		if _, err := ns.Register(n, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, meta, err := ns.Info("dev", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &nomad.Namespace{
		Name: "dev", Description: "for developers", Meta: map[string]string{"team": "web"}, CreateIndex: meta.LastIndex, ModifyIndex: meta.LastIndex,
		Capabilities: &nomad.NamespaceCapabilities{DisabledTaskDrivers: []string{"raw_exec"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("namespace (-want +got):\n%s", diff)
	}
	if n, _, err := ns.Info("dev/sandbox", nil); err != nil || n.Name != "dev/sandbox" {
		t.Errorf("dev/sandbox: %+v, %v", n, err)
	}
	all, _, err := ns.PrefixList("dev", &nomad.QueryOptions{WaitIndex: 1, WaitTime: time.Second})
	if err != nil || len(all) != 2 {
		t.Errorf("list by prefix: %v, %v", all, err)
	}
	id := "web"
	job := nomad.NewServiceJob(id, id, "global", 50)
	sandbox := "dev/sandbox"
	job.Namespace = &sandbox
	job.AddTaskGroup(nomad.NewTaskGroup("web", 1).AddTask(nomad.NewTask("main", "mock")))
	if _, _, err := c.Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ns.Delete("dev/sandbox", nil); err == nil || !strings.Contains(err.Error(), "409") {
		t.Errorf("delete a namespace with a job: %v", err)
	}
	jobs, _, err := c.Jobs().List(&nomad.QueryOptions{Namespace: "*"})
	if err != nil || len(jobs) != 1 || jobs[0].Namespace != sandbox {
		t.Errorf("jobs of all namespaces: %v, %v", jobs, err)
	}
	if _, _, err := c.Jobs().Deregister(id, true, &nomad.WriteOptions{Namespace: sandbox}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dev/sandbox", "dev"} {
		if _, err := ns.Delete(name, nil); err != nil {
			t.Errorf("delete %s: %v", name, err)
		}
	}
	found, _, err := c.Search().PrefixSearch("def", "namespaces", nil)
	if err != nil || !slices.Equal(found.Matches["namespaces"], []string{"default"}) {
		t.Errorf("search: %+v, %v", found, err)
	}
}

func TestNamespaceEvents(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	c := serve(t, h)
	first := srv.apply(t, state.PutNamespace(&api.Namespace{Name: "dev"}, nil))
	srv.apply(t, state.PutNamespace(&api.Namespace{Name: "dev/sandbox"}, nil))
	srv.apply(t, state.DeleteNamespace("dev/sandbox", nil))
	got := follow(t, c, client.EventOptions{Index: first, Topics: map[string][]string{api.TopicNamespace: nil}}, 3, nil)
	want := []string{"NamespaceUpserted dev", "NamespaceUpserted dev/sandbox", "NamespaceDeleted dev/sandbox"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
