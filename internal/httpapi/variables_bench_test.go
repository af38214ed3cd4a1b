// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/state"
)

// benchVariables returns a handler whose server has a user "a", who may read shop/*, and n variables.
func benchVariables(b *testing.B, n int) *Handler {
	srv := newIdleServer(b)
	srv.apply(b, &state.RaiseLevel{Level: state.Level})
	key, err := srv.NewRootKey(srv.Store().Snapshot(), api.RootKeyActive, time.Now(), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	srv.apply(b, state.PutRootKey(key, 0))
	srv.apply(b, state.PutACLPolicy(&api.ACLPolicy{Name: "readers", Rules: "namespace \"default\" {\n variables {\n path \"shop/*\" { capabilities = [\"read\"] }\n }\n}"}))
	srv.apply(b, state.PutACLToken(&state.ACLToken{Hash: []byte{1}, ACLToken: api.ACLToken{AccessorID: "a", Type: api.ACLTokenClient, Policies: []string{"readers"}}}, nil))
	for i := range n {
		v := &api.Variable{VariableMetadata: api.VariableMetadata{Namespace: "default", Path: fmt.Sprint("shop/", i)}, Items: map[string]string{"password": "correct horse"}}
		if _, _, err := srv.PutVariable(b.Context(), v, nil); err != nil {
			b.Fatal(err)
		}
	}
	h := New(Config{Server: srv.Server})
	b.Cleanup(h.Close)
	return h
}

// BenchmarkReadVariable authorizes a user, and decrypts and encodes a variable: the work of the server
// beside HTTP.
func BenchmarkReadVariable(b *testing.B) {
	h := benchVariables(b, 1)
	r := httptest.NewRequest(http.MethodGet, "/v1/var/shop/0", nil)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, door.Caller{Kind: door.User, ID: "a"}))
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		h.mux.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

// BenchmarkFilterVariables decides about each of 100,000 variables whether a user may see it.
func BenchmarkFilterVariables(b *testing.B) {
	h := benchVariables(b, 1000)
	r := httptest.NewRequest(http.MethodGet, "/v1/vars", nil)
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, door.Caller{Kind: door.User, ID: "a"}))
	c := &call{Handler: h, r: r, route: &route{}, query: url.Values{}, namespace: api.DefaultNamespace}
	v := h.Server.Store().Snapshot()
	seen := 0
	for b.Loop() {
		for range 100 {
			for range listVariables(c, v) {
				seen++
			}
		}
	}
	if seen != b.N*100_000 {
		b.Fatalf("%d of %d", seen, b.N*100_000)
	}
	b.ReportMetric(float64(seen)/b.Elapsed().Seconds(), "objects/s")
}
