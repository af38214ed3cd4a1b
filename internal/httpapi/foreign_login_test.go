// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strings"
	"testing"

	nomad "github.com/hashicorp/nomad/api"
)

// connectNomad returns Nomad's client with a token; "": without one.
func connectNomad(t *testing.T, h *harness, secret string) *nomad.Client {
	t.Helper()
	c, err := nomad.NewClient(&nomad.Config{Address: h.http.URL, SecretID: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestNomadsClientExchangesOneTimeTokens passes a token on, as Nomad's command line does to a browser.
func TestNomadsClientExchangesOneTimeTokens(t *testing.T) {
	h := newHarness(t, withUsers(t))
	h.policy("readers", `namespace "default" { policy = "read" }`)
	_, token := h.user("readers")
	once, _, err := connectNomad(t, h, token.SecretID).ACLTokens().UpsertOneTimeToken(nil)
	if err != nil || once.OneTimeSecretID == "" || once.AccessorID != token.AccessorID || once.ExpiresAt.IsZero() {
		t.Fatal(once, err)
	}
	stranger := connectNomad(t, h, "")
	got, _, err := stranger.ACLTokens().ExchangeOneTimeToken(once.OneTimeSecretID, nil)
	if err != nil || got.AccessorID != token.AccessorID {
		t.Fatal(got, err)
	}
	if _, _, err := connectNomad(t, h, got.SecretID).Jobs().List(nil); err != nil {
		t.Errorf("with the new secret: %v", err)
	}
	if _, _, err := stranger.ACLTokens().ExchangeOneTimeToken(once.OneTimeSecretID, nil); err == nil || !strings.Contains(err.Error(), "it was used") {
		t.Errorf("a second exchange: %v", err)
	}
	if _, _, err := connectNomad(t, h, operatorToken).ACLTokens().UpsertOneTimeToken(nil); err == nil || !strings.Contains(err.Error(), "an operator has no token for which") {
		t.Errorf("for the operator's token: %v", err)
	}
	if _, _, err := stranger.ACLTokens().UpsertOneTimeToken(nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("without a token: %v", err)
	}
}

func TestNomadsClientBootstraps(t *testing.T) {
	h := newHarness(t, withUsers(t))
	_, _, err := connectNomad(t, h, "").ACLTokens().Bootstrap(nil)
	if err == nil || !strings.Contains(err.Error(), "400") || !strings.Contains(err.Error(), "ACL bootstrap already done (reset index: ") {
		t.Errorf("a stranger: %v", err)
	}
	if _, _, err := connectNomad(t, h, operatorToken).ACLTokens().BootstrapOpts("guess", nil); err == nil || !strings.Contains(err.Error(), "not a UUID") {
		t.Errorf("with a secret that can be guessed: %v", err)
	}
}
