// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestServersOfANodeAreSetByItsAgent sends Nomad's request to agents of nodes, in and outside of
// a cluster.
func TestServersOfANodeAreSetByItsAgent(t *testing.T) {
	var got []string
	set := func(_ context.Context, addresses []string) error {
		if slices.Contains(addresses, "bad") {
			return api.Errorf(api.CodeInvalid, "no address was changed: bad")
		}
		got = addresses
		return nil
	}
	for _, test := range []struct {
		set    func(context.Context, []string) error
		query  string
		status int
		says   string
	}{
		{set, "?address=10.0.0.1&address=10.0.0.2:4646", http.StatusOK, ""},
		{set, "?address=bad", http.StatusBadRequest, "no address was changed"},
		{set, "", http.StatusBadRequest, "parameter address is missing"},
		{nil, "?address=10.0.0.1", http.StatusBadRequest, "-servers"},
	} {
		h := New(Config{Servers: func() []string { return nil }, SetServers: test.set})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "http://127.0.0.1/v1/agent/servers"+test.query, nil))
		h.Close()
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.says) {
			t.Errorf("%q: %d %s", test.query, w.Code, w.Body)
		}
	}
	if want := []string{"10.0.0.1", "10.0.0.2:4646"}; !slices.Equal(got, want) {
		t.Errorf("set %q, want %q", got, want)
	}
}
