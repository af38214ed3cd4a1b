// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// TestATaskUsesTheAPIWithItsIdentity gives a task of a node its token, and uses it, and verifies it as
// another service does.
func TestATaskUsesTheAPIWithItsIdentity(t *testing.T) {
	const issuer = "https://reeve.example.com"
	h := newHarnessOf(t, server.Config{OIDCIssuer: issuer}, withUsers(t))
	apply := func(commands ...state.Command) {
		t.Helper()
		for _, c := range commands {
			if _, err := h.server.Replica().Propose(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	}
	job := storedJob("web")
	apply(&state.RegisterJob{Job: job}, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", Status: api.NodeStatusReady}})
	stored, task := h.server.Store().Snapshot().Job("default", "web"), job.Groups[0].Tasks[0].Name
	apply(&state.CommitPlacement{Placement: &state.Placement{Job: stored, Time: 1, Place: []*api.Allocation{{
		ID: unknownID, Namespace: "default", JobID: "web", Job: stored, Group: job.Groups[0].Name, Name: "web.web[0]", NodeID: testNode, EvalID: "e1",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientPending,
	}}}})
	manager, _ := h.user()
	h.policy("writer", "namespace \"*\" {\n policy = \"write\"\n}\nnode {\n policy = \"write\"\n}")
	user, _ := h.user("writer")
	node, other := peer{id: testNode, role: pki.RoleNode}, peer{id: "22222222-2222-3333-4444-555555555555", role: pki.RoleNode}
	body := `{"Requests": [{"AllocID": "` + unknownID + `", "Task": "` + task + `", "Identity": "default"}]}`
	for what, attempt := range map[string]struct {
		peer
		path   string
		status int
	}{
		"another node":                {other, "/v1/node/" + testNode + "/identities", 403},
		"another node for itself":     {other, "/v1/node/" + other.id + "/identities", 404},
		"a user":                      {user, "/v1/node/" + testNode + "/identities", 403},
		"a caller without a token":    {peer{}, "/v1/node/" + testNode + "/identities", 403},
		"an operator of another node": {peer{header: []string{"X-Nomad-Token", operatorToken}}, "/v1/node/" + other.id + "/identities", 404},
	} {
		if got := attempt.ask(t, h.handler, http.MethodPut, attempt.path, body); got.status != attempt.status {
			t.Errorf("%s: %d, want %d: %s", what, got.status, attempt.status, got.body)
		}
	}
	got := node.ask(t, h.handler, http.MethodPut, "/v1/node/"+testNode+"/identities", body)
	var answer api.IdentitiesResponse
	if err := json.Unmarshal([]byte(got.body), &answer); err != nil || got.status != http.StatusOK || len(answer.Responses) != 1 || answer.Responses[0].Token == "" {
		t.Fatalf("the own node: %d %s", got.status, got.body)
	}
	signed := answer.Responses[0]
	mixed := strings.Replace(body, "[", `[{"AllocID": "none"}, `, 1)
	got = node.ask(t, h.handler, http.MethodPut, "/v1/node/"+testNode+"/identities", mixed)
	var two api.IdentitiesResponse
	if err := json.Unmarshal([]byte(got.body), &two); err != nil || got.status != http.StatusOK || len(two.Responses) != 2 ||
		two.Responses[0].Error == nil || two.Responses[0].Error.Code != api.CodeNotFound || two.Responses[0].Token != "" || two.Responses[1].Token == "" || two.Responses[1].Error != nil {
		t.Errorf("of two requests: %d %s", got.status, got.body)
	}
	for _, bad := range []string{`{"Requests": []}`, `{"Requests": [null]}`, `{"Requests": [` + strings.Repeat("{},", api.MaxIdentities) + `{}]}`} {
		if got := node.ask(t, h.handler, http.MethodPut, "/v1/node/"+testNode+"/identities", bad); got.status != http.StatusBadRequest {
			t.Errorf("%.60s: %d %s", bad, got.status, got.body)
		}
	}

	for _, path := range []string{"nomad/jobs/web", "nomad/jobs/other"} {
		if got := manager.ask(t, h.handler, http.MethodPut, "/v1/var/"+path, `{"Items": {"k": "v"}}`); got.status != http.StatusOK {
			t.Fatal(got.body)
		}
	}
	bearer, header := peer{header: []string{"Authorization", "Bearer " + signed.Token}}, peer{header: []string{"X-Nomad-Token", signed.Token}}
	for _, holder := range []peer{bearer, header} {
		for request, status := range map[string]int{
			"GET /v1/var/nomad/jobs/web": 200, "GET /v1/var/nomad/jobs/other": 403, "PUT /v1/var/nomad/jobs/web": 403, "GET /v1/services": 200, "GET /v1/service/web": 200,
			"GET /v1/services?namespace=dev": 403, "GET /v1/services?namespace=*": 403, "GET /v1/jobs": 403, "GET /v1/job/web": 403, "DELETE /v1/service/web/x": 403,
			"GET /v1/acl/token/self": 200, "GET /v1/acl/policy/self": 200, "GET /v1/nodes": 403, "PUT /v1/acl/token/onetime": 404, "GET /v1/vars": 200, "PUT /v1/system/gc": 403,
		} {
			method, path, _ := strings.Cut(request, " ")
			if got := holder.ask(t, h.handler, method, path, ""); got.status != status && !(status == 404 && got.status == 403) {
				t.Errorf("%s: %d, want %d: %s", request, got.status, status, got.body)
			}
		}
	}
	if got := bearer.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); !strings.Contains(got.body, "task "+task+" of allocation") || !strings.Contains(got.body, "list-jobs") {
		t.Errorf("a refusal says %s", got.body)
	}
	if got := bearer.ask(t, h.handler, http.MethodGet, "/v1/vars", ""); strings.Contains(got.body, "other") || !strings.Contains(got.body, "nomad/jobs/web") {
		t.Errorf("the variables of a task are %s", got.body)
	}
	broken := peer{header: []string{"X-Nomad-Token", signed.Token[:len(signed.Token)-3] + "AAA"}}
	if got := broken.ask(t, h.handler, http.MethodGet, "/v1/services", ""); got.status != http.StatusForbidden {
		t.Errorf("a token with another signature: %d", got.status)
	}

	// Another service finds the keys by the issuer, and verifies the token without asking again.
	var found struct {
		Issuer string
		URI    string `json:"jwks_uri"`
	}
	anybody := peer{}
	if err := json.Unmarshal([]byte(anybody.ask(t, h.handler, http.MethodGet, "/.well-known/openid-configuration", "").body), &found); err != nil || found.Issuer != issuer || found.URI != issuer+"/.well-known/jwks.json" {
		t.Errorf("the discovery is %+v, %v", found, err)
	}
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(anybody.ask(t, h.handler, http.MethodGet, "/.well-known/jwks.json", "").body), &keys); err != nil || len(keys.Keys) != 1 {
		t.Fatalf("the keys are %+v, %v", keys, err)
	}
	parsed, err := jwt.ParseSigned(signed.Token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		jwt.Claims
		Job string `json:"nomad_job_id"`
	}
	if err := parsed.Claims(keys, &claims); err != nil || claims.Job != "web" || claims.Subject != "global:default:web:"+job.Groups[0].Name+":"+task+":default" {
		t.Errorf("the claims are %+v, %v", claims, err)
	}
	if err := claims.Validate(jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{"nomadproject.io"}, Time: time.Now()}); err != nil {
		t.Error(err)
	}
	apply(&state.DeregisterJob{Namespace: "default", ID: "web"})
	if got := bearer.ask(t, h.handler, http.MethodGet, "/v1/services", ""); got.status != http.StatusOK {
		t.Errorf("while its allocation runs: %d %s", got.status, got.body)
	}
	apply(&state.UpdateAllocations{NodeID: testNode, Allocations: []*api.Allocation{{ID: unknownID, NodeID: testNode, ClientStatus: api.AllocClientComplete}}})
	if got := bearer.ask(t, h.handler, http.MethodGet, "/v1/services", ""); got.status != http.StatusForbidden {
		t.Errorf("after its allocation has ended: %d", got.status)
	}
}
