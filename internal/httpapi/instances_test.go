// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func TestInstancesAreAskedFor(t *testing.T) {
	h := newHarness(t)
	job := map[string]string{
		"web":   `{"Job": {"ID": "web", "Domain": "shop", "Datacenters": ["*"], "TaskGroups": [{"Name": "web", "Count": 11, "Tasks": [{"Name": "a", "Driver": "mock"}]}]}}`,
		"web-a": `{"Job": {"ID": "web-a", "Datacenters": ["*"], "TaskGroups": [{"Name": "b", "Count": 2, "Tasks": [{"Name": "a", "Driver": "mock"}]}, {"Name": "a", "Tasks": [{"Name": "a", "Driver": "mock"}]}]}}`,
	}
	for _, body := range job {
		if got := h.do(http.MethodPut, "/v1/jobs", body); got.status != http.StatusOK {
			t.Fatal(got.body)
		}
	}
	names := func(query string) string {
		t.Helper()
		var names []string
		token := ""
		for {
			got := h.do(http.MethodGet, "/v1/instances?"+query+"&next_token="+url.QueryEscape(token), "")
			var page []*api.Instance
			if err := json.Unmarshal([]byte(got.body), &page); err != nil {
				t.Fatalf("%d %s", got.status, got.body)
			}
			for _, in := range page {
				names = append(names, in.JobID+"/"+in.Name)
			}
			if token = got.header.Get("X-Nomad-NextToken"); token == "" {
				return strings.Join(names, " ")
			}
		}
	}
	const web = "web/web-0 web/web-1 web/web-2 web/web-3 web/web-4 web/web-5 web/web-6 web/web-7 web/web-8 web/web-9 web/web-10"
	const other = "web-a/b-0 web-a/b-1 web-a/a-0"
	for query, want := range map[string]string{
		"":                           web + " " + other,
		"per_page=4":                 web + " " + other,
		"reverse":                    backwards(web + " " + other),
		"reverse&per_page=4":         backwards(web + " " + other),
		"reverse&per_page=1&job=web": backwards(web),
		"reverse&per_page=2&filter=" + url.QueryEscape(`Index == 0 or Index == 1`): "web-a/a-0 web-a/b-1 web-a/b-0 web/web-1 web/web-0",
		"domain=shop":               web,
		"domain=":                   other,
		"job=web-a&state=unclaimed": other,
		"state=RUNNING":             "",
		"instance=web-3":            "web/web-3",
		"instance=1":                "web/web-1 web-a/b-1",
		"filter=" + url.QueryEscape(`Group == "a"`): "web-a/a-0",
		"presence=suspect":                          "",
		"namespace=*&job=web&prefix=web-1":          "web/web-1 web/web-10",
	} {
		if got := names(query); got != want {
			t.Errorf("%s\n got %s\nwant %s", query, got, want)
		}
	}
	for query, want := range map[string]string{
		"state=up":       `state: "up" is none of UNCLAIMED, CLAIMED, RUNNING, CRASHED`,
		"presence=here":  `presence: "here" is none of ordinary, evacuating, suspect`,
		"node=abcdefabc": "not found",
	} {
		if got := h.do(http.MethodGet, "/v1/instances?"+query, ""); got.status < 400 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	if got := h.do(http.MethodGet, "/v1/job/web/instance/3", ""); !strings.Contains(got.body, `"Name":"web-3"`) {
		t.Errorf("by its index: %d %s", got.status, got.body)
	}
	if got := h.do(http.MethodGet, "/v1/job/web-a/instance/0", ""); got.status != http.StatusNotFound {
		t.Errorf("by an index that two groups have: %d %s", got.status, got.body)
	}
}

// backwards reverses the order of words.
func backwards(words string) string {
	all := strings.Fields(words)
	slices.Reverse(all)
	return strings.Join(all, " ")
}

func TestInstancesHaveStatesOfTasksOnRequest(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server})
	srv.running(t, &api.Node{ID: testNode}, "web", "aaaaaaaa")
	srv.apply(t, &state.UpdateAllocations{NodeID: testNode, Time: 2, Allocations: []*api.Allocation{{
		ID: "aaaaaaaa", NodeID: testNode, ClientStatus: api.AllocClientRunning, TaskStates: map[string]*api.TaskState{"main": {State: api.TaskStateRunning}},
	}}})
	for path, want := range map[string]bool{
		"/v1/instances":                             false,
		"/v1/instances?per_page=1":                  false,
		"/v1/instances?task_states=false":           false,
		"/v1/instances?task_states":                 true,
		"/v1/instances?task_states=true&per_page=1": true,
		"/v1/job/web/instances":                     false,
		"/v1/job/web/instances?task_states=true":    true,
		"/v1/job/web/instance/web-0":                true,
		"/v1/instances?filter=" + url.QueryEscape(`TaskStates.main.State == "running"`): false,
	} {
		got := request(h, http.MethodGet, path, "")
		if !strings.Contains(got.body, "aaaaaaaa") || strings.Contains(got.body, "TaskStates") != want {
			t.Errorf("%s: want the instance, with the states of its tasks: %t; got %d %s", path, want, got.status, got.body)
		}
	}
	if got := request(h, http.MethodGet, "/v1/instances?task_states=some", ""); got.status != http.StatusBadRequest {
		t.Errorf("task_states=some: got %d %s, want 400", got.status, got.body)
	}
	if a := srv.Store().Snapshot().Allocation("aaaaaaaa"); len(a.TaskStates) != 1 {
		t.Errorf("the stored allocation lost the states of its tasks: %+v", a)
	}
}

// BenchmarkInstances reads a hundred thousand instances in various ways.
func BenchmarkInstances(b *testing.B) {
	h := crowded(b)
	last := url.QueryEscape("default.job-099 ")
	for _, query := range []string{
		"", "per_page=500", "per_page=500&next_token=" + last, "per_page=500&reverse", "per_page=500&filter=" + url.QueryEscape(`State == "CRASHED"`),
	} {
		b.Run(query, func(b *testing.B) { benchmarkAnswer(b, h, "/v1/instances?"+query) })
	}
}

func TestChangeInPlaceTakesNothingElse(t *testing.T) {
	h := newHarness(t)
	if got := h.do(http.MethodPut, "/v1/jobs", `{"Job": {"ID": "web", "Datacenters": ["*"], "TaskGroups": [{"Name": "web", "Networks": [{"DynamicPorts": [{"Label": "http"}]}], "Routes": [{"Host": "a.example.com", "Port": "http"}], "Tasks": [{"Name": "a", "Driver": "mock"}]}]}}`); got.status != http.StatusOK {
		t.Fatal(got.body)
	}
	got := h.do(http.MethodPatch, "/v1/job/web", `{"Annotation": "x", "Priority": 3, "Groups": {"web": {"Tasks": [], "Services": {"s": {"Port": 1}}}}}`)
	for _, want := range []string{"Priority", "Tasks", "Port", "CheckRestart"} {
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", want, got.status, got.body)
		}
	}
	got = h.do(http.MethodPatch, "/v1/job/web", `{"Annotation": "x"}`)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"Changed":true`) {
		t.Errorf("a change: %d %s", got.status, got.body)
	}
	got = h.do(http.MethodPatch, "/v1/job/web", `{"Annotation": "x"}`)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"Changed":false`) {
		t.Errorf("the same once more: %d %s", got.status, got.body)
	}
	if got = h.do(http.MethodPatch, "/v1/job/db", `{}`); got.status != http.StatusNotFound {
		t.Errorf("of a job that there is not: %d %s", got.status, got.body)
	}
	got = h.do(http.MethodGet, "/v1/routes", "")
	if !strings.Contains(got.body, `"Claim":"a.example.com/"`) || !strings.Contains(got.body, `"Total":1`) || !strings.Contains(got.body, `"Routable":0`) {
		t.Errorf("routes: %d %s", got.status, got.body)
	}
}
