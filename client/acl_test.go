// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// TestACLCallsGoToTheirRoutes looks at what the calls of access control send.
func TestACLCallsGoToTheirRoutes(t *testing.T) {
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = r.Method + " " + r.URL.RequestURI() + " " + string(body)
		io.WriteString(w, "null")
	}))
	t.Cleanup(s.Close)
	c := newClient(t, client.Config{Address: s.URL, Namespace: "web"})
	a := c.ACL()
	for want, call := range map[string]func(context.Context) error{
		"GET /v1/acl/policies?prefix=w ": func(ctx context.Context) error {
			_, _, err := a.Policies(ctx, &client.QueryOptions{Prefix: "w"})
			return err
		},
		"GET /v1/acl/policy/a%2Fb ":  func(ctx context.Context) error { _, _, err := a.Policy(ctx, "a/b", nil); return err },
		"GET /v1/acl/policy/self ":   func(ctx context.Context) error { _, _, err := a.OwnPolicies(ctx, nil); return err },
		"DELETE /v1/acl/policy/web ": func(ctx context.Context) error { _, err := a.DeletePolicy(ctx, "web"); return err },
		`PUT /v1/acl/policy/web {"Name":"web","Description":"d","Rules":"r","JobACL":null,"CreateIndex":0,"ModifyIndex":0}`: func(ctx context.Context) error {
			_, err := a.PutPolicy(ctx, &api.ACLPolicy{Name: "web", Description: "d", Rules: "r"})
			return err
		},
		`PUT /v1/acl/bootstrap {"BootstrapSecret":"s"}`: func(ctx context.Context) error { _, err := a.Bootstrap(ctx, "s"); return err },
		"GET /v1/acl/auth-methods ":                     func(ctx context.Context) error { _, _, err := a.AuthMethods(ctx, nil); return err },
		"GET /v1/acl/auth-method/s ":                    func(ctx context.Context) error { _, _, err := a.AuthMethod(ctx, "s", nil); return err },
		"DELETE /v1/acl/auth-method/s ":                 func(ctx context.Context) error { _, err := a.DeleteAuthMethod(ctx, "s"); return err },
		"GET /v1/acl/binding-rules ":                    func(ctx context.Context) error { _, _, err := a.BindingRules(ctx, nil); return err },
		"GET /v1/acl/binding-rule/r ":                   func(ctx context.Context) error { _, _, err := a.BindingRule(ctx, "r", nil); return err },
		"DELETE /v1/acl/binding-rule/r ":                func(ctx context.Context) error { _, err := a.DeleteBindingRule(ctx, "r"); return err },
		`PUT /v1/acl/login {"AuthMethodName":"ci","LoginToken":"t"}`: func(ctx context.Context) error {
			_, err := a.Login(ctx, &api.ACLLoginRequest{AuthMethodName: "ci", LoginToken: "t"})
			return err
		},
		"GET /v1/acl/roles ":         func(ctx context.Context) error { _, _, err := a.Roles(ctx, nil); return err },
		"GET /v1/acl/role/ab ":       func(ctx context.Context) error { _, _, err := a.Role(ctx, "ab", nil); return err },
		"GET /v1/acl/role/name/web ": func(ctx context.Context) error { _, _, err := a.RoleNamed(ctx, "web", nil); return err },
		"DELETE /v1/acl/role/ab ":    func(ctx context.Context) error { _, err := a.DeleteRole(ctx, "ab"); return err },
		`PUT /v1/acl/role {"ID":"","Name":"web","Description":"","Policies":[{"Name":"p"}],"CreateIndex":0,"ModifyIndex":0}`: func(ctx context.Context) error {
			_, err := a.CreateRole(ctx, &api.ACLRole{Name: "web", Policies: []*api.ACLRolePolicyLink{{Name: "p"}}})
			return err
		},
		`PUT /v1/acl/role/ab {"ID":"ab","Name":"web","Description":"","Policies":null,"CreateIndex":0,"ModifyIndex":0}`: func(ctx context.Context) error {
			_, err := a.UpdateRole(ctx, &api.ACLRole{ID: "ab", Name: "web"})
			return err
		},
		"GET /v1/acl/tokens ":      func(ctx context.Context) error { _, _, err := a.Tokens(ctx, nil); return err },
		"GET /v1/acl/token/ab ":    func(ctx context.Context) error { _, _, err := a.Token(ctx, "ab", nil); return err },
		"GET /v1/acl/token/self ":  func(ctx context.Context) error { _, _, err := a.OwnToken(ctx, nil); return err },
		"DELETE /v1/acl/token/ab ": func(ctx context.Context) error { _, err := a.DeleteToken(ctx, "ab"); return err },
		`PUT /v1/acl/token {"AccessorID":"","SecretID":"","Name":"ann","Type":"management","Policies":null,"Roles":null,"Global":false,"CreateTime":"0001-01-01T00:00:00Z","CreateIndex":0,"ModifyIndex":0}`: func(ctx context.Context) error {
			_, err := a.CreateToken(ctx, &api.ACLToken{Name: "ann", Type: api.ACLTokenManagement})
			return err
		},
		`PUT /v1/acl/token/ab {"AccessorID":"ab","SecretID":"","Name":"ann","Type":"","Policies":["p"],"Roles":null,"Global":false,"CreateTime":"0001-01-01T00:00:00Z","CreateIndex":0,"ModifyIndex":0}`: func(ctx context.Context) error {
			_, err := a.UpdateToken(ctx, &api.ACLToken{AccessorID: "ab", Name: "ann", Policies: []string{"p"}})
			return err
		},
		"GET /v1/acl/explain?capability=read-job&namespace=web ": func(ctx context.Context) error {
			_, _, err := a.Explain(ctx, client.ACLQuestion{Capability: "read-job"}, nil)
			return err
		},
		"GET /v1/acl/explain?accessor=ab&capability=variables%3Aread&namespace=shop&path=a%2Fb ": func(ctx context.Context) error {
			_, _, err := a.Explain(ctx, client.ACLQuestion{Capability: "variables:read", Accessor: "ab", Path: "a/b"}, &client.QueryOptions{Namespace: "shop"})
			return err
		},
		"GET /v1/acl/explain?capability=node_pool%3Aread&name=gpu&namespace=web ": func(ctx context.Context) error {
			_, _, err := a.Explain(ctx, client.ACLQuestion{Capability: "node_pool:read", Name: "gpu"}, nil)
			return err
		},
	} {
		if err := call(t.Context()); err != nil || asked != want {
			t.Errorf("asked %s, %v, want %s", asked, err, want)
		}
	}
}
