// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

const operatorToken = "reeve-operator-1-digest-secret"

// memberDoor is the door of a server in a cluster. Its tests name a peer by the certificate's
// subject: the id, the role, and whether it has expired.
func memberDoor(t *testing.T) *door.Door {
	t.Helper()
	d, err := door.New(door.Config{
		Token: doorToken, TokenFile: "agent.token",
		Identify: func(_, _ netip.AddrPort) (door.Process, error) { return door.Process{UID: 65534}, nil },
		Peer: func(s tls.ConnectionState) (pki.Identity, bool) {
			name := s.PeerCertificates[0].Subject
			return pki.Identity{ID: name.CommonName, Role: pki.Role(name.OrganizationalUnit[0]), Expired: len(name.Locality) > 0}, true
		},
		IsOperator: func(token string) bool { return token == operatorToken },
		Removed:    func(id string) bool { return id == "removed" },
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func inCluster(t *testing.T) func(*Config) {
	return func(c *Config) { c.Door = memberDoor(t) }
}

// A peer is the other end of a TLS connection.
type peer struct {
	id      string // "": without a certificate
	role    pki.Role
	expired bool
	header  []string
}

// ask sends a request of a peer to the handler, without a network. A stream ends once it began.
func (p peer) ask(t *testing.T, h http.Handler, method, path, body string) answer {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := httptest.NewRequest(method, "https://s1:4646"+path, strings.NewReader(body)).WithContext(ctx)
	r.Header.Set("Accept", "*/*")
	if p.id != "" {
		name := pkix.Name{CommonName: p.id, OrganizationalUnit: []string{string(p.role)}}
		if p.expired {
			name.Locality = []string{"expired"}
		}
		r.TLS.PeerCertificates = []*x509.Certificate{{Subject: name}}
	}
	for i := 0; i+1 < len(p.header); i += 2 {
		r.Header.Add(p.header[i], p.header[i+1])
	}
	w := &briefRecorder{ResponseRecorder: httptest.NewRecorder(), began: cancel}
	h.ServeHTTP(w, r)
	return answer{w.Code, w.Result().Header, w.Body.String()}
}

// A briefRecorder ends a stream once its header is there.
type briefRecorder struct {
	*httptest.ResponseRecorder
	began func()
}

func (w *briefRecorder) Flush() {
	w.ResponseRecorder.Flush()
	w.began()
}

// nodeRoutes are all routes that a node may use.
var nodeRoutes = map[string]nodeAccess{
	"PUT /v1/node/{id}/register":                 ownNode,
	"PUT /v1/node/{id}/orphans":                  ownNode,
	"PUT /v1/node/{id}/heartbeat":                ownNode,
	"GET /v1/node/{id}/allocations/stream":       ownNode,
	"PUT /v1/node/{id}/allocations":              ownNode,
	"PUT /v1/node/{id}/volumes":                  ownNode,
	"PUT /v1/node/{id}/image-pin":                ownNode,
	"PUT /v1/node/{id}/image-uses":               ownNode,
	"PUT /v1/traffic":                            ownNode,
	"PUT /v1/node/{id}/template-values":          ownNode,
	"PUT /v1/node/{id}/identities":               ownNode,
	"GET /v1/catalog/stream":                     anyNode,
	"GET /v1/status/peers":                       anyNode,
	"PUT /v1/cluster/renew":                      anyNode,
	"GET /v1/allocation/{id}":                    successorOf,
	"GET /v1/client/allocation/{alloc}/snapshot": successorOf,
}

func TestNodesMayUseOnlyWhatTheyNeed(t *testing.T) {
	h := newHarness(t, withDialect, inCluster(t), unlimited)
	own := peer{id: testNode, role: pki.RoleNode}
	if got := own.ask(t, h.handler, http.MethodPut, "/v1/node/"+testNode+"/register", samples["PUT /v1/node/{id}/register"]); got.status != http.StatusOK {
		t.Fatalf("register: %d %s", got.status, got.body)
	}
	h.settle()
	other := peer{id: unknownID, role: pki.RoleNode}
	for _, r := range routes() {
		access := nodeRoutes[r.Method+" "+r.Pattern]
		if r.Nodes != access {
			t.Errorf("%s %s: its access of nodes is %d, this test expects %d", r.Method, r.Pattern, r.Nodes, access)
		}
		for _, method := range r.methods() {
			before := h.server.Store().Index()
			body := samples[r.Method+" "+r.Pattern]
			for what, c := range map[string]struct {
				peer
				may bool
			}{
				"the node":                     {own, r.Open || access == ownNode || access == anyNode},
				"another node":                 {other, r.Open || access == anyNode || access == ownNode && !strings.Contains(r.Pattern, "{id}")},
				"a node that has expired":      {peer{id: testNode, role: pki.RoleNode, expired: true}, r.Open || r.Renews},
				"a removed node":               {peer{id: "removed", role: pki.RoleNode}, r.Open},
				"a removed server":             {peer{id: "removed", role: pki.RoleServer}, r.Open},
				"nobody":                       {peer{}, r.Open},
				"nobody with a wrong token":    {peer{header: []string{"X-Nomad-Token", "guess"}}, r.Open},
				"a node with a wrong token":    {peer{id: testNode, role: pki.RoleNode, header: []string{"X-Nomad-Token", "guess"}}, r.Open},
				"nobody as a forged operator":  {peer{header: []string{door.CallerHeader, "operator"}}, r.Open},
				"a node as a forged operator":  {peer{id: unknownID, role: pki.RoleNode, header: []string{door.CallerHeader, "operator"}}, r.Open},
				"a node as another node":       {peer{id: unknownID, role: pki.RoleNode, header: []string{door.CallerHeader, "node/" + testNode}}, r.Open},
				"a node for a lost token":      {peer{id: testNode, role: pki.RoleNode, header: []string{door.CallerHeader, "bearer"}}, r.Open},
				"a server for an expired node": {peer{id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "node/" + testNode + "; expired"}}, r.Open || r.Renews},
				"a server for another node":    {peer{id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "node/" + unknownID}}, r.Open || access == anyNode || access == ownNode && !strings.Contains(r.Pattern, "{id}")},
			} {
				if got := c.ask(t, h.handler, method, pathOf(r.Pattern), body); (got.status != http.StatusForbidden) != c.may {
					t.Errorf("%s: %s %s: %d, may use it: %v: %s", what, method, r.Pattern, got.status, c.may, got.body)
				}
			}
			if after := h.server.Store().Index(); after != before && access == noNodes {
				t.Errorf("%s %s: the refused requests moved the state from index %d to %d", method, r.Pattern, before, after)
			}
		}
	}
	for _, path := range []string{"/service/x/v1/plans", "/v1/multi/"} {
		if got := own.ask(t, h.handler, http.MethodGet, path, ""); got.status != http.StatusForbidden {
			t.Errorf("a node in a dialect, %s: %d, want 403", path, got.status)
		}
	}
}

func TestOperatorsAndServersMayUseEveryRoute(t *testing.T) {
	h := newHarness(t, inCluster(t))
	h.server.Store() // the routes below read it
	for what, p := range map[string]peer{
		"an operator":                     {header: []string{"X-Nomad-Token", operatorToken}},
		"an operator through a node":      {id: testNode, role: pki.RoleNode, header: []string{"X-Nomad-Token", operatorToken}},
		"an operator through a server":    {id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "operator"}},
		"a server":                        {id: "s2", role: pki.RoleServer},
		"a server that has expired":       {id: "s2", role: pki.RoleServer, expired: true},
		"a local user through a server":   {id: "s2", role: pki.RoleServer, header: []string{door.CallerHeader, "local"}},
		"the holder of the agent's token": {header: []string{"Authorization", "Bearer " + doorToken}},
	} {
		for _, r := range routes() {
			if r.Method != http.MethodGet && r.In == nil {
				continue // it would change what the others see
			}
			isServer := p.role == pki.RoleServer && p.header == nil
			got := p.ask(t, h.handler, r.Method, pathOf(r.Pattern), "no JSON")
			if may := !r.ForServers || isServer; (got.status != http.StatusForbidden) != may {
				t.Errorf("%s: %s %s: %d, may use it: %v: %s", what, r.Method, r.Pattern, got.status, may, got.body)
			}
		}
	}
}

func TestARefusalSaysWhoAskedForWhatAndWhatToDo(t *testing.T) {
	h := newHarness(t, inCluster(t))
	node := peer{id: testNode, role: pki.RoleNode}
	for _, c := range []struct {
		peer
		method, path string
		words        []string
	}{
		{node, http.MethodPut, "/v1/jobs", []string{"node " + testNode, "PUT /v1/jobs", "submit-job", "`reeve login`", "REEVE_TOKEN"}},
		{node, http.MethodPut, "/v1/node/" + unknownID + "/heartbeat", []string{"node " + testNode, "node:self", "not for node", unknownID}},
		{node, http.MethodGet, "/v1/allocation/" + unknownID, []string{"node " + testNode, "read-job", "predecessors", unknownID}},
		{peer{id: testNode, role: pki.RoleNode, expired: true}, http.MethodPut, "/v1/node/" + testNode + "/heartbeat", []string{"certificate has expired", "renew", "log"}},
		{peer{id: "removed", role: pki.RoleNode}, http.MethodPut, "/v1/node/removed/heartbeat", []string{"node removed was removed", "join again"}},
		{peer{}, http.MethodGet, "/v1/jobs", []string{"no token", "`reeve login`", "REEVE_TOKEN"}},
	} {
		got := c.ask(t, h.handler, c.method, c.path, "{}")
		if got.status != http.StatusForbidden {
			t.Errorf("%s %s: %d, want 403", c.method, c.path, got.status)
		}
		for _, word := range c.words {
			if !strings.Contains(got.body, word) {
				t.Errorf("%s %s: the refusal does not say %q: %s", c.method, c.path, word, got.body)
			}
		}
	}
}

// TestNodesReadOnlyWhatTheySucceed checks that a node cannot read the jobs of other nodes, nor
// fetch the data of their allocations.
func TestNodesReadOnlyWhatTheySucceed(t *testing.T) {
	srv := newIdleServer(t)
	h := New(Config{Server: srv.Server, Door: memberDoor(t)})
	srv.apply(t, &state.RegisterJob{Job: storedJob("web")})
	job := srv.Store().Snapshot().Job("default", "web")
	const elsewhere = "22222222-2222-3333-4444-555555555555"
	var place []*api.Allocation
	for i, c := range []struct{ id, node, previous string }{
		{"own", testNode, "before"}, {"before", elsewhere, ""}, {"stranger", elsewhere, ""}, {"heir", testNode, "collected"},
	} {
		place = append(place, &api.Allocation{
			ID: c.id, Namespace: "default", JobID: "web", Job: job, NodeID: c.node, Name: api.AllocName("web", "web", i), Group: "web",
			DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning, PreviousAllocation: c.previous,
		})
	}
	for _, id := range []string{testNode, elsewhere} {
		srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: id, Name: "n", Status: api.NodeStatusReady}})
	}
	srv.apply(t, &state.CommitPlacement{Placement: &state.Placement{Job: job, Time: 1, Place: place}})
	node := peer{id: testNode, role: pki.RoleNode}
	for id, want := range map[string]int{
		"own": http.StatusOK, "before": http.StatusOK, "collected": http.StatusNotFound,
		"stranger": http.StatusForbidden, "strange": http.StatusForbidden, "unknown": http.StatusForbidden, "bef": http.StatusForbidden,
	} {
		if got := node.ask(t, h, http.MethodGet, "/v1/allocation/"+id, ""); got.status != want {
			t.Errorf("allocation %s: %d, want %d: %s", id, got.status, want, got.body)
		}
		got := node.ask(t, h, http.MethodGet, "/v1/client/allocation/"+id+"/snapshot", "")
		if (got.status == http.StatusForbidden) != (want == http.StatusForbidden) {
			t.Errorf("data of %s: %d %s, want forbidden: %v", id, got.status, got.body, want == http.StatusForbidden)
		}
	}
}
