// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
)

// samples are bodies with which a write does something, by pattern.
var samples = map[string]string{
	"PUT /v1/jobs":                                   `{"Job": {"ID": "two", "Name": "two", "Type": "batch", "Datacenters": ["*"], "TaskGroups": [{"Name": "g", "Tasks": [{"Name": "t", "Driver": "mock"}]}]}}`,
	"PUT /v1/jobs/statuses":                          `{"jobs": [{"id": "web", "namespace": "default"}]}`,
	"PUT /v1/jobs/parse":                             `{"JobHCL": "job \"p\" {\n group \"g\" {\n task \"t\" {\n driver = \"mock\"\n}\n}\n}"}`,
	"PUT /v1/validate/job":                           `{"Job": {"ID": "web"}}`,
	"PUT /v1/job/{id}":                               `{"Job": {"ID": "web", "Name": "web", "Type": "service", "Datacenters": ["*"], "TaskGroups": [{"Name": "web", "Tasks": [{"Name": "main", "Driver": "mock"}]}]}}`,
	"PUT /v1/job/{id}/plan":                          `{"Diff": true, "Job": {"ID": "web", "Name": "web", "Type": "service", "Datacenters": ["*"], "TaskGroups": [{"Name": "web", "Tasks": [{"Name": "main", "Driver": "mock"}]}]}}`,
	"PUT /v1/job/{id}/scale":                         `{"Count": 2, "Target": {"Group": "web"}}`,
	"PUT /v1/job/{id}/revert":                        `{"JobID": "web", "JobVersion": 0}`,
	"PUT /v1/job/{id}/stable":                        `{"JobID": "web", "JobVersion": 0, "Stable": true}`,
	"PUT /v1/deployment/pause/{id}":                  `{"Pause": true}`,
	"PUT /v1/deployment/promote/{id}":                `{"All": true}`,
	"PUT /v1/deployment/allocation-health/{id}":      `{"HealthyAllocationIDs": ["a"]}`,
	"PUT /v1/deployment/unblock/{id}":                ``,
	"PUT /v1/job/{id}/plan/{plan}/{verb}":            `{"Reason": "to see"}`,
	"PUT /v1/job/{id}/instance/{name}/{verb}":        `{"Reason": "to see"}`,
	"PUT /v1/job/{id}/restart":                       `{"BatchSize": 1}`,
	"DELETE /v1/job/{id}/instance/{name}":            ``,
	"PATCH /v1/job/{id}":                             `{"Annotation": "to see"}`,
	"DELETE /v1/job/{id}/restart/{rid}":              ``,
	"PUT /v1/job/{id}/restart/{rid}/pause":           ``,
	"PUT /v1/job/{id}/restart/{rid}/resume":          ``,
	"PUT /v1/stacks":                                 `{"Jobs": [{"ID": "inventory", "Name": "inventory", "Type": "service", "Datacenters": ["*"], "Stack": {"Version": "1.0.0"}, "TaskGroups": [{"Name": "g", "Tasks": [{"Name": "t", "Driver": "mock"}]}]}]}`,
	"PUT /v1/stacks/plan":                            `{"Jobs": [{"ID": "inventory", "Name": "inventory", "Type": "service", "Datacenters": ["*"], "Stack": {"Version": "1.0.0"}, "TaskGroups": [{"Name": "g", "Tasks": [{"Name": "t", "Driver": "mock"}]}]}]}`,
	"PUT /v1/stacks/register":                        `{"Unit": "db", "Address": "10.0.0.7:5432", "Stack": {"Version": "1.0.0"}}`,
	"PUT /v1/stacks/sweep":                           ``,
	"DELETE /v1/stack/{id}":                          ``,
	"PUT /v1/stack/{id}/hold":                        ``,
	"PUT /v1/stack/{id}/unhold":                      ``,
	"PUT /v1/stack/{id}/extend":                      ``,
	"PUT /v1/stack/{id}/expire":                      ``,
	"PUT /v1/stack/{id}/redeploy":                    ``,
	"PUT /v1/stack/{id}/rescue":                      ``,
	"PUT /v1/stack/{id}/stop":                        ``,
	"PUT /v1/unit/{id}/deprecate":                    `{"Version": "1.0"}`,
	"PUT /v1/unit/{id}/undeprecate":                  `{"Version": "1.0"}`,
	"PUT /v1/unit/{id}/tag":                          `{"Tag": "canary", "Version": "1.0.0"}`,
	"PUT /v1/unit/{id}/policy":                       `{"Policy": {"Name": "retain-always"}}`,
	"PUT /v1/unit/{id}/shift":                        `{"To": "1.0.0"}`,
	"PUT /v1/shift/{id}/{verb}":                      ``,
	"PUT /v1/node/{id}/eligibility":                  `{"Eligibility": "eligible"}`,
	"PUT /v1/node/{id}/drain":                        `{"DrainSpec": {"Deadline": 3600000000000}}`,
	"PUT /v1/node/{id}/evaluate":                     ``,
	"PUT /v1/node/{id}/purge":                        ``,
	"PUT /v1/node/{id}/register":                     `{"Node": {"ID": "11111111-2222-3333-4444-555555555555", "Name": "n", "SecretID": "s"}}`,
	"PUT /v1/node/{id}/orphans":                      `{"Orphans": []}`,
	"PUT /v1/traffic":                                `{"Router": "r", "Sequence": 1}`,
	"PUT /v1/node/{id}/allocations":                  `{"Alloc": []}`,
	"PUT /v1/node/pools":                             `{"Name": "gpu"}`,
	"PUT /v1/node/pool/{id}":                         `{"Description": "cards"}`,
	"DELETE /v1/node/pool/{id}":                      ``,
	"PUT /v1/namespaces":                             `{"Name": "dev"}`,
	"PUT /v1/namespace":                              `{"Name": "dev"}`,
	"PUT /v1/namespace/{id}":                         `{"Description": "for all"}`,
	"DELETE /v1/namespace/{id}":                      ``,
	"PUT /v1/volume/host/create":                     `{"Volume": {"Name": "made"}}`,
	"PUT /v1/volume/host/register":                   `{"Volume": {"Name": "data", "NodeID": "` + testNode + `", "HostPath": "/srv/data"}}`,
	"DELETE /v1/volume/host/{id}":                    ``,
	"DELETE /v1/volume/host/{id}/delete":             ``,
	"DELETE /v1/volumes/claim/{id}":                  ``,
	"PUT /v1/node/{id}/volumes":                      `{"Volumes": []}`,
	"PUT /v1/node/{id}/image-uses":                   `{"Uses": []}`,
	"PUT /v1/client/images/gc":                       "",
	"PUT /v1/node/{id}/image-pin":                    `{"AllocID": "99999999-2222-3333-4444-555555555555", "Task": "main", "Image": "busybox:1"}`,
	"PUT /v1/quota":                                  `{"Name": "team", "Limits": [{"RegionLimit": {"MemoryMB": 512}}]}`,
	"PUT /v1/quota/{id}":                             `{"Limits": [{"RegionLimit": {"CPU": 100}}]}`,
	"DELETE /v1/quota/{id}":                          ``,
	"PUT /v1/acl/policy/{id}":                        `{"Rules": "namespace \"dev\" { policy = \"read\" }"}`,
	"DELETE /v1/acl/policy/{id}":                     ``,
	"PUT /v1/acl/role":                               `{"Name": "support", "Policies": [{"Name": "readers"}]}`,
	"PUT /v1/acl/role/{id}":                          `{"Name": "support", "Policies": [{"Name": "readers"}]}`,
	"DELETE /v1/acl/role/{id}":                       ``,
	"PUT /v1/acl/token":                              `{"Name": "ana", "Type": "client", "Policies": ["readers"]}`,
	"PUT /v1/acl/token/{id}":                         `{"Name": "ana", "Policies": ["readers"]}`,
	"DELETE /v1/acl/token/self":                      ``,
	"DELETE /v1/acl/token/{id}":                      ``,
	"PUT /v1/var/{id}":                               `{"Items": {"user": "shop"}}`,
	"DELETE /v1/var/{id}":                            ``,
	"PUT /v1/operator/keyring/rotate":                ``,
	"DELETE /v1/operator/keyring/key/{id}":           ``,
	"PUT /v1/operator/keyring/recovery":              `{"PublicKey": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}`,
	"PUT /v1/operator/keyring/recover":               `{"RecoveryKey": "reeve-recovery-1-"}`,
	"PUT /v1/acl/token/onetime":                      ``,
	"PUT /v1/acl/identity/client-introduction-token": `{"NodePool": "default", "NodeName": "edge-7", "TTL": "10m"}`,
	"PUT /v1/acl/token/onetime/exchange":             `{}`,
	"PUT /v1/ui/code":                                ``,
	"PUT /v1/ui/session":                             `{}`,
	"PUT /v1/ui/session/renew":                       ``,
	"PUT /v1/acl/bootstrap":                          ``,
	"PUT /v1/acl/auth-method":                        `{"Name": "ci", "Type": "JWT", "TokenLocality": "local", "MaxTokenTTL": "1h", "Config": {"JWKSURL": "https://ci.example.com/keys", "BoundAudiences": ["reeve"]}}`,
	"PUT /v1/acl/auth-method/{id}":                   `{"Type": "JWT", "TokenLocality": "local", "MaxTokenTTL": "1h", "Config": {"JWKSURL": "https://ci.example.com/keys"}}`,
	"DELETE /v1/acl/auth-method/{id}":                ``,
	"PUT /v1/acl/binding-rule":                       `{"AuthMethod": "ci", "BindType": "policy", "BindName": "readers"}`,
	"PUT /v1/acl/binding-rule/{id}":                  `{"AuthMethod": "ci", "BindType": "policy", "BindName": "readers"}`,
	"DELETE /v1/acl/binding-rule/{id}":               ``,
	"PUT /v1/acl/login":                              `{"AuthMethodName": "ci"}`,
	"PUT /v1/acl/oidc/auth-url":                      `{"AuthMethodName": "ci"}`,
	"PUT /v1/acl/oidc/complete-auth":                 `{"AuthMethodName": "ci"}`,
	"PUT /v1/cluster/join":                           `{"Token": "reeve-node-1"}`,
	"PUT /v1/operator/snapshot":                      `no snapshot`,
	"PUT /v1/cluster/renew":                          `{"CSR": "none"}`,
	"PUT /v1/cluster/announce":                       `{"Name": "test"}`,
	"PUT /v1/cluster/token/{id}/rotate":              ``,
	"PUT /v1/cluster/ca/rotate":                      ``,
	"PUT /v1/cluster/operator-token/rotate":          ``,
	"PUT /v1/cluster/member/{id}/revoke":             `{"Reason": "stolen"}`,
	"PUT /v1/domain/{id}":                            `{"TTL": "20s"}`,
	"DELETE /v1/domain/{id}":                         ``,
	"PUT /v1/operator/scheduler/configuration":       `{"SchedulerAlgorithm": "spread"}`,
	"PUT /v1/operator/autopilot/configuration":       `{"LastContactThreshold": "200ms", "MaxTrailingLogs": 250, "ServerStabilizationTime": "10s"}`,
	"PUT /v1/operator/raft/transfer-leadership":      ``,
	"DELETE /v1/operator/raft/peer":                  ``,
	"PUT /v1/agent/force-leave":                      ``,
	"PUT /v1/agent/servers":                          ``,
	"DELETE /v1/server/{id}":                         ``,
	"PUT /v1/server/{id}/leave":                      ``,
	"PUT /v1/server/{id}/promote":                    ``,
	"PUT /v1/search":                                 `{"Prefix": "w", "Context": "jobs"}`,
	"PUT /v1/job/{id}/evaluate":                      ``,
	"PUT /v1/job/{id}/dispatch":                      `{"Meta": {}}`,
	"PUT /v1/job/{id}/periodic/force":                ``,
	"PUT /v1/deployment/fail/{id}":                   ``,
	"PUT /v1/system/gc":                              ``,
	"PUT /v1/evaluation/{id}/unblock":                ``,
	"DELETE /v1/evaluations":                         `{"Filter": "Status == \"failed\""}`,
	"PUT /v1/allocation/{id}/stop":                   ``,
	"PUT /v1/node/{id}/template-values":              `{"Tasks": []}`,
	"PUT /v1/node/{id}/identities":                   `{"Requests": [{"AllocID": "99999999-2222-3333-4444-555555555555", "Task": "main", "Identity": "default"}]}`,
	"PUT /v1/node/{id}/heartbeat":                    ``,
	"PUT /v1/server/heartbeats":                      ``,
	"PUT /v1/server/evaluations/poll":                ``,
	"PUT /v1/server/placements/commit":               ``,
	"PUT /v1/server/reports":                         ``,
	"DELETE /v1/job/{id}":                            ``,
	"DELETE /v1/service/{name}/{id}":                 ``,
	"PUT /v1/client/allocation/{alloc}/restart":      `{}`,
	"PUT /v1/client/allocation/{alloc}/signal":       `{"Signal": "SIGHUP"}`,
}

const (
	testNode  = "11111111-2222-3333-4444-555555555555"
	unknownID = "99999999-2222-3333-4444-555555555555"
)

// pathOf fills a pattern in with something that exists where that can be.
func pathOf(pattern string) string {
	switch {
	case strings.HasPrefix(pattern, "/v1/job/"):
		return strings.NewReplacer("{id}", "web", "{plan}", "deploy", "/plan/{plan}/{verb}", "/plan/deploy/interrupt",
			"{name}/{verb}", "web-0/restart", "{name}", "web-0", "{rid}", unknownID).Replace(pattern)
	case pattern == "/v1/cluster/token/{id}/rotate":
		return "/v1/cluster/token/node/rotate"
	case strings.HasPrefix(pattern, "/v1/acl/policy/"):
		return strings.Replace(pattern, "{id}", "readers", 1)
	case strings.HasPrefix(pattern, "/v1/quota/"):
		return strings.Replace(pattern, "{id}", "team", 1)
	case pattern == "/v1/acl/explain":
		return pattern + "?capability=read-job"
	case strings.HasPrefix(pattern, "/v1/namespace/"):
		return "/v1/namespace/default"
	case strings.HasPrefix(pattern, "/v1/var/"):
		return "/v1/var/shop/db"
	case strings.HasPrefix(pattern, "/v1/node/pool/"):
		return strings.Replace(pattern, "{id}", "gpu", 1)
	case strings.HasPrefix(pattern, "/v1/domain/"):
		return strings.Replace(pattern, "{id}", api.DomainNone, 1)
	case strings.HasPrefix(pattern, "/v1/node/"):
		return strings.Replace(pattern, "{id}", testNode, 1)
	}
	return strings.NewReplacer("{id}", unknownID, "{alloc}", unknownID).Replace(pattern)
}

func TestEveryRouteAnswers(t *testing.T) {
	h := newHarness(t, audited(t))
	h.register("web")
	h.register("old")
	if _, err := h.client.Nodes().Register(t.Context(), &api.Node{ID: testNode, Name: "n"}); err != nil {
		t.Fatal(err)
	}
	h.policy("readers", `node { policy = "read" }`)
	for path, body := range map[string]string{"/v1/var/shop/db": samples["PUT /v1/var/{id}"], "/v1/operator/keyring/recovery": samples["PUT /v1/operator/keyring/recovery"]} {
		if got := h.do(http.MethodPut, path, body); got.status != http.StatusOK {
			t.Fatalf("PUT %s: %d %s", path, got.status, got.body)
		}
	}
	for _, r := range routes() {
		where := r.Method + " " + r.Pattern
		if r.Stream == lines && !strings.HasPrefix(r.Pattern, "/v1/client/") {
			continue // streams have tests of their own
		}
		t.Run(where, func(t *testing.T) {
			body, sampled := samples[where]
			if r.Method != http.MethodGet && !sampled {
				t.Fatalf("samples has no body for %s", where)
			}
			path := pathOf(r.Pattern)
			if r.Method == http.MethodDelete && !strings.Contains(path, unknownID) && r.Pattern != "/v1/acl/token/self" {
				path = "/v1/job/old"
			}
			got := h.do(r.Method, path, body)
			want := http.StatusOK
			switch {
			case r.Pattern == "/v1/evaluation/{id}/allocations": // of what is not known there are none
			case strings.Contains(path, unknownID):
				want = http.StatusNotFound
			case r.Pattern == "/v1/job/{id}/submission" || r.Pattern == "/v1/acl/token/self": // the caller under test has no token
				want = http.StatusNotFound
			case r.Pattern == "/v1/job/{id}/instance/{name}/{verb}" || r.Pattern == "/v1/job/{id}/restart":
				want = http.StatusConflict // the job under test is still being deployed
			case r.Pattern == "/v1/operator/raft/transfer-leadership":
				want = http.StatusConflict // the only server
			case r.Pattern == "/v1/agent/servers" && r.Method == http.MethodPut: // the agent under test is a server
				want = http.StatusBadRequest
			case r.Pattern == "/v1/agent/force-leave": // the query has to name a server
				want = http.StatusBadRequest
			case r.Pattern == "/v1/job/{id}/action": // the query has to name an action
				want = http.StatusBadRequest
			case r.Pattern == "/v1/node/{id}/explain": // the query has to name a job
				want = http.StatusBadRequest
			case strings.Contains(r.Pattern, "/dispatch") || strings.Contains(r.Pattern, "/periodic"):
				want = http.StatusBadRequest // the job under test starts no others
			case r.Pattern == "/v1/node/{id}/identities" || r.Pattern == discoveryPath: // no such allocation, no issuer
				want = http.StatusNotFound
			case r.Pattern == "/v1/operator/keyring/recover":
				want = http.StatusBadRequest // the key in the sample is cut short
			case r.Pattern == "/v1/cluster/join":
				want = http.StatusBadRequest // the token in the sample is cut short
			case strings.HasPrefix(r.Pattern, "/v1/acl/token/onetime"): // neither the caller nor the sample has a token
				want = http.StatusBadRequest
			case strings.HasPrefix(r.Pattern, "/v1/ui/session"): // no code, no session
				want = http.StatusBadRequest
			case r.Pattern == "/v1/acl/login" || strings.HasPrefix(r.Pattern, "/v1/acl/oidc/"): // without a token, and the method is of another type
				want = http.StatusBadRequest
			case r.Pattern == "/v1/acl/bootstrap": // the cluster under test was founded
				want = http.StatusBadRequest
			case r.ForServers:
				want = http.StatusForbidden // the caller under test is no server
			case r.Pattern == "/v1/cluster/renew" || r.Pattern == "/v1/cluster/announce":
				want = http.StatusForbidden // the caller under test is no member
			case r.Pattern == "/v1/operator/snapshot" && r.Method == http.MethodPut:
				want = http.StatusBadRequest // the sample is no snapshot
			case r.Pattern == "/v1/client/stats", strings.HasPrefix(r.Pattern, "/v1/client/images"):
				want = http.StatusBadRequest // the agent under test is no node
			case r.Pattern == "/v1/volume/host/create":
				want = http.StatusConflict // the node under test has no plugin
			case r.Pattern == "/v1/agent/debug": // the query has to name a part
				want = http.StatusBadRequest
			}
			if got.status != want {
				t.Fatalf("%s %s: got %d, want %d: %s", r.Method, path, got.status, want, got.body)
			}
			media := "application/json"
			if r.Pattern == "/v1/operator/snapshot" {
				media = r.Stream
			}
			if got.status == http.StatusOK && got.header.Get("Content-Type") != media {
				t.Errorf("Content-Type is %q, want %q", got.header.Get("Content-Type"), media)
			}
			if r.Stream == "" && got.status == http.StatusOK && got.header.Get("X-Nomad-Index") == "" {
				t.Errorf("the answer has no X-Nomad-Index")
			}
			if got.status == http.StatusNotFound && !strings.Contains(got.body, "not found") && !strings.Contains(got.body, "no source") {
				t.Errorf("the answer does not say what was not found: %s", got.body)
			}
		})
	}
}

func TestEveryRouteRefusesOtherMethods(t *testing.T) {
	h := newHarness(t)
	allowed := map[string]map[string]bool{}
	for _, r := range routes() {
		if allowed[r.Pattern] == nil {
			allowed[r.Pattern] = map[string]bool{}
		}
		for _, method := range r.methods() {
			allowed[r.Pattern][method] = true
		}
	}
	for pattern, methods := range allowed {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodPatch} {
			if methods[method] {
				continue
			}
			got := h.do(method, pathOf(pattern), "{}")
			if got.status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: got %d, want 405", method, pattern, got.status)
			}
			for m := range methods {
				if !strings.Contains(got.header.Get("Allow"), m) {
					t.Errorf("%s %s: Allow is %q, want %s in it", method, pattern, got.header.Get("Allow"), m)
				}
			}
		}
	}
	if got := h.do(http.MethodGet, "/v1/no/such", ""); got.status != http.StatusNotFound || !strings.Contains(got.body, "there is no route /v1/no/such") {
		t.Errorf("an unknown route: got %d %s", got.status, got.body)
	}
}

// TestEveryBodyIsChecked sends each route that takes JSON what it must refuse,
// and looks that nothing was written.
func TestEveryBodyIsChecked(t *testing.T) {
	h := newHarness(t)
	h.register("web")
	h.settle()
	before := h.server.Store().Index()
	for _, r := range routes() {
		if r.In == nil || r.Stream != "" {
			continue
		}
		path := pathOf(r.Pattern)
		for name, c := range map[string]struct {
			body   string
			status int
			says   string
		}{
			"truncated":  {`{"Job": {"ID": "web`, http.StatusBadRequest, "ends too early"},
			"a list":     {`[1]`, http.StatusBadRequest, "must be an object"},
			"no JSON":    {`Job: web`, http.StatusBadRequest, "broken at line 1"},
			"too large":  {`"` + strings.Repeat("x", int(r.BodyLimit)) + `"`, http.StatusRequestEntityTooLarge, "larger than"},
			"wrong type": {`{"Job": 7, "Jobs": 7, "JobID": 7, "JobHCL": 7, "Target": 7, "Pause": 7, "DeploymentID": 7, "Eligibility": 7, "Node": 7, "Alloc": 7, "Prefix": 7, "Name": 7, "SchedulerAlgorithm": 7, "DrainSpec": 7, "EvalIDs": 7, "By": 7, "TTL": 7, "Orphans": 7, "Annotation": 7, "Reason": 7, "CSR": 7, "Finish": 7, "AllocID": 7, "Path": 7, "PublicKey": 7, "RecoveryKey": 7, "MaxTrailingLogs": "7", "OneTimeSecretID": 7, "Code": 7, "BootstrapSecret": 7, "AuthMethod": 7, "AuthMethodName": 7, "NodeName": 7, "Requests": 7, "Tasks": 7, "Volume": 7, "Volumes": 7, "Uses": 7}`, http.StatusBadRequest, " must be "},
		} {
			got := h.do(r.Method, path, c.body)
			if got.status != c.status || !strings.Contains(got.body, c.says) {
				t.Errorf("%s %s with a body that is %s: got %d %q, want %d and %q in it", r.Method, r.Pattern, name, got.status, got.body, c.status, c.says)
			}
		}
	}
	if after := h.server.Store().Index(); after != before {
		t.Errorf("the refused requests moved the state from index %d to %d", before, after)
	}
}

func TestABodyThatBreaksOff(t *testing.T) {
	h := newHarness(t)
	before := h.server.Store().Index()
	conn, err := net.Dial("tcp", h.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PUT /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{\"Job\": {\"ID\"")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "ends before the length that its header says") {
		t.Errorf("got %d %q", resp.StatusCode, text)
	}
	if after := h.server.Store().Index(); after != before {
		t.Errorf("the state moved from index %d to %d", before, after)
	}
}

// settle waits until the server has done all that earlier requests set off.
func (h *harness) settle() {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	for {
		v := h.server.Store().Snapshot()
		open := false
		for e := range v.Evaluations() {
			open = open || e.Status == api.EvalStatusPending
		}
		if !open {
			return
		}
		if _, err := h.server.Store().WaitChange(ctx, v.Index()); err != nil {
			h.t.Fatalf("evaluations stay pending: %v", err)
		}
	}
}
