// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/internal/testbed/bubble"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// uiSession creates a session of a token, and returns it with its secret.
func uiSession(t *testing.T, s *Server, accessor string) *api.UISession {
	t.Helper()
	code, _, err := s.CreateUICode(t.Context(), accessor)
	if err != nil {
		t.Fatal(err)
	}
	session, _, err := s.TradeUICode(t.Context(), code.Code)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func TestACodeIsTradedOnce(t *testing.T) {
	f := found(t)
	token := managementToken(t, f.Server, 0)
	other, _, err := f.CreateOneTimeToken(t.Context(), token.AccessorID)
	if err != nil {
		t.Fatal(err)
	}
	code, _, err := f.CreateUICode(t.Context(), token.AccessorID)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"a guess": "guess", "a long text": string(make([]byte, 1<<20)), "the token itself": token.SecretID, "a one-time token": other.OneTimeSecretID} {
		if _, _, err := f.TradeUICode(t.Context(), text); !errors.Is(err, errUICode) {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	if _, _, err := f.ExchangeOneTimeToken(t.Context(), code.Code); !errors.Is(err, errOneTimeToken) {
		t.Errorf("the exchange of one-time tokens takes a code: %v", err)
	}
	if f.RightsOf(code.Code) != nil {
		t.Error("a code has rights itself")
	}
	const racers = 8
	var wins atomic.Int32
	var won atomic.Pointer[api.UISession]
	var racing sync.WaitGroup
	for range racers {
		racing.Go(func() {
			switch session, _, err := f.TradeUICode(t.Context(), code.Code); {
			case err == nil:
				wins.Add(1)
				won.Store(session)
			case !errors.Is(err, errUICode):
				t.Errorf("a trade that lost: %v", err)
			}
		})
	}
	racing.Wait()
	if n := wins.Load(); n != 1 {
		t.Fatalf("%d of %d trades won", n, racers)
	}
	session := won.Load()
	if r := f.RightsOf(session.Token.SecretID); r == nil || !r.ACL.IsManagement() || r.Accessor != code.AccessorID || r.Accessor == token.AccessorID {
		t.Errorf("the session has the rights %+v", r)
	}
	if _, _, err := f.ExchangeOneTimeToken(t.Context(), other.OneTimeSecretID); err != nil {
		t.Errorf("a code invalidates a one-time token of the same token: %v", err)
	}
	if _, err := f.DeleteACLToken(t.Context(), token.AccessorID); err != nil {
		t.Fatal(err)
	}
	if f.RightsOf(session.Token.SecretID) != nil {
		t.Error("a session outlives the token that created it")
	}
}

// TestTheStateHasNoCodes looks for a code and a secret in every stored object.
func TestTheStateHasNoCodes(t *testing.T) {
	f := found(t)
	token := managementToken(t, f.Server, 0)
	code, _, err := f.CreateUICode(t.Context(), token.AccessorID)
	if err != nil {
		t.Fatal(err)
	}
	session := uiSession(t, f.Server, token.AccessorID)
	v := f.Store().Snapshot()
	stored, err := json.Marshal([]any{v.OneTimeToken(code.AccessorID), v.ACLToken(code.AccessorID), v.ACLToken(session.Token.AccessorID)})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(stored, []byte(code.AccessorID)) {
		t.Fatalf("the session is not in the state: %s", stored)
	}
	for _, secret := range []string{code.Code, session.Token.SecretID} {
		if bytes.Contains(stored, []byte(secret)) {
			t.Errorf("the state contains %s: %s", secret, stored)
		}
	}
}

// TestASessionHasTheRightsOfItsCreatorNow changes the rights of the creator.
func TestASessionHasTheRightsOfItsCreatorNow(t *testing.T) {
	f := found(t)
	for _, name := range []string{"reader", "writer"} {
		rules := `namespace "default" { capabilities = ["` + map[string]string{"reader": "read-job", "writer": "submit-job"}[name] + `"] }`
		if _, err := f.PutACLPolicy(t.Context(), &api.ACLPolicy{Name: name, Rules: rules}); err != nil {
			t.Fatal(err)
		}
	}
	token, _, err := f.CreateACLToken(t.Context(), &api.ACLToken{Name: "ana", Type: api.ACLTokenClient, Policies: []string{"reader"}})
	if err != nil {
		t.Fatal(err)
	}
	session := uiSession(t, f.Server, token.AccessorID)
	may := func(c acl.Capability) bool {
		r := f.RightsOf(session.Token.SecretID)
		return r != nil && r.ACL.Allows(acl.Question{Capability: c, Name: "default"})
	}
	if !may(acl.ReadJob) || may(acl.SubmitJob) {
		t.Error("the session of a reader does not have exactly its rights")
	}
	changed := *token
	changed.Policies = []string{"writer"}
	if _, _, err := f.UpdateACLToken(t.Context(), &changed); err != nil {
		t.Fatal(err)
	}
	if may(acl.ReadJob) || !may(acl.SubmitJob) {
		t.Error("the session keeps the former rights of its creator")
	}
	grab := *session.Token
	grab.Policies = []string{"reader"}
	if _, _, err := f.UpdateACLToken(t.Context(), &grab); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("the policies of a session are changed: %v", err)
	}
	if _, _, err := f.CreateUICode(t.Context(), session.Token.AccessorID); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("a session creates a session: %v", err)
	}
	if _, _, err := f.RenewUISession(t.Context(), token.AccessorID); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("a token that is no session is renewed: %v", err)
	}
}

func TestSessionsEndWithoutRenewal(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := found(t)
		token, brief := managementToken(t, f.Server, 0), managementToken(t, f.Server, 2*time.Hour)
		late, _, err := f.CreateUICode(t.Context(), token.AccessorID)
		if err != nil {
			t.Fatal(err)
		}
		idle, kept, bounded, operator := uiSession(t, f.Server, token.AccessorID), uiSession(t, f.Server, token.AccessorID), uiSession(t, f.Server, brief.AccessorID), uiSession(t, f.Server, "")
		valid := func(what string, session *api.UISession, want bool) {
			t.Helper()
			if is := f.RightsOf(session.Token.SecretID) != nil; is != want {
				t.Errorf("%s after %s: the session of %s is valid: %t, want %t", time.Now().Format(time.TimeOnly), session.EndsAt.Format(time.TimeOnly), what, is, want)
			}
		}
		if r := f.RightsOf(operator.Token.SecretID); r == nil || !r.ACL.IsManagement() {
			t.Errorf("the session of an operator has the rights %+v", r)
		}
		wait.Pass(t.Context(), api.UICodeTTL)
		if _, _, err := f.TradeUICode(t.Context(), late.Code); !errors.Is(err, errUICode) {
			t.Errorf("an expired code: %v", err)
		}
		wait.Pass(t.Context(), 2*time.Hour)
		valid("a token that expired", bounded, false)
		for range 4 {
			wait.Pass(t.Context(), 5*time.Hour)
			renewed, _, err := f.RenewUISession(t.Context(), kept.Token.AccessorID)
			if err != nil {
				t.Fatal(err)
			}
			if renewed.Token.SecretID != "" || renewed.Token.ExpirationTime.After(kept.EndsAt) {
				t.Errorf("the renewal returned %+v, and the session ends at %s", renewed.Token, kept.EndsAt)
			}
			valid("an active user", kept, true)
		}
		valid("a user who left", idle, false)
		if _, _, err := f.RenewUISession(t.Context(), idle.Token.AccessorID); api.CodeOf(err) != api.CodeForbidden {
			t.Errorf("an expired session is renewed: %v", err)
		}
		wait.Pass(t.Context(), 2*time.Hour)
		valid("an active user, after 24 h", kept, false)
		wait.Pass(t.Context(), 2*time.Hour)
		for session := range f.Store().Snapshot().ACLTokens("") {
			if session.Session {
				t.Errorf("the session %s is still stored, %s after its end", session.AccessorID, time.Since(*session.ExpirationTime))
			}
		}
	})
}

func TestSessionsAreAdmitted(t *testing.T) {
	f := found(t)
	token := managementToken(t, f.Server, 0)
	accessor := uiSession(t, f.Server, token.AccessorID).Token.AccessorID
	session := f.Store().Snapshot().ACLToken(accessor)
	for what, change := range map[string]func(*state.ACLToken){
		"another creator":            func(s *state.ACLToken) { s.Creator = "" },
		"a token that was a session": func(s *state.ACLToken) { s.Session = false },
		"another type":               func(s *state.ACLToken) { s.Type = api.ACLTokenClient },
		"no end":                     func(s *state.ACLToken) { s.ExpirationTime = nil },
		"policies":                   func(s *state.ACLToken) { s.Policies = []string{"reader"} },
		"a second secret":            func(s *state.ACLToken) { s.Further = [][]byte{{1}} },
		"a namespace":                func(s *state.ACLToken) { s.Namespace = "default" },
		"a session that creates one": func(s *state.ACLToken) {
			s.AccessorID, s.Hash, s.Creator, s.ModifyIndex = api.NewID(), unknownSecret(), session.AccessorID, 0
		},
	} {
		changed := *session
		change(&changed)
		if _, err := f.propose(t.Context(), state.PutACLToken(&changed, &changed.ModifyIndex)); err == nil {
			t.Errorf("%s is admitted", what)
		}
	}
	for i := 1; ; i++ {
		if _, _, err := f.CreateUICode(t.Context(), token.AccessorID); api.CodeOf(err) == api.CodeConflict {
			break
		} else if err != nil || i > 100 {
			t.Fatalf("session %d: %v, want a refusal after the maximum", i, err)
		}
	}
}
