// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/server"
)

// founder is the member of a server that founds a cluster.
func founder(t *testing.T) *server.Member {
	t.Helper()
	id := api.NewID()
	ca, err := pki.NewAuthority(id, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	private, _, err := pki.NewSealKey()
	if err != nil {
		t.Fatal(err)
	}
	return &server.Member{
		ID: api.NewID(), Name: "test", ClusterID: id, Address: "127.0.0.1:4646", Region: "global", SealKey: private,
		Founding: &server.Founding{Authority: ca, ClusterKey: pki.NewClusterKey(), Expires: time.Now().Add(pki.DefaultLifetime), Done: func() {}},
	}
}

// TestServersAreShownWithoutKeys lists servers, tokens and roots.
func TestServersAreShownWithoutKeys(t *testing.T) {
	h := newHarness(t)
	list := h.do(http.MethodGet, "/v1/servers", "")
	if list.status != http.StatusOK || !strings.Contains(list.body, `"Address":"127.0.0.1:4646"`) || strings.Contains(list.body, "Seal") {
		t.Errorf("servers: %d %s", list.status, list.body)
	}
	ca := h.do(http.MethodGet, "/v1/cluster/ca", "")
	if ca.status != http.StatusOK || !strings.Contains(ca.body, "BEGIN CERTIFICATE") || strings.Contains(ca.body, "PRIVATE") {
		t.Errorf("authority: %d %s", ca.status, ca.body)
	}
	before := h.do(http.MethodGet, "/v1/cluster/tokens", "").body
	rotated := h.do(http.MethodPut, "/v1/cluster/token/node/rotate", "")
	after := h.do(http.MethodGet, "/v1/cluster/tokens", "").body
	if rotated.status != http.StatusOK || before == after || !strings.Contains(before, "reeve-node-1-") || !strings.Contains(after, "reeve-node-1-") {
		t.Errorf("%d: tokens %s, then %s", rotated.status, before, after)
	}
	if got := h.do(http.MethodPut, "/v1/cluster/token/operator/rotate", ""); got.status != http.StatusBadRequest {
		t.Errorf("an unknown kind of join token: %d %s", got.status, got.body)
	}
}
