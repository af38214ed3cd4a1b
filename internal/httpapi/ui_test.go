// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/pki"
)

// decodeUI decodes an answer.
func decodeUI[T any](t *testing.T, got answer) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(got.body), &v); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	return v
}

func TestACodeBecomesASession(t *testing.T) {
	h := newHarness(t, withUsers(t), audited(t))
	h.policy("readers", `namespace "default" { policy = "read" }`)
	ana, token := h.user("readers")
	code := decodeUI[api.UICode](t, ana.ask(t, h.handler, http.MethodPost, "/v1/ui/code", ""))
	stranger := peer{}
	for _, path := range []string{"/v1/ui/session?Code=" + code.Code, "/v1/ui/session?code=" + code.Code} {
		if got := stranger.ask(t, h.handler, http.MethodGet, path, ""); got.status == http.StatusOK {
			t.Errorf("GET %s trades a code: %s", path, got.body)
		}
		if got := stranger.ask(t, h.handler, http.MethodPost, path, "{}"); got.status != http.StatusBadRequest {
			t.Errorf("POST %s takes a code from the address: %d %s", path, got.status, got.body)
		}
	}
	body := `{"Code": "` + code.Code + `"}`
	for what, header := range map[string][]string{"a page of another site": {"Origin", "https://evil.example"}, "a form of another site": {"Sec-Fetch-Site", "cross-site"}} {
		if got := (peer{header: header}).ask(t, h.handler, http.MethodPost, "/v1/ui/session", body); got.status != http.StatusForbidden {
			t.Errorf("%s trades a code: %d %s", what, got.status, got.body)
		}
	}
	session := decodeUI[api.UISession](t, stranger.ask(t, h.handler, http.MethodPost, "/v1/ui/session", body))
	if session.Token.SecretID == "" || session.Token.AccessorID == token.AccessorID || session.EndsAt.IsZero() {
		t.Errorf("the session is %+v", session)
	}
	if got := stranger.ask(t, h.handler, http.MethodPost, "/v1/ui/session", body); got.status != http.StatusForbidden || !strings.Contains(got.body, "reeve ui") {
		t.Errorf("the second trade: %d %s", got.status, got.body)
	}
	browser := peer{header: []string{"X-Nomad-Token", session.Token.SecretID}}
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodGet, "/v1/jobs", "", http.StatusOK},
		{http.MethodPut, "/v1/jobs", samples["PUT /v1/jobs"], http.StatusForbidden},
		{http.MethodPost, "/v1/ui/code", "", http.StatusForbidden},
		{http.MethodPost, "/v1/ui/session/renew", "", http.StatusOK},
		{http.MethodDelete, "/v1/acl/token/self", "", http.StatusOK},
		{http.MethodGet, "/v1/jobs", "", http.StatusForbidden},
	} {
		if got := browser.ask(t, h.handler, c.method, c.path, c.body); got.status != c.want {
			t.Errorf("the session: %s %s: %d, want %d: %s", c.method, c.path, got.status, c.want, got.body)
		}
	}
	records, err := json.Marshal(h.records("?per_page=1000"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(records), "/v1/ui/session") || !strings.Contains(string(records), "/v1/ui/code") {
		t.Errorf("the audit log lacks the code or its trade: %s", records)
	}
	for _, secret := range []string{code.Code, session.Token.SecretID} {
		if strings.Contains(string(records), secret) {
			t.Errorf("the audit log contains a secret: %s", records)
		}
	}
}

func TestWhoCreatesCodes(t *testing.T) {
	h := newHarness(t, withUsers(t))
	for what, c := range map[string]struct {
		peer
		want int
	}{
		"an operator": {peer{header: []string{"X-Nomad-Token", operatorToken}}, http.StatusOK},
		"nobody":      {peer{}, http.StatusForbidden},
		"a guess":     {peer{header: []string{"X-Nomad-Token", "guess"}}, http.StatusForbidden},
		"a node":      {peer{id: "n1", role: pki.RoleNode}, http.StatusForbidden},
		"a server":    {peer{id: "s2", role: pki.RoleServer}, http.StatusBadRequest},
	} {
		if got := c.ask(t, h.handler, http.MethodPost, "/v1/ui/code", ""); got.status != c.want {
			t.Errorf("%s: %d, want %d: %s", what, got.status, c.want, got.body)
		}
	}
	h.policy(api.ACLAnonymous, `namespace "default" { policy = "read" }`)
	if got := (peer{}).ask(t, h.handler, http.MethodPost, "/v1/ui/code", ""); got.status != http.StatusBadRequest {
		t.Errorf("a caller without a token: %d %s", got.status, got.body)
	}
}

func TestGuessesOfCodesAreLimited(t *testing.T) {
	h := newHarness(t, withUsers(t), func(c *Config) { c.Limits = map[limit.Class]limit.Rate{limit.Login: {PerSecond: 0.001, Burst: 3}} })
	statuses := map[int]int{}
	for range 5 {
		statuses[peer{}.ask(t, h.handler, http.MethodPost, "/v1/ui/session", `{"Code": "guess"}`).status]++
	}
	if statuses[http.StatusForbidden] != 3 || statuses[http.StatusTooManyRequests] != 2 {
		t.Errorf("5 guesses with a burst of 3: %v", statuses)
	}
}

func TestTheConfigurationSaysWhoNeedsAToken(t *testing.T) {
	cluster := newHarness(t, withUsers(t), func(c *Config) { c.Region, c.Name, c.Version, c.UIReadOnly = "eu", "s1", "1.2.3", true })
	ana, _ := cluster.user()
	for what, c := range map[string]struct {
		peer
		acl, admitted bool
	}{
		"nobody in a cluster":      {peer{}, true, false},
		"a guess in a cluster":     {peer{header: []string{"X-Nomad-Token", "guess"}}, true, false},
		"a user of a cluster":      {ana, true, true},
		"an operator of a cluster": {peer{header: []string{"X-Nomad-Token", operatorToken}}, true, true},
	} {
		config := decodeUI[api.UIConfig](t, c.ask(t, cluster.handler, http.MethodGet, "/v1/ui/config", ""))
		if config.ACL != c.acl || config.Admitted != c.admitted {
			t.Errorf("%s: %+v, want ACL %t, Admitted %t", what, config, c.acl, c.admitted)
		}
		if config.Region != "eu" || config.Agent != "s1" || config.Version != "1.2.3" || !config.ReadOnly || config.AuthMethods == nil {
			t.Errorf("%s: %+v", what, config)
		}
	}
	alone := decodeUI[api.UIConfig](t, newHarness(t).do(http.MethodGet, "/v1/ui/config", ""))
	if alone.ACL || !alone.Admitted {
		t.Errorf("a user of a machine alone: %+v", alone)
	}
}

func TestRightsAreThoseOfTheCaller(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("web", `
namespace "default" {
  policy = "read"
  capabilities = ["operate-plan"]
  variables {
    path "app/*" { capabilities = ["read"] }
  }
}
namespace "secret" { policy = "deny" }
node { policy = "read" }`)
	for _, name := range []string{"secret", "other"} {
		if _, err := h.server.PutNamespace(t.Context(), &api.Namespace{Name: name}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ana, _ := h.user("web")
	got := decodeUI[api.UIRights](t, ana.ask(t, h.handler, http.MethodGet, "/v1/ui/rights", ""))
	if got.Management || len(got.Namespaces) != 1 || !slices.Equal(got.Cluster, []string{"node:read"}) {
		t.Errorf("rights %+v", got)
	}
	for capability, want := range map[string]bool{"operate-plan": true, "read-job": true, "submit-job": false, "alloc-exec": false, "variables:read": true, "variables:write": false} {
		if has := slices.Contains(got.Namespaces["default"], capability); has != want {
			t.Errorf("%s: %t, want %t", capability, has, want)
		}
	}
	operator := peer{header: []string{"X-Nomad-Token", operatorToken}}
	if got := decodeUI[api.UIRights](t, operator.ask(t, h.handler, http.MethodGet, "/v1/ui/rights", "")); !got.Management {
		t.Errorf("an operator: %+v", got)
	}
	if got := (peer{}).ask(t, h.handler, http.MethodGet, "/v1/ui/rights", ""); got.status != http.StatusForbidden {
		t.Errorf("nobody: %d %s", got.status, got.body)
	}
}
