// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	testVolumeID  = "99999999-0000-4000-8000-000000000037"
	otherVolumeID = "99999999-0000-4000-8000-000000000038"
)

// TestPoliciesDecideWhoMountsVolumes registers jobs with volumes as users with different rules.
func TestPoliciesDecideWhoMountsVolumes(t *testing.T) {
	h := newHarness(t, withUsers(t))
	submit := "namespace \"default\" {\n policy = \"write\"\n}\n"
	h.policy("none", submit)
	h.policy("reader", submit+"host_volume \"data*\" {\n policy = \"read\"\n}\n")
	h.policy("writer", submit+"host_volume \"data*\" {\n policy = \"write\"\n}\n")
	for policy, want := range map[string][3]bool{"none": {false, false, false}, "reader": {true, false, false}, "writer": {true, true, false}} {
		user, _ := h.user(policy)
		for i, v := range []api.VolumeRequest{{Source: "data-1", ReadOnly: true}, {Source: "data-1"}, {Source: "other"}} {
			v.Name, v.Type = "data", api.VolumeTypeHost
			job := &api.Job{ID: "web", Groups: []*api.Group{{
				Name: "web", Volumes: map[string]*api.VolumeRequest{"data": &v},
				Tasks: []*api.Task{{Name: "web", Driver: "exec", Config: map[string]any{"command": "/bin/true"}, VolumeMounts: []*api.VolumeMount{{Volume: "data", Destination: "/data"}}}},
			}}}
			for _, path := range []string{"/v1/jobs", "/v1/job/web/plan", "/v1/validate/job"} {
				body, err := json.Marshal(map[string]any{"Job": job})
				if err != nil {
					t.Fatal(err)
				}
				got := user.ask(t, h.handler, http.MethodPut, path, string(body))
				if may := got.status != http.StatusForbidden; may != want[i] || may && got.status != http.StatusOK {
					t.Errorf("%s: %s of %q, read only %t: %d %s", policy, path, v.Source, v.ReadOnly, got.status, got.body)
				}
			}
		}
	}
}

// newVolumeHarness returns a harness with a ready volume in the namespace dev.
func newVolumeHarness(t *testing.T) (*harness, *idleServer) {
	srv := newIdleServer(t)
	h := &harness{t: t, server: srv.Server}
	config := Config{Server: srv.Server}
	withUsers(t)(&config)
	h.handler = New(config)
	t.Cleanup(h.handler.Close)
	srv.apply(t, &state.RaiseLevel{Level: state.Level})
	for _, c := range []state.Command{
		state.PutNamespace(&api.Namespace{Name: "dev"}, nil),
		&state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", Status: api.NodeStatusReady}},
		state.PutHostVolume(&api.HostVolume{Namespace: "dev", ID: testVolumeID, Name: "data", NodeID: testNode, PluginID: api.PluginMkdir, State: api.HostVolumePending, Generation: 1}, 0),
		&state.ReportVolumes{NodeID: testNode, Reports: []*api.HostVolumeReport{{ID: testVolumeID, Generation: 1, HostPath: "/v"}}},
	} {
		srv.apply(t, c)
	}
	return h, srv
}

func TestEventsOfVolumesNeedTheRightToReadThem(t *testing.T) {
	h, srv := newVolumeHarness(t)
	h.http = httptest.NewServer(h.handler)
	t.Cleanup(h.http.Close)
	h.policy("volumes", `namespace "dev" { capabilities = ["host-volume-read"] }`)
	h.policy("jobs", "namespace \"dev\" { capabilities = [\"read-job\"] }\nnamespace \"default\" { capabilities = [\"host-volume-read\"] }")
	volumes, _ := h.user("volumes")
	jobs, _ := h.user("jobs")
	mine := h.receive(volumes, "namespace=dev&topic=HostVolume&snapshot=true")
	others := h.receive(jobs, "namespace=*&topic=Job&topic=HostVolume&snapshot=true")
	byNode := h.receive(volumes, "namespace=dev&topic=HostVolume:"+testNode+"&snapshot=true")
	srv.apply(t, state.DeleteHostVolume(testVolumeID))
	srv.apply(t, state.PutHostVolume(&api.HostVolume{Namespace: "default", ID: otherVolumeID, Name: "later", NodeID: testNode, PluginID: api.PluginMkdir, State: api.HostVolumePending, Generation: 1}, 0))
	if got := receiveUntil(t, others, otherVolumeID); slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, testVolumeID) }) {
		t.Errorf("a reader of jobs received %q", got)
	}
	for _, lines := range []<-chan string{mine, byNode} {
		if got := receiveUntil(t, lines, "HostVolume dev "+testVolumeID); len(got) == 0 {
			t.Errorf("received %q", got)
		}
	}
}

// TestVolumesBelongToTheirNamespaces asks for a volume of another namespace, and for its claim.
func TestVolumesBelongToTheirNamespaces(t *testing.T) {
	h, _ := newVolumeHarness(t)
	rules := func(namespace string) string { return "namespace \"" + namespace + "\" {\n policy = \"write\"\n}\n" }
	h.policy("own", rules("dev"))
	h.policy("other", rules("default"))
	own, _ := h.user("own")
	other, _ := h.user("other")
	manager, _ := h.user()
	for name, c := range map[string]struct {
		user               peer
		method, path, body string
		status             int
		contains           string
	}{
		"read":                  {own, "GET", "/v1/volume/host/" + testVolumeID, "", 200, `"State":"ready"`},
		"read by prefix":        {own, "GET", "/v1/volume/host/" + testVolumeID[:8], "", 200, testVolumeID},
		"read of others":        {other, "GET", "/v1/volume/host/" + testVolumeID, "", 403, ""},
		"list":                  {own, "GET", "/v1/volumes?namespace=*", "", 200, testVolumeID},
		"list of others":        {other, "GET", "/v1/volumes?namespace=*", "", 200, "[]"},
		"list of a node":        {manager, "GET", "/v1/volumes?namespace=dev&node_id=" + testNode, "", 200, testVolumeID},
		"list of another node":  {manager, "GET", "/v1/volumes?namespace=dev&node_id=77", "", 200, "[]"},
		"list of csi":           {manager, "GET", "/v1/volumes?namespace=dev&type=csi", "", 200, "[]"},
		"delete of others":      {other, "DELETE", "/v1/volume/host/" + testVolumeID, "", 403, ""},
		"delete by force":       {other, "DELETE", "/v1/volume/host/" + testVolumeID + "/delete?force=true", "", 403, ""},
		"create in another":     {other, "PUT", "/v1/volume/host/create?namespace=default", `{"Volume": {"Namespace": "dev", "Name": "x"}}`, 403, ""},
		"create, query another": {other, "PUT", "/v1/volume/host/create?namespace=dev", `{"Volume": {"Name": "x"}}`, 403, ""},
		"change from elsewhere": {other, "PUT", "/v1/volume/host/create", `{"Volume": {"ID": "` + testVolumeID + `", "Name": "data"}}`, 404, "not found"},
		"register a system dir": {manager, "PUT", "/v1/volume/host/register", `{"Volume": {"Name": "x", "NodeID": "` + testNode + `", "HostPath": "/proc"}}`, 400, "host_path"},
		"huge":                  {manager, "PUT", "/v1/volume/host/create", `{"Volume": {"Name": "x", "RequestedCapacityMinBytes": 9223372036854775807}}`, 400, "capacity_min"},
		"null capability":       {manager, "PUT", "/v1/volume/host/create", `{"Volume": {"Name": "x", "RequestedCapabilities": [null]}}`, 400, "null"},
		"no volume":             {manager, "PUT", "/v1/volume/host/create", `{}`, 400, "holds no Volume"},
		"a node's report":       {own, "PUT", "/v1/node/" + testNode + "/volumes", `{"Volumes": [{"ID": "` + testVolumeID + `", "Generation": 1, "Deleted": true}]}`, 403, ""},
		"an unknown claim":      {own, "DELETE", "/v1/volumes/claim/" + unknownID, "", 404, ""},
	} {
		got := c.user.ask(t, h.handler, c.method, c.path, c.body)
		if got.status != c.status || !strings.Contains(got.body, c.contains) {
			t.Errorf("%s: %d %s; want %d with %q", name, got.status, got.body, c.status, c.contains)
		}
	}
}
