// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// leadRules are those of the lead of a team with the namespace web.
const leadRules = `namespace "web" {
  policy = "write"
  capabilities = ["delegate"]
  variables { 
    path "shop/*" { capabilities = ["read", "write"] }
  }
}
namespace "web/*" { policy = "write" }
namespace "web/locked" { policy = "deny" }`

// delegating returns a harness with namespaces, and the lead of a team.
func delegating(t *testing.T) (h *harness, lead peer, token *api.ACLToken) {
	t.Helper()
	h = newHarness(t, withUsers(t))
	for _, n := range []*api.Namespace{{Name: "web"}, {Name: "web/test"}, {Name: "web/locked"}, {Name: "webother"}, {Name: "other"}} {
		if _, err := h.server.PutNamespace(t.Context(), n, nil); err != nil {
			t.Fatal(err)
		}
	}
	h.policy("lead", leadRules)
	lead, token = h.user("lead")
	return h, lead, token
}

// put sends an object.
func (h *harness) put(p peer, path string, object any) answer {
	h.t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		h.t.Fatal(err)
	}
	return p.ask(h.t, h.handler, http.MethodPut, path, string(body))
}

// mint creates a token with policies of namespaces as another token.
func (h *harness) mint(by peer, policies ...string) (peer, *api.ACLToken) {
	h.t.Helper()
	got := h.put(by, "/v1/acl/token", &api.ACLToken{Name: "ci", Type: api.ACLTokenClient, Policies: policies})
	token := new(api.ACLToken)
	if err := json.Unmarshal([]byte(got.body), token); err != nil || got.status != http.StatusOK {
		h.t.Fatalf("create a token: %d %s", got.status, got.body)
	}
	return peer{header: []string{"X-Nomad-Token", token.SecretID}}, token
}

func (h *harness) wants(what string, got answer, status int, text string) {
	h.t.Helper()
	if got.status != status || !strings.Contains(got.body, text) {
		h.t.Errorf("%s: %d %s, want %d %s", what, got.status, got.body, status, text)
	}
}

func TestATeamManagesItself(t *testing.T) {
	h, lead, token := delegating(t)
	h.wants("a policy", h.put(lead, "/v1/acl/policy/web.ci", &api.ACLPolicy{Rules: `namespace "web" { policy = "write" }`}), 200, "Index")
	h.wants("a changed policy", h.put(lead, "/v1/acl/policy/web.ci", &api.ACLPolicy{Rules: "namespace \"web\" {\n policy = \"read\"\n variables {\n path \"shop/db\" { capabilities = [\"read\"] }\n}\n}"}), 200, "Index")
	h.wants("a policy of a child", h.put(lead, "/v1/acl/policy/web.test.ci", &api.ACLPolicy{Rules: `namespace "web/test" { policy = "write" }`}), 200, "Index")
	ci, minted := h.mint(lead, "web.ci", "web.test.ci")
	if minted.Namespace != "web" || minted.Creator != token.AccessorID {
		t.Errorf("the token is %+v", minted)
	}
	h.wants("its jobs", ci.ask(t, h.handler, "GET", "/v1/jobs?namespace=web", ""), 200, "[]")
	h.wants("others", ci.ask(t, h.handler, "GET", "/v1/jobs?namespace=other", ""), 403, "other")
	h.wants("its own policy", ci.ask(t, h.handler, "GET", "/v1/acl/policy/web.ci", ""), 200, `"Namespace":"web"`)
	h.wants("policies", lead.ask(t, h.handler, "GET", "/v1/acl/policies", ""), 200, "web.test.ci")
	h.wants("tokens", lead.ask(t, h.handler, "GET", "/v1/acl/tokens", ""), 200, minted.AccessorID)
	h.wants("tokens of a namespace", lead.ask(t, h.handler, "GET", "/v1/acl/tokens?filter=Namespace+%3D%3D+%22web%22", ""), 200, minted.AccessorID)
	h.wants("a hash in a filter", lead.ask(t, h.handler, "GET", "/v1/acl/tokens?filter=Hash+is+not+empty", ""), 400, "unknown field Hash")
	h.wants("a token", lead.ask(t, h.handler, "GET", "/v1/acl/token/"+minted.AccessorID, ""), 200, `"Creator":"`+token.AccessorID)
	h.wants("explain", lead.ask(t, h.handler, "GET", "/v1/acl/explain?capability=submit-job&namespace=web&accessor="+minted.AccessorID, ""), 200, `"Allowed":false`)
	if got := lead.ask(t, h.handler, "GET", "/v1/acl/tokens", ""); strings.Contains(got.body, token.AccessorID+`","Name":"ana"`) {
		t.Errorf("the list has a token of no namespace: %s", got.body)
	}
	h.wants("a namespace", h.put(lead, "/v1/namespace", &api.Namespace{Name: "web/x", Description: "1"}), 200, "Index")
	h.wants("a changed namespace", h.put(lead, "/v1/namespace/web/x", &api.Namespace{Description: "2"}), 200, "Index")
	h.wants("a namespace in use", lead.ask(t, h.handler, "DELETE", "/v1/namespace/web/test", ""), 409, "web.test.ci")
	h.wants("no namespace", lead.ask(t, h.handler, "DELETE", "/v1/namespace/web/x", ""), 200, "Index")
	h.wants("no policy", lead.ask(t, h.handler, "DELETE", "/v1/acl/policy/web.test.ci", ""), 200, "Index")
	h.wants("no token", lead.ask(t, h.handler, "DELETE", "/v1/acl/token/"+minted.AccessorID, ""), 200, "Index")
	h.wants("a deleted token", ci.ask(t, h.handler, "GET", "/v1/jobs?namespace=web", ""), 403, "")
}

// TestADelegateCannotReachBeyondItsRights attacks each way out.
func TestADelegateCannotReachBeyondItsRights(t *testing.T) {
	h, lead, token := delegating(t)
	manager, mtoken := h.user()
	h.policy("gone", `namespace "web" { policy = "read" }`)
	_, dangling := h.user("gone")
	if _, err := h.server.DeleteACLPolicy(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	h.wants("a policy of management in the namespace", h.put(manager, "/v1/acl/policy/web.strong", &api.ACLPolicy{Rules: `namespace "web" { capabilities = ["alloc-node-exec"] }`}), 200, "")
	if _, _, err := h.server.PutACLRole(t.Context(), &api.ACLRole{Name: "lead", Policies: []*api.ACLRolePolicyLink{{Name: "lead"}}}); err != nil {
		t.Fatal(err)
	}
	write, read := `namespace "web" { policy = "write" }`, `namespace "web" { policy = "read" }`
	for name, p := range map[string]*api.ACLPolicy{
		"lead":                            {Rules: leadRules},
		"gone":                            {Rules: read},
		"anonymous":                       {Rules: read},
		"web":                             {Rules: read},
		"web-ci":                          {Rules: read},
		"other.ci":                        {Rules: read},
		"WEB.ci":                          {Rules: read},
		"web.locked.ci":                   {Rules: `namespace "web/locked" { policy = "read" }`},
		"webother.ci":                     {Rules: `namespace "webother" { policy = "read" }`},
		"web.a":                           {Rules: read, Namespace: "other"},
		"web.b":                           {Rules: read, JobACL: &api.JobACL{Namespace: "web", JobID: "shop"}},
		"web.c":                           {Rules: `namespace "web*" { policy = "read" }`},
		"web.d":                           {Rules: `namespace "other" { policy = "read" }`},
		"web.e":                           {Rules: `namespace "web/*" { policy = "read" }`},
		"web.f":                           {Rules: `namespace "web" { capabilities = ["alloc-node-exec"] }`},
		"web.g":                           {Rules: write + "\noperator { policy = \"write\" }"},
		"web.h":                           {Rules: "namespace \"web\" {\n variables {\n path \"*\" { capabilities = [\"read\"] }\n}\n}"},
		"web.test.i":                      {Rules: write},
		"web..j":                          {Rules: read},
		"web.":                            {Rules: read},
		".web":                            {Rules: read},
		"web.k%2e":                        {Rules: read},
		"web.k%C3%A9":                     {Rules: read},
		"web." + strings.Repeat("l", 300): {Rules: read},
	} {
		if got := h.put(lead, "/v1/acl/policy/"+name, p); got.status != 403 && got.status != 400 {
			t.Errorf("policy %s: %d %s", name, got.status, got.body)
		}
	}
	h.wants("delete a policy of management", lead.ask(t, h.handler, "DELETE", "/v1/acl/policy/lead", ""), 403, "belong to no namespace")
	h.wants("a policy", h.put(lead, "/v1/acl/policy/web.ci", &api.ACLPolicy{Rules: write}), 200, "")
	for what, body := range map[string]string{
		"management":             `{"Type": "management"}`,
		"management in it":       `{"Type": "management", "Namespace": "web"}`,
		"a role":                 `{"Type": "client", "Policies": ["web.ci"], "Roles": [{"Name": "lead"}]}`,
		"a policy of management": `{"Type": "client", "Policies": ["web.ci", "lead"]}`,
		"only such a policy":     `{"Type": "client", "Policies": ["lead"], "Namespace": "web"}`,
		"another namespace":      `{"Type": "client", "Policies": ["web.ci"], "Namespace": "other"}`,
		"below, with one above":  `{"Type": "client", "Policies": ["web.ci"], "Namespace": "web/test"}`,
		"a prefix":               `{"Type": "client", "Policies": ["web.ci"], "Namespace": "we"}`,
		"another creator":        `{"Type": "client", "Policies": ["web.ci"], "Creator": "` + mtoken.AccessorID + `"}`,
		"a secret":               `{"Type": "client", "Policies": ["web.ci"], "SecretID": "guess"}`,
		"another id":             `{"Type": "client", "Policies": ["web.ci"], "AccessorID": "` + mtoken.AccessorID + `"}`,
		"an unknown policy":      `{"Type": "client", "Policies": ["web.unknown"]}`,
		"no policy":              `{"Type": "client", "Namespace": "web"}`,
		"many":                   `{"Type": "client", "Policies": ["web.ci"` + strings.Repeat(`, "web.ci"`, 16) + `]}`,
		"a past end":             `{"Type": "client", "Policies": ["web.ci"], "ExpirationTime": "2040-01-01T00:00:00Z"}`,
	} {
		if got := lead.ask(t, h.handler, "PUT", "/v1/acl/token", body); got.status != 403 && got.status != 400 {
			t.Errorf("a token with %s: %d %s", what, got.status, got.body)
		}
	}
	for _, accessor := range []string{token.AccessorID, mtoken.AccessorID, dangling.AccessorID, "unknown"} {
		for _, method := range []string{"GET", "DELETE", "PUT"} {
			if got := lead.ask(t, h.handler, method, "/v1/acl/token/"+accessor, `{"Policies": ["web.ci"]}`); got.status != 403 {
				t.Errorf("%s token %s: %d %s", method, accessor, got.status, got.body)
			}
		}
	}
	for what, n := range map[string]*api.Namespace{
		"itself": {Name: "web", Description: "x"}, "beside": {Name: "web2"}, "below another": {Name: "other/x"}, "prefix": {Name: "webother/x"},
		"denied": {Name: "web/locked"}, "below a denied one": {Name: "web/locked/x"}, "quota": {Name: "web/q", Quota: "big"}, "case": {Name: "WEB/x"},
		"other case": {Name: "web/TEST"}, "no parent": {Name: "web/a/b"}, "slash": {Name: "web//x"}, "empty": {},
	} {
		if got := h.put(lead, "/v1/namespaces", n); got.status < 400 {
			t.Errorf("namespace %s: %d %s", what, got.status, got.body)
		}
	}
	for _, name := range []string{"web", "other", "web/locked", "default"} {
		h.wants("delete "+name, lead.ask(t, h.handler, "DELETE", "/v1/namespace/"+name, ""), 403, "")
	}
	for what, got := range map[string]answer{
		"a token of management": h.put(manager, "/v1/acl/token", &api.ACLToken{Type: "client", Policies: []string{"web.ci"}}),
		"a token in it":         h.put(manager, "/v1/acl/token", &api.ACLToken{Type: "client", Policies: []string{"web.ci"}, Namespace: "web"}),
		"a role of management":  h.put(manager, "/v1/acl/role", &api.ACLRole{Name: "r", Policies: []*api.ACLRolePolicyLink{{Name: "web.ci"}}}),
	} {
		h.wants(what+" with a policy of the namespace", got, 400, "")
	}
	h.policy("anonymous", leadRules)
	for method, path := range map[string]string{"PUT": "/v1/acl/policy/web.z", "DELETE": "/v1/acl/policy/web.ci"} {
		h.wants("without a token", peer{}.ask(t, h.handler, method, path, `{"Rules": "namespace \"web\" { policy = \"read\" }"}`), 403, "only tokens delegate")
	}
	h.wants("a token without a token", peer{}.ask(t, h.handler, "PUT", "/v1/acl/token", `{"Type": "client", "Policies": ["web.ci"]}`), 403, "only tokens delegate")
	h.wants("a namespace without a token", h.put(peer{}, "/v1/namespaces", &api.Namespace{Name: "web/y"}), 403, "only tokens delegate")
}

// TestDelegatedTokensHaveAtMostTheRightsOfTheirCreator changes what a token depends on after its creation.
func TestDelegatedTokensHaveAtMostTheRightsOfTheirCreator(t *testing.T) {
	h, lead, token := delegating(t)
	manager, _ := h.user()
	h.wants("a policy", h.put(lead, "/v1/acl/policy/web.sub", &api.ACLPolicy{Rules: "namespace \"web\" {\n policy = \"write\"\n capabilities = [\"delegate\"]\n}"}), 200, "")
	h.wants("a policy", h.put(lead, "/v1/acl/policy/web.ci", &api.ACLPolicy{Rules: `namespace "web" { policy = "read" }`}), 200, "")
	sub, _ := h.mint(lead, "web.sub")
	ci, minted := h.mint(sub, "web.ci")
	may := func(p peer, path string) bool { return p.ask(t, h.handler, "GET", path, "").status == http.StatusOK }
	if !may(ci, "/v1/jobs?namespace=web") || !may(sub, "/v1/jobs?namespace=web") {
		t.Fatal("the tokens have no rights")
	}
	// Management may give the policy more than the lead has, which gives the tokens nothing more.
	h.wants("a wider policy", h.put(manager, "/v1/acl/policy/web.ci", &api.ACLPolicy{Rules: "namespace \"web\" {\n policy = \"write\"\n capabilities = [\"alloc-node-exec\"]\n}\nnamespace \"web/*\" { policy = \"write\" }"}), 200, "")
	explain := func(c, namespace string) answer {
		return manager.ask(t, h.handler, "GET", "/v1/acl/explain?capability="+c+"&namespace="+namespace+"&accessor="+minted.AccessorID, "")
	}
	h.wants("the right of no creator", explain("alloc-node-exec", "web"), 200, "the token that created this one may not do it")
	h.wants("the right of the first creator only", explain("submit-job", "web/test"), 200, `"Allowed":false`)
	h.wants("the right of both", explain("submit-job", "web"), 200, `"Allowed":true`)
	// The lead cannot read it any more for its own use, nor can a token without the capability.
	h.wants("a token of a token without the capability", h.put(ci, "/v1/acl/token", &api.ACLToken{Type: "client", Policies: []string{"web.ci"}}), 403, "delegate")
	h.policy("lead", `namespace "web" { capabilities = ["list-jobs", "delegate"] }`)
	h.wants("a right that the lead lost", explain("submit-job", "web"), 200, `"Allowed":false`)
	if !may(ci, "/v1/jobs?namespace=web") || may(ci, "/v1/allocations?namespace=web") {
		t.Error("the token has not the rights that remain to its creator")
	}
	// A recreated policy of the same name is bound as the first.
	if _, err := h.server.DeleteACLPolicy(t.Context(), "lead"); err != nil {
		t.Fatal(err)
	}
	if may(ci, "/v1/jobs?namespace=web") {
		t.Error("the token outlives the policy of its first creator")
	}
	h.policy("lead", leadRules)
	if !may(ci, "/v1/allocations?namespace=web") {
		t.Error("the token has no rights although its creator has them again")
	}
	if _, err := h.server.DeleteACLToken(t.Context(), token.AccessorID); err != nil {
		t.Fatal(err)
	}
	if may(ci, "/v1/jobs?namespace=web") || may(sub, "/v1/jobs?namespace=web") {
		t.Error("the tokens outlive their creator")
	}
	h.wants("a token of a deleted one", h.put(sub, "/v1/acl/token", &api.ACLToken{Type: "client", Policies: []string{"web.ci"}}), 403, "")
	wait.Until(t, "the tokens are deleted", func() bool { return h.server.Store().Snapshot().ACLToken(minted.AccessorID) == nil })
}

func TestDelegatedTokensExpireWithTheirCreator(t *testing.T) {
	h, lead, _ := delegating(t)
	h.wants("a policy", h.put(lead, "/v1/acl/policy/web.ci", &api.ACLPolicy{Rules: "namespace \"web\" {\n policy = \"read\"\n capabilities = [\"delegate\"]\n}"}), 200, "")
	created, _, err := h.server.CreateACLToken(t.Context(), &api.ACLToken{Name: "short", Type: api.ACLTokenClient, Policies: []string{"lead"}, ExpirationTTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	short := peer{header: []string{"X-Nomad-Token", created.SecretID}}
	by := short
	for generation := 1; ; generation++ {
		got := h.put(by, "/v1/acl/token", &api.ACLToken{Type: "client", Policies: []string{"web.ci"}})
		if generation == 5 {
			h.wants("a fifth generation", got, 400, "maximum is 4")
			break
		}
		token := new(api.ACLToken)
		if err := json.Unmarshal([]byte(got.body), token); err != nil || token.ExpirationTime == nil || !token.ExpirationTime.Equal(*created.ExpirationTime) {
			t.Fatalf("generation %d: %d %s, want the end %s", generation, got.status, got.body, created.ExpirationTime)
		}
		by = peer{header: []string{"X-Nomad-Token", token.SecretID}}
	}
	h.wants("a longer life", h.put(short, "/v1/acl/token", &api.ACLToken{Type: "client", Policies: []string{"web.ci"}, ExpirationTTL: 2 * time.Hour}), 400, "would outlive")
}
