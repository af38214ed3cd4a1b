// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/state"
)

// foundWithPool returns the founder of a cluster with the node pool "edge".
func foundWithPool(t *testing.T) *founder {
	t.Helper()
	f := found(t)
	f.propose1(&state.PutNodePool{Pool: &api.NodePool{Name: "edge"}})
	return f
}

func (f *founder) propose1(c state.Command) {
	f.t.Helper()
	if _, err := f.propose(f.t.Context(), c); err != nil {
		f.t.Fatal(err)
	}
}

func (f *founder) introduction(r api.IntroductionRequest) string {
	f.t.Helper()
	token, _, err := f.Introduce(&r)
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

// introduced is a request of a new machine with an introduction token.
func (f *founder) introduced(token, name string) *api.JoinRequest {
	f.t.Helper()
	r := f.request(pki.NodeToken)
	r.Token, r.Name = token, name
	return r
}

// forge returns an introduction token with other claims, authenticated by the cluster's key.
func (f *founder) forge(change func(*pki.Introduction)) string {
	f.t.Helper()
	key, digest, err := f.introductionKey(f.store.Snapshot())
	if err != nil {
		f.t.Fatal(err)
	}
	claims := pki.Introduction{ID: pki.NewIntroductionID(), Issued: time.Now().Unix(), Expires: time.Now().Add(time.Minute).Unix(), NodePool: "edge"}
	change(&claims)
	token, err := claims.Token(digest, key)
	if err != nil {
		f.t.Fatal(err)
	}
	return token.String()
}

func TestAnIntroducedMachineBelongsToThePoolOfItsToken(t *testing.T) {
	f := foundWithPool(t)
	token := f.introduction(api.IntroductionRequest{NodePool: "edge", NodeName: "edge-7"})
	answer, err := f.Join(t.Context(), f.introduced(token, "edge-7"))
	if err != nil {
		t.Fatal(err)
	}
	if answer.NodePool != "edge" || answer.NodeName != "edge-7" || len(answer.Introduction) != 32 {
		t.Errorf("the machine is told %+v", answer)
	}
	node := &api.Node{ID: answer.ID, Name: "edge-7", NodePool: "default"}
	if _, err := f.RegisterNode(t.Context(), node); api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), `token puts it into pool "edge"`) {
		t.Errorf("another pool: %v", err)
	}
	node.NodePool = "edge"
	if _, err := f.RegisterNode(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	if got := f.store.Snapshot().Node(answer.ID); got.Introduction == nil || got.Introduction.NodeName != "edge-7" {
		t.Errorf("the node shows %+v", got.Introduction)
	}
}

// TestAnIntroductionIsRepeatedAfterALostAnswer sends the request of one machine twice: it becomes one
// node, also with a token for one machine.
func TestAnIntroductionIsRepeatedAfterALostAnswer(t *testing.T) {
	f := foundWithPool(t)
	for _, once := range []bool{true, false} {
		r := f.introduced(f.introduction(api.IntroductionRequest{NodePool: "edge", Once: once}), "n")
		again := *r
		first, err := f.Join(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		second, err := f.Join(t.Context(), &again)
		if err != nil || second.ID != first.ID {
			t.Fatalf("once %v: the repetition made %+v, %v; want node %s", once, second, err, first.ID)
		}
		other, err := f.Join(t.Context(), f.introduced(r.Token, "n"))
		if once && (api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "admits one machine only")) {
			t.Errorf("another machine with a token for one: %v, %v", other, err)
		}
		if !once && (err != nil || other.ID == first.ID) {
			t.Errorf("another machine: %v, %v", other, err)
		}
	}
}

// TestAttacksWithIntroductionTokens tries what a holder of tokens could try.
func TestAttacksWithIntroductionTokens(t *testing.T) {
	f, foreign := foundWithPool(t), foundWithPool(t)
	live := &api.Node{ID: "22222222-0000-4000-8000-000000000002", Name: "edge-7"}
	if _, err := f.RegisterNode(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	used := f.introduction(api.IntroductionRequest{Once: true})
	revoked := f.introduced(used, "n")
	answer, err := f.Join(t.Context(), revoked)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.RegisterNode(t.Context(), &api.Node{ID: answer.ID, Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Revoke(t.Context(), answer.ID, "stolen"); err != nil {
		t.Fatal(err)
	}
	revoked.Time = time.Now().UnixNano()
	rotated := f.introduction(api.IntroductionRequest{})
	if _, err := f.RotateJoinToken(t.Context(), pki.NodeToken); err != nil {
		t.Fatal(err)
	}
	renewed := f.introduced(used, "n") // another key after the rotation
	for what, c := range map[string]struct {
		r   *api.JoinRequest
		say string
	}{
		"expired":                  {f.introduced(f.forge(func(i *pki.Introduction) { i.Expires = now - 90 }), "n"), "expired at"},
		"expired now":              {f.introduced(f.forge(func(i *pki.Introduction) { i.Expires = now }), "n"), "expired at"},
		"expired before the epoch": {f.introduced(f.forge(func(i *pki.Introduction) { i.Expires = -1 << 63 }), "n"), "expired at"},
		"not yet valid":            {f.introduced(f.forge(func(i *pki.Introduction) { i.Issued = now + 360 }), "n"), "is not valid before"},
		"of another cluster":       {f.introduced(foreign.introduction(api.IntroductionRequest{}), "n"), "belongs to another cluster"},
		"before a rotation":        {f.introduced(rotated, "n"), "was replaced since"},
		"used before a rotation":   {renewed, "was replaced since"},
		"of an excluded machine":   {revoked, "was replaced since"},
		"a deleted pool":           {f.introduced(f.forge(func(i *pki.Introduction) { i.NodePool = "gone" }), "n"), `pool "gone" of the introduction token was deleted`},
		"another name":             {f.introduced(f.forge(func(i *pki.Introduction) { i.NodeName = "a" }), "b"), `is for the machine "a"`},
		"the name of a live node":  {f.introduced(f.forge(func(i *pki.Introduction) { i.NodeName = "edge-7" }), "edge-7"), "node 22222222 has the name"},
		"a request without a key": {func() *api.JoinRequest {
			r := f.introduced(f.introduction(api.IntroductionRequest{}), "n")
			r.CSR = "x"
			return r
		}(), "read certificate request"},
		"huge": {f.introduced("reeve-introduction-1-"+strings.Repeat("0", 1<<20), "n"), "is no token"},
		"a clock that differs": {func() *api.JoinRequest {
			r := f.introduced(f.introduction(api.IntroductionRequest{}), "n")
			r.Time = 1
			return r
		}(), "clock of n is"},
	} {
		before := f.store.Snapshot().Index()
		if answer, err := f.Join(t.Context(), c.r); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %+v, %v; want %q", what, answer, err, c.say)
		}
		if after := f.store.Snapshot().Index(); after != before {
			t.Errorf("%s: the refusal changed the state", what)
		}
	}
	r := f.request(pki.ServerToken)
	r.Token = f.introduction(api.IntroductionRequest{})
	answer, err = f.Join(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if id := identify(t, answer); id.Role != pki.RoleNode || f.joined[answer.ID] != "" {
		t.Errorf("a server's request made a %s of the cluster", id.Role)
	}
}

// TestARevokedMachineDoesNotRepeatItsIntroduction joins again with the key of an excluded node.
func TestARevokedMachineDoesNotRepeatItsIntroduction(t *testing.T) {
	f := foundWithPool(t)
	r := f.introduced(f.introduction(api.IntroductionRequest{}), "n")
	again := *r
	answer, err := f.Join(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.RegisterNode(t.Context(), &api.Node{ID: answer.ID, Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Revoke(t.Context(), answer.ID, "stolen"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Join(t.Context(), &again); err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("the excluded machine: %v", err)
	}
}

func TestIntroductionRequestsAreChecked(t *testing.T) {
	f := foundWithPool(t)
	for what, c := range map[string]struct {
		r   api.IntroductionRequest
		say string
	}{
		"too long":         {api.IntroductionRequest{TTL: api.MaxIntroductionTTL + 1}, "is not from 1s to 30m0s"},
		"negative":         {api.IntroductionRequest{TTL: -time.Minute}, "is not from 1s"},
		"overflowing":      {api.IntroductionRequest{TTL: 1<<63 - 1}, "is not from 1s"},
		"the pool of all":  {api.IntroductionRequest{NodePool: "all"}, `every node is in pool "all"`},
		"unknown pool":     {api.IntroductionRequest{NodePool: strings.Repeat("p", 1<<16)}, "does not exist"},
		"long name":        {api.IntroductionRequest{NodeName: strings.Repeat("n", 256)}, "1 to 255 printable"},
		"control in names": {api.IntroductionRequest{NodeName: "a\nb"}, "printable"},
	} {
		token, _, err := f.Introduce(&c.r)
		if err == nil || !strings.Contains(err.Error(), c.say) || len(err.Error()) > 400 {
			t.Errorf("%s: %s, %v; want %q", what, token, err, c.say)
		}
	}
	token, err := pki.ParseToken(f.introduction(api.IntroductionRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	claims, err := pki.ReadIntroduction(token)
	if err != nil || claims.NodePool != "default" || claims.Once || claims.Expires-claims.Issued != 300 {
		t.Errorf("without wishes: %+v, %v", claims, err)
	}
}

func TestIntroductionsNeedAnAuthority(t *testing.T) {
	alone, err := New(Config{Name: "one", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := alone.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := alone.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := alone.Introduce(&api.IntroductionRequest{}); err == nil || !strings.Contains(err.Error(), "has no certificate authority") {
		t.Errorf("a server that runs alone: %v", err)
	}
}
