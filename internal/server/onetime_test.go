// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// managementToken creates a management token.
func managementToken(t *testing.T, s *Server, ttl time.Duration) *api.ACLToken {
	t.Helper()
	token, _, err := s.CreateACLToken(t.Context(), &api.ACLToken{Name: "ana", Type: api.ACLTokenManagement, ExpirationTTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestAOneTimeTokenIsExchangedOnce(t *testing.T) {
	f := found(t)
	token := managementToken(t, f.Server, 0)
	earlier, _, err := f.CreateOneTimeToken(t.Context(), token.AccessorID)
	if err != nil {
		t.Fatal(err)
	}
	once, _, err := f.CreateOneTimeToken(t.Context(), token.AccessorID)
	if err != nil {
		t.Fatal(err)
	}
	for what, secret := range map[string]string{"a replaced one": earlier.OneTimeSecretID, "a guess": "guess", "a long text": string(make([]byte, 1<<20)), "the token itself": token.SecretID} {
		if _, _, err := f.ExchangeOneTimeToken(t.Context(), secret); api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	if f.RightsOf(once.OneTimeSecretID) != nil {
		t.Error("a one-time token has rights itself")
	}
	// Both exchanges found the one-time token before either used it up.
	found := f.Store().Snapshot().OneTimeToken(token.AccessorID)
	won, _, err := f.redeem(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := f.redeem(t.Context(), found); !errors.Is(err, errOneTimeToken) {
		t.Errorf("an exchange that lost: %+v, %v", again, err)
	}
	newer, _, err := f.CreateOneTimeToken(t.Context(), token.AccessorID)
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := f.redeem(t.Context(), found); !errors.Is(err, errOneTimeToken) {
		t.Errorf("an exchange that lost, before a newer one-time token: %+v, %v", again, err)
	}
	const racers = 8
	var wins atomic.Int32
	var racing sync.WaitGroup
	for range racers {
		racing.Go(func() {
			switch _, _, err := f.ExchangeOneTimeToken(t.Context(), newer.OneTimeSecretID); {
			case err == nil:
				wins.Add(1)
			case !errors.Is(err, errOneTimeToken):
				t.Errorf("an exchange that lost: %v", err)
			}
		})
	}
	racing.Wait()
	if n := wins.Load(); n != 1 {
		t.Fatalf("%d of %d exchanges won", n, racers)
	}
	if won.AccessorID != token.AccessorID || won.SecretID == token.SecretID || won.Type != token.Type {
		t.Errorf("the exchange returned %+v", won)
	}
	if parsed, err := pki.ParseToken(won.SecretID); err != nil || parsed.Kind != pki.UserToken {
		t.Errorf("the new secret has another form: %v", err)
	}
	for what, secret := range map[string]string{"the first secret": token.SecretID, "the new secret": won.SecretID} {
		if r := f.RightsOf(secret); r == nil || r.Accessor != token.AccessorID {
			t.Errorf("%s has the rights %+v", what, r)
		}
	}
	if _, err := f.DeleteACLToken(t.Context(), token.AccessorID); err != nil {
		t.Fatal(err)
	}
	if f.RightsOf(won.SecretID) != nil {
		t.Error("a further secret outlives its token")
	}
}

// TestFurtherSecretsAreBounded exchanges more one-time tokens than a token remembers.
func TestFurtherSecretsAreBounded(t *testing.T) {
	f := found(t)
	token := managementToken(t, f.Server, 0)
	var secrets []string
	for range furtherSecrets + 2 {
		once, _, err := f.CreateOneTimeToken(t.Context(), token.AccessorID)
		if err != nil {
			t.Fatal(err)
		}
		further, _, err := f.ExchangeOneTimeToken(t.Context(), once.OneTimeSecretID)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, further.SecretID)
	}
	for i, secret := range append(secrets, token.SecretID) {
		if is, want := f.RightsOf(secret) != nil, i >= 2; is != want {
			t.Errorf("secret %d is valid: %t, want %t", i, is, want)
		}
	}
	changed := *token
	changed.Name = "ana maria"
	if _, _, err := f.UpdateACLToken(t.Context(), &changed); err != nil {
		t.Fatal(err)
	}
	if f.RightsOf(secrets[len(secrets)-1]) == nil {
		t.Error("a change of the token forgets its further secrets")
	}
}

func TestOneTimeTokensExpire(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := found(t)
		token, brief := managementToken(t, f.Server, 0), managementToken(t, f.Server, time.Minute)
		late, _, err := f.CreateOneTimeToken(t.Context(), token.AccessorID)
		if err != nil {
			t.Fatal(err)
		}
		orphan, _, err := f.CreateOneTimeToken(t.Context(), brief.AccessorID)
		if err != nil {
			t.Fatal(err)
		}
		wait.Pass(t.Context(), time.Minute)
		if _, _, err := f.ExchangeOneTimeToken(t.Context(), orphan.OneTimeSecretID); api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("the one-time token of an expired token: %v", err)
		}
		wait.Pass(t.Context(), api.OneTimeTokenTTL-time.Minute)
		if _, _, err := f.ExchangeOneTimeToken(t.Context(), late.OneTimeSecretID); !errors.Is(err, errOneTimeToken) {
			t.Errorf("an expired one-time token: %v", err)
		}
		wait.Until(t, "the leader deletes the one-time token", func() bool { return f.Store().Snapshot().OneTimeToken(token.AccessorID) == nil })
		if _, _, err := f.CreateOneTimeToken(t.Context(), "unknown"); api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("for a token that does not exist: %v", err)
		}
	})
}
