// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"crypto/rand"
	"strings"
	"testing"
)

// TestRedactRemovesTheTokensOfASingleMachine: they prove no cluster, and so have another form.
func TestRedactRemovesTheTokensOfASingleMachine(t *testing.T) {
	secret := rand.Text()
	if got := string(redact([]byte("/v1/acl/token/reeve-user-" + secret))); got != "/v1/acl/token/[user token]" {
		t.Errorf("got %s", got)
	}
}

func TestRedactRemovesTokensAndKeys(t *testing.T) {
	const canary = "c4n4ry"
	for _, text := range []string{
		"joined with reeve-node-1-" + canary + "-" + canary + " at",
		"REEVE_TOKEN=" + canary, `token="` + canary + ` with spaces"`, "X-Nomad-Token: " + canary, `{"SecretID":"x","secret": "` + canary + `"}`,
		"-----BEGIN EC PRIVATE KEY-----\n" + canary + "\n-----END EC PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n" + canary,
		"password=" + canary,
	} {
		if got := string(redact([]byte("before " + text))); strings.Contains(got, canary) || !strings.HasPrefix(got, "before ") {
			t.Errorf("%q became %q", text, got)
		}
	}
	const harmless = `time=2026 level=INFO msg="a member joined" role=node id=5f3e address=10.0.0.1:4646`
	if got := string(redact([]byte(harmless))); got != harmless {
		t.Errorf("a harmless line became %q", got)
	}
}
