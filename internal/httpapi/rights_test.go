// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// withUsers lets the door know the tokens of the server.
func withUsers(t *testing.T) func(*Config) {
	return func(c *Config) {
		c.Door = memberDoor(t)
		s := c.Server
		c.Door.UserOf = func(token string) string {
			if r := s.RightsOf(token); r != nil {
				return r.Accessor
			}
			return ""
		}
		c.Door.AnonymousMay = func() bool { return s.AnonymousRights() != nil }
	}
}

// registerWeb registers a job without a request.
func (h *harness) registerWeb() {
	h.t.Helper()
	if _, err := h.server.RegisterJob(h.t.Context(), &api.RegisterJobRequest{Job: storedJob("web")}); err != nil {
		h.t.Fatal(err)
	}
}

// policy stores a policy under a name.
func (h *harness) policy(name, rules string) {
	h.t.Helper()
	if _, err := h.server.PutACLPolicy(h.t.Context(), &api.ACLPolicy{Name: name, Rules: rules}); err != nil {
		h.t.Fatal(err)
	}
}

// user returns a peer with a token that has policies; without any, a management token.
func (h *harness) user(policies ...string) (peer, *api.ACLToken) {
	h.t.Helper()
	token := &api.ACLToken{Name: "ana", Type: api.ACLTokenClient, Policies: policies}
	if len(policies) == 0 {
		token.Type = api.ACLTokenManagement
	}
	created, _, err := h.server.CreateACLToken(h.t.Context(), token)
	if err != nil {
		h.t.Fatal(err)
	}
	return peer{header: []string{"X-Nomad-Token", created.SecretID}}, created
}

// mayUse returns whether a token with one capability in the default namespace, or in the cluster,
// may use a route.
func mayUse(r *route, c acl.Capability) bool {
	if r.Open || r.Capability == OwnToken || r.Capability == Anonymous {
		return !r.ForServers
	}
	switch {
	case r.about == ofManagement, r.about == everyNamespace: // the tokens have a capability in one namespace only
		return false
	case r.about == ofDelegation: // an id without a body is of no namespace
		return c == acl.Delegate && (r.In != nil || !strings.Contains(r.Pattern, "{id}"))
	case r.about == ofQuota:
		return c == acl.ReadQuota || !strings.Contains(r.Pattern, "{id}") // a list leaves out what it may not show
	case r.about == ofAnyNamespace:
		return c.Scope() == acl.Namespace || !strings.Contains(r.Pattern, "{id}") // a list leaves out what it may not show
	}
	return r.needs == c
}

// TestUsersMayUseOnlyWhatTheirPoliciesGrant asks for every route with tokens of one capability
// each, with one for another namespace, and with a management token.
func TestUsersMayUseOnlyWhatTheirPoliciesGrant(t *testing.T) {
	h := newHarness(t, withDialect, withUsers(t))
	h.registerWeb()
	if _, err := h.server.PutNamespace(t.Context(), &api.Namespace{Name: "dev"}, nil); err != nil {
		t.Fatal(err)
	}
	type user struct {
		peer
		may func(*route) bool
	}
	users := map[string]user{}
	table := routes()
	asked := map[acl.Capability]bool{acl.ListJobs: true, acl.PlanJob: true, acl.ReadVariables: true, acl.ReadQuota: true, acl.OperatePlan: true, acl.ReadPool: true}
	for _, r := range table {
		if c, ok := acl.Named(string(r.Capability)); ok {
			asked[c] = true
		}
	}
	for c := range asked {
		rules := grants(c, "default")
		name := strings.NewReplacer(":", "-", "_", "-").Replace(c.String())
		h.policy(name, rules)
		p, _ := h.user(name)
		users[c.String()] = user{p, func(r *route) bool {
			return mayUse(r, c) || slices.ContainsFunc(included(c), func(other acl.Capability) bool { return mayUse(r, other) })
		}}
	}
	h.policy("elsewhere", "namespace \"dev\" {\n policy = \"write\"\n capabilities = [\"alloc-node-exec\"]\n}")
	elsewhere, _ := h.user("elsewhere")
	users["every capability in another namespace"] = user{elsewhere, func(r *route) bool {
		unknown := slices.Contains([]subject{ofAllocation, ofEvaluation, ofDeployment, ofRestart, ofCallback, ofVolume, ofClaim, ofBodyJob}, r.about)
		return r.Open || r.Capability == OwnToken || r.Capability == Anonymous && !r.ForServers || unknown ||
			(r.about == ofAnyNamespace || r.about == ofQuota) && !strings.Contains(r.Pattern, "{id}")
	}}
	for what, u := range users {
		for _, r := range table {
			if r.Stream == lines {
				continue // answers without end; their rights are checked as those of the others
			}
			if r.Method == http.MethodDelete && r.Pattern == "/v1/acl/token/self" {
				continue // it ends the token of this test; see TestATokenDeletesItself
			}
			got := u.ask(t, h.handler, r.Method, pathOf(r.Pattern), "no JSON")
			if may := u.may(&r) && !r.ForServers; (got.status != http.StatusForbidden) != may && !(got.status == http.StatusForbidden && r.Capability == OwnToken) {
				t.Errorf("%s: %s %s (%s): %d, may use it: %t: %s", what, r.Method, r.Pattern, r.Capability, got.status, may, got.body)
			}
		}
		for _, path := range []string{"/service/x/v1/plans", "/v1/multi/"} {
			if got := u.ask(t, h.handler, http.MethodGet, path, ""); got.status != http.StatusForbidden {
				t.Errorf("%s in a dialect, %s: %d, want 403", what, path, got.status)
			}
		}
	}
	manager, _ := h.user()
	for _, r := range table {
		if r.Method == http.MethodDelete && r.Pattern == "/v1/acl/token/self" {
			continue
		}
		if got := manager.ask(t, h.handler, r.Method, pathOf(r.Pattern), "no JSON"); got.status == http.StatusForbidden && !r.ForServers && r.Capability != BeNode {
			t.Errorf("a management token: %s %s: %s", r.Method, r.Pattern, got.body)
		}
	}
}

// grants returns a policy with one capability.
func grants(c acl.Capability, namespace string) string {
	name := c.String()
	if i := strings.LastIndexByte(name, ':'); i >= 0 && c.Scope() != acl.Namespace {
		kind, level := name[:i], name[i+1:]
		switch c.Scope() {
		case acl.Variables:
			return "namespace \"" + namespace + "\" {\n variables {\n path \"*\" {\n capabilities = [\"" + level + "\"]\n}\n}\n}"
		case acl.NodePool:
			return "node_pool \"*\" {\n capabilities = [\"" + level + "\"]\n}"
		}
		return kind + " {\n policy = \"" + level + "\"\n}"
	}
	if c.Scope() == acl.Operator {
		return "operator {\n capabilities = [\"" + name + "\"]\n}"
	}
	return "namespace \"" + namespace + "\" {\n capabilities = [\"" + name + "\"]\n}"
}

// included returns the capabilities that a granted one includes.
func included(c acl.Capability) []acl.Capability {
	switch c {
	case acl.WriteNode:
		return []acl.Capability{acl.ReadNode}
	case acl.WriteQuota:
		return []acl.Capability{acl.ReadQuota}
	case acl.WriteOperator:
		return []acl.Capability{acl.ReadOperator, acl.SaveSnapshot, acl.ReadKeyring, acl.RotateKeyring, acl.DeleteKeyring}
	case acl.ReadVariables, acl.WriteVariables:
		return []acl.Capability{acl.ListVariables}
	case acl.ReadFS:
		return []acl.Capability{acl.ReadLogs}
	case acl.ReadJob:
		return []acl.Capability{acl.ReadJobScaling}
	case acl.SubmitJob:
		return []acl.Capability{
			acl.PlanJob, acl.RevertJob, acl.DeregisterJob, acl.EvaluateJob, acl.StableJob, acl.DispatchJob, acl.ForcePeriodicJob, acl.ScaleJob,
			acl.FailDeployment, acl.PauseDeployment, acl.PromoteDeployment, acl.UnblockDeployment, acl.SetAllocHealth,
		}
	}
	return nil
}

// TestObjectsBelongToTheirNamespace asks for objects of one namespace with the rights of another,
// under every name that a request can give to a namespace.
func TestObjectsBelongToTheirNamespace(t *testing.T) {
	srv := newIdleServer(t)
	h := &harness{t: t, server: srv.Server}
	c := Config{Server: srv.Server}
	withUsers(t)(&c)
	h.handler = New(c)
	t.Cleanup(h.handler.Close)
	srv.apply(t, &state.RaiseLevel{Level: state.Level})
	srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
	job := srv.Store().Snapshot().Job("default", "web")
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: testNode, Name: "n", Status: api.NodeStatusReady}})
	srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: []*api.Allocation{{
		ID: "a1", Namespace: "default", JobID: "web", Job: job, NodeID: testNode, Name: api.AllocName("web", "web", 0), Group: "web",
		DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
	}}}})
	srv.apply(t, &state.PutEvaluations{Evaluations: []*api.Evaluation{{ID: "e1", Namespace: "default", JobID: "web", Type: "service", Status: api.EvalStatusPending}}})
	srv.apply(t, state.PutNamespace(&api.Namespace{Name: "dev"}, nil))
	for name, rules := range map[string]string{"dev": "dev", "ours": "default"} {
		srv.apply(t, state.PutACLPolicy(&api.ACLPolicy{Name: name, Rules: "namespace \"" + rules + "\" {\n policy = \"write\"\n}"}))
	}
	stranger, _ := h.user("dev")
	owner, _ := h.user("ours")
	body := `{"Job": {"ID": "web", "Namespace": "default", "TaskGroups": []}}`
	for _, ask := range []struct{ method, path, body string }{
		{"GET", "/v1/allocation/a1", ""},
		{"GET", "/v1/allocation/a1?namespace=dev", ""},
		{"PUT", "/v1/allocation/a1/stop?namespace=dev", ""},
		{"GET", "/v1/allocation/a1/services?namespace=dev", ""},
		{"GET", "/v1/client/fs/logs/a1?namespace=dev&task=main", ""},
		{"GET", "/v1/client/allocation/a1/exec?namespace=dev", ""},
		{"GET", "/v1/client/allocation/a1/stats?namespace=dev", ""},
		{"GET", "/v1/evaluation/e1?namespace=dev", ""},
		{"GET", "/v1/evaluation/e1/allocations?namespace=dev", ""},
		{"GET", "/v1/job/web", ""},
		{"GET", "/v1/job/web?namespace=*", ""},
		{"GET", "/v1/jobs", ""},
		{"GET", "/v1/routes?namespace=*", ""},
		{"GET", "/v1/plans", ""},
		{"GET", "/v1/instances", ""},
		{"GET", "/v1/jobs/statuses", ""},
		{"PUT", "/v1/jobs?namespace=dev", body},
		{"PUT", "/v1/job/web?namespace=dev", body},
		{"PUT", "/v1/job/web/plan?namespace=dev", body},
		{"PUT", "/v1/validate/job?namespace=dev", body},
		{"PUT", "/v1/jobs/statuses?namespace=dev", `{"jobs": [{"id": "web", "namespace": "default"}]}`},
		{"PUT", "/v1/jobs/statuses?namespace=dev", `{"jobs": [{"id": "web"}]}`},
		{"PUT", "/v1/search?namespace=dev", `{"Prefix": "", "Context": "all", "Namespace": "default"}`},
		{"PUT", "/v1/search?namespace=dev", `{"Prefix": "", "Context": "all", "Namespace": "*"}`},
		{"PUT", "/v1/stacks?namespace=dev", `{"Jobs": [{"ID": "s", "Namespace": "default", "Stack": {"Version": "1.0.0"}}]}`},
		{"GET", "/v1/namespace/default", ""},
	} {
		if got := stranger.ask(t, h.handler, ask.method, ask.path, ask.body); got.status != http.StatusForbidden {
			t.Errorf("a stranger: %s %s: %d %s, want 403", ask.method, ask.path, got.status, got.body)
		}
		path, _, _ := strings.Cut(strings.ReplaceAll(ask.path, "namespace=dev", "namespace=default"), "?namespace=*")
		if strings.Contains(ask.body, `"*"`) || strings.Contains(path, "/v1/client/") {
			continue
		}
		if got := owner.ask(t, h.handler, ask.method, path, ask.body); got.status == http.StatusForbidden {
			t.Errorf("the owner: %s %s: %d %s", ask.method, path, got.status, got.body)
		}
	}
	for path, want := range map[string]string{
		"/v1/jobs?namespace=*": "web", "/v1/allocations?namespace=*": "a1", "/v1/evaluations?namespace=*": "e1", "/v1/namespaces": `"default"`,
		"/v1/plans?namespace=*": `"web"`, "/v1/instances?namespace=*": "a1", "/v1/instances?namespace=*&per_page=1": "a1", "/v1/jobs/statuses?namespace=*": "web",
	} {
		if got := stranger.ask(t, h.handler, http.MethodGet, path, ""); got.status != http.StatusOK || strings.Contains(got.body, want) {
			t.Errorf("a stranger: %s: %d %s, want a list without %s", path, got.status, got.body, want)
		}
		if got := owner.ask(t, h.handler, http.MethodGet, path, ""); got.status != http.StatusOK || !strings.Contains(got.body, want) {
			t.Errorf("the owner: %s: %d %s, want a list with %s", path, got.status, got.body, want)
		}
	}
	for id, want := range map[string]int{"unknown": http.StatusNotFound, "a2": http.StatusNotFound} {
		if got := stranger.ask(t, h.handler, http.MethodGet, "/v1/allocation/"+id, ""); got.status != want {
			t.Errorf("a stranger: allocation %s: %d %s, want %d", id, got.status, got.body, want)
		}
	}
	srv.apply(t, state.PutACLPolicy(&api.ACLPolicy{Name: "nodes", Rules: "node {\n policy = \"read\"\n}"}))
	watcher, _ := h.user("nodes", "dev")
	if got := watcher.ask(t, h.handler, http.MethodGet, "/v1/node/"+testNode+"/allocations", ""); got.status != http.StatusOK || strings.Contains(got.body, "a1") {
		t.Errorf("the allocations of a node: %d %s, want none of the other namespace", got.status, got.body)
	}
	if got := watcher.ask(t, h.handler, http.MethodGet, "/v1/node/"+testNode+"/explain?job=web", ""); got.status != http.StatusForbidden {
		t.Errorf("explain a node for another namespace's job: %d %s", got.status, got.body)
	}
	var found api.SearchResponse
	got := stranger.ask(t, h.handler, http.MethodPut, "/v1/search?namespace=dev", `{"Prefix": "", "Context": "all"}`)
	if err := json.Unmarshal([]byte(got.body), &found); err != nil || got.status != http.StatusOK {
		t.Fatalf("search: %d %s", got.status, got.body)
	}
	for context, ids := range found.Matches {
		if len(ids) > 0 && !(context == api.SearchNamespaces && slices.Equal(ids, []string{"dev"})) {
			t.Errorf("a search of a stranger finds %s %q", context, ids)
		}
	}
}

// TestVerbsCarryTheNameOfTheToken lets a user act in the name of another one.
func TestVerbsCarryTheNameOfTheToken(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.registerWeb()
	h.policy("writers", `namespace "default" { policy = "write" }`)
	ana, _ := h.user("writers")
	for _, verb := range []struct{ path, body string }{
		{"/v1/job/web/plan/deploy/interrupt", `{"By": "root"}`},
		{"/v1/job/web/plan/deploy/continue?by=root", `{"Reason": "again"}`},
	} {
		wait.Until(t, verb.path, func() bool {
			return ana.ask(t, h.handler, http.MethodPut, verb.path, verb.body).status == http.StatusOK
		})
		got := ana.ask(t, h.handler, http.MethodGet, "/v1/job/web/plan/deploy", "")
		if got.status != http.StatusOK || strings.Contains(got.body, `"root"`) {
			t.Errorf("%s: %d %s", verb.path, got.status, got.body)
		}
		if strings.Contains(verb.path, "interrupt") && !strings.Contains(got.body, `"By":"ana"`) {
			t.Errorf("the interruption does not say who decided it: %s", got.body)
		}
	}
}

func TestTokensEnd(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("readers", `namespace "default" { policy = "read" }`)
	ana, token := h.user("readers")
	if got := ana.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	through := peer{id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "user/" + token.AccessorID}}
	if got := through.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusOK {
		t.Fatalf("through a server: %d %s", got.status, got.body)
	}
	if got := through.ask(t, h.handler, http.MethodPut, "/v1/jobs", "{}"); got.status != http.StatusForbidden {
		t.Errorf("through a server: %d %s, want 403", got.status, got.body)
	}
	h.policy("readers", `namespace "other" { policy = "read" }`)
	if got := ana.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusForbidden || !strings.Contains(got.body, `no rule of policy "readers" is for namespace "default"`) {
		t.Errorf("with a changed policy: %d %s", got.status, got.body)
	}
	if _, err := h.server.DeleteACLToken(t.Context(), token.AccessorID); err != nil {
		t.Fatal(err)
	}
	for what, p := range map[string]peer{"directly": ana, "through a server": through} {
		if got := p.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusForbidden || !strings.Contains(got.body, "expired") {
			t.Errorf("with a deleted token, %s: %d %s", what, got.status, got.body)
		}
	}
}

// TestABlockingQueryEndsWithItsToken deletes the token of a query while it waits.
func TestABlockingQueryEndsWithItsToken(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("readers", `namespace "default" { policy = "read" }`)
	ana, token := h.user("readers")
	first := ana.ask(t, h.handler, http.MethodGet, "/v1/jobs", "")
	done := make(chan answer, 1)
	go func() {
		done <- ana.ask(t, h.handler, http.MethodGet, "/v1/jobs?wait=30s&index="+first.header.Get("X-Nomad-Index"), "")
	}()
	if _, err := h.server.DeleteACLToken(t.Context(), token.AccessorID); err != nil {
		t.Fatal(err)
	}
	h.registerWeb()
	select {
	case got := <-done:
		if got.status != http.StatusForbidden || strings.Contains(got.body, `"web"`) {
			t.Errorf("%d %s, want 403", got.status, got.body)
		}
	case <-wait.Limit(t, 10*time.Second):
		t.Error("the query still waits")
	}
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	h := newHarness(t, withUsers(t))
	manager, token := h.user()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.http.URL+"/v1/event/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(manager.header[0], manager.header[1])
	resp, err := h.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, resp.Body)
		ended <- err
	}()
	h.policy("readers", `node { policy = "read" }`) // of other tokens
	select {
	case err := <-ended:
		t.Fatalf("the stream ends before its token: %v", err)
	default:
	}
	if _, err := h.server.DeleteACLToken(t.Context(), token.AccessorID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-wait.Limit(t, 10*time.Second):
		t.Error("the stream outlives its token")
	}
}

func TestCallersWithoutATokenHaveTheAnonymousPolicy(t *testing.T) {
	h := newHarness(t, withUsers(t))
	nameless := peer{}
	if got := nameless.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusForbidden {
		t.Errorf("without a policy: %d %s", got.status, got.body)
	}
	h.policy(api.ACLAnonymous, `namespace "default" { policy = "read" }`)
	if got := nameless.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusOK {
		t.Errorf("with a policy: %d %s", got.status, got.body)
	}
	if got := nameless.ask(t, h.handler, http.MethodPut, "/v1/jobs", "{}"); got.status != http.StatusForbidden || !strings.Contains(got.body, "submit-job") {
		t.Errorf("a write: %d %s", got.status, got.body)
	}
	wrong := peer{header: []string{"X-Nomad-Token", "guess"}}
	if got := wrong.ask(t, h.handler, http.MethodGet, "/v1/jobs", ""); got.status != http.StatusForbidden {
		t.Errorf("a wrong token: %d %s", got.status, got.body)
	}
}

// BenchmarkAuthorize checks a request of a user for a namespace.
func BenchmarkAuthorize(b *testing.B) {
	srv := newIdleServer(b)
	for _, cmd := range []state.Command{
		&state.RaiseLevel{Level: state.Level},
		state.PutACLPolicy(&api.ACLPolicy{Name: "readers", Rules: `namespace "*" { policy = "read" }`}),
		state.PutACLToken(&state.ACLToken{Hash: []byte{1}, ACLToken: api.ACLToken{AccessorID: "a", Type: api.ACLTokenClient, Policies: []string{"readers"}}}, nil),
	} {
		srv.apply(b, cmd)
	}
	h := New(Config{Server: srv.Server})
	defer h.Close()
	table := routes()
	r := httptest.NewRequest(http.MethodGet, "/v1/jobs", nil)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, door.Caller{Kind: door.User, ID: "a"}))
	c := &call{Handler: h, r: r, route: &table[0]}
	b.ReportAllocs()
	for b.Loop() {
		c.query = noQuery
		if err := c.authorize(); err != nil {
			b.Fatal(err)
		}
	}
}

// noQuery is the parsed query of a request without one: parsing it is a part of every request.
var noQuery = url.Values{}

// TestATokenDeletesItself lets a token without other rights end itself, and nothing else.
func TestATokenDeletesItself(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("reader", `namespace "default" { policy = "read" }`)
	ana, own := h.user("reader")
	bob, other := h.user("reader")
	const path = "/v1/acl/token/"
	if got := ana.ask(t, h.handler, http.MethodDelete, path+other.AccessorID, ""); got.status != http.StatusForbidden {
		t.Errorf("another token: %d %s", got.status, got.body)
	}
	if got := ana.ask(t, h.handler, http.MethodDelete, path+"self", ""); got.status != http.StatusOK || got.header.Get("X-Reeve-Object") == "" {
		t.Errorf("its own token: %d %s", got.status, got.body)
	}
	v := h.server.Store().Snapshot()
	if v.ACLToken(own.AccessorID) != nil || v.ACLToken(other.AccessorID) == nil {
		t.Error("the wrong token was deleted")
	}
	for what, p := range map[string]peer{"the deleted token": ana, "nobody": {}, "a node": {id: testNode, role: pki.RoleNode}} {
		if got := p.ask(t, h.handler, http.MethodDelete, path+"self", ""); got.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	h.policy("anonymous", `namespace "default" { policy = "read" }`)
	if got := (peer{}).ask(t, h.handler, http.MethodDelete, path+"self", ""); got.status != http.StatusNotFound {
		t.Errorf("an anonymous caller: %d %s", got.status, got.body)
	}
	if got := bob.ask(t, h.handler, http.MethodGet, path+"self", ""); got.status != http.StatusOK {
		t.Errorf("the other token: %d %s", got.status, got.body)
	}
}
