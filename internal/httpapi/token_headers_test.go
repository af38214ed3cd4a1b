// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// TestACallerCannotRemoveItsTokenOnTheWay sends requests to a node's agent, whose certificate the server trusts:
// without the token of the caller, the request would be the node's own.
func TestACallerCannotRemoveItsTokenOnTheWay(t *testing.T) {
	var received http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received = r.Header }))
	defer server.Close()
	nodeDoor := memberDoor(t)
	nodeDoor.IsOperator, nodeDoor.UserOf = nil, nil // only servers check tokens
	agent := New(Config{Door: nodeDoor, Servers: func() []string { return []string{server.Listener.Addr().String()} }})
	defer agent.Close()
	for name, headers := range map[string][]string{
		"plain":             {"X-Nomad-Token", "guess"},
		"a bearer's":        {"Authorization", "Bearer guess"},
		"hop by hop":        {"X-Nomad-Token", "guess", "Connection", "X-Nomad-Token"},
		"in a list":         {"X-Nomad-Token", "guess", "Connection", "keep-alive, x-nomad-token ,close"},
		"a bearer's, too":   {"Authorization", "Bearer guess", "Connection", "Authorization"},
		"twice":             {"X-Nomad-Token", "guess", "Connection", "close", "Connection", "X-Nomad-Token"},
		"both":              {"X-Nomad-Token", "guess", "Authorization", "Bearer guess", "Connection", "authorization,X-Nomad-Token"},
		"of a proxy":        {"X-Nomad-Token", "guess", "Proxy-Connection", "X-Nomad-Token"},
		"with an upgrade":   {"X-Nomad-Token", "guess", "Connection", "Upgrade, X-Nomad-Token", "Upgrade", "websocket"},
		"a blank":           {"X-Nomad-Token", " "},
		"blank and bearer":  {"X-Nomad-Token", " ", "Authorization", "Bearer \t"},
		"the agent's twice": {"X-Nomad-Token", doorToken, "X-Nomad-Token", "guess"},
	} {
		for _, onSocket := range []bool{false, true} {
			received = nil
			r := httptest.NewRequest(http.MethodPut, "http://localhost/v1/cluster/renew", strings.NewReader("{}"))
			for i := 0; i+1 < len(headers); i += 2 {
				r.Header.Add(headers[i], headers[i+1])
			}
			if onSocket {
				r = r.WithContext(nodeDoor.Mark(r.Context(), namedTask{name: "task 5f3e/web"}))
			}
			w := httptest.NewRecorder()
			agent.ServeHTTP(w, r)
			switch blank := strings.Contains(name, "blank"); {
			case blank && (received != nil || w.Code != http.StatusForbidden):
				t.Errorf("%s (task %v): %d %s, want a refusal by the agent", name, onSocket, w.Code, w.Body)
			case blank, r.Header.Get("X-Nomad-Token") == doorToken:
			case received == nil:
				t.Errorf("%s (task %v): %d %s, and nothing was forwarded", name, onSocket, w.Code, w.Body)
			case !door.HasToken(&http.Request{Header: received}):
				t.Errorf("%s (task %v): the server receives no token: %v", name, onSocket, received)
			}
		}
	}
}

// TestANodeLearnsNoTokenOfAUser asks for what the agent of a node answers.
func TestANodeLearnsNoTokenOfAUser(t *testing.T) {
	f := newFleet(t)
	srv := newIdleServer(t)
	server := f.join("s1", pki.RoleServer, nil, func(c *Config) { c.Server = srv.Server })
	received := make(chan http.Header, 1)
	node := f.join("n1", pki.RoleNode, nil, func(c *Config) {
		c.Node = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { received <- r.Header })
		c.NodeID = func() string { return "n1" }
	})
	srv.apply(t, &state.RegisterNode{Node: &api.Node{ID: "n1", Name: "n1", HTTPAddr: node.addr, Status: api.NodeStatusReady}})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+server.addr+"/v1/client/stats?node_id=n1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Nomad-Token", operatorToken)
	r.Header.Set("Authorization", "Bearer "+operatorToken)
	r.Header.Set("Cookie", "token="+operatorToken)
	resp, err := f.user.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	if headers := fmt.Sprint(<-received); strings.Contains(headers, operatorToken) {
		t.Errorf("the node receives %s", headers)
	}
}
