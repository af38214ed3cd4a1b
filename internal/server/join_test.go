// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/state"
)

// A founder is a server in memory that founded a cluster, and what it does to others.
type founder struct {
	*Server
	t        *testing.T
	operator string
	founding int               // calls of Done
	reached  map[string][]byte // public keys by address
	joined   map[string]string // address of servers in the log, by id
	at       map[string]string // id of members by address
	speaks   sync.Map          // ids of the servers that run, by address: strings; background work reads it too
}

func (f *founder) AddNonvoter(_ context.Context, id, address string) error {
	f.joined[id] = address
	return nil
}

// Servers returns the founder, and the servers that joined.
func (f *founder) Servers() ([]replica.Peer, error) {
	peers := []replica.Peer{{ID: f.ServerID(), Voter: true}}
	for id, address := range f.joined {
		peers = append(peers, replica.Peer{ID: id, Address: address})
	}
	return peers, nil
}

func found(t *testing.T, before ...func(*founder)) *founder {
	t.Helper()
	f := &founder{t: t, reached: map[string][]byte{}, joined: map[string]string{}, at: map[string]string{}}
	clusterID := api.NewID()
	ca, err := pki.NewAuthority(clusterID, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	private, _, err := pki.NewSealKey()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := pki.Digest(ca.CertPEM())
	if err != nil {
		t.Fatal(err)
	}
	operator := pki.NewToken(pki.OperatorToken, digest)
	f.operator = operator.String()
	f.Server, err = New(Config{Name: "one", Logger: slog.New(slog.DiscardHandler), Member: &Member{
		ID: api.NewID(), Name: "one", ClusterID: clusterID, Address: "10.0.0.1:4646", SealKey: private, Group: f,
		Founding: &Founding{
			Authority: ca, ClusterKey: pki.NewClusterKey(), Operator: operator.Hash(),
			Expires: time.Now().Add(pki.DefaultLifetime), Done: func() { f.founding++ },
		},
		Reach: func(_ context.Context, address string) ([]byte, error) {
			if key, ok := f.reached[address]; ok {
				return key, nil
			}
			return nil, errors.New("connection refused")
		},
		MemberAt: func(_ context.Context, address string) (string, error) {
			if id, ok := f.at[address]; ok {
				return id, nil
			}
			return "", errors.New("connection refused")
		},
		SpeakerAt: func(_ context.Context, address string) (Speaker, error) {
			if id, ok := f.speaks.Load(address); ok {
				return Speaker{ID: id.(string), Advertise: address}, nil
			}
			return Speaker{}, errors.New("connection refused")
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range before {
		do(f)
	}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// request is a valid request of a server at an address that can be reached.
func (f *founder) request(kind pki.TokenKind) *api.JoinRequest {
	f.t.Helper()
	tokens, err := f.JoinTokens()
	if err != nil {
		f.t.Fatal(err)
	}
	keyPEM, err := pki.NewKey()
	if err != nil {
		f.t.Fatal(err)
	}
	r := &api.JoinRequest{Token: tokens.Node, Name: "two", Address: "10.0.0.2:4646", Region: "global", Time: time.Now().UnixNano()}
	id := "a node"
	if kind == pki.ServerToken {
		_, public, err := pki.NewSealKey()
		if err != nil {
			f.t.Fatal(err)
		}
		id = api.NewID()
		r.Token, r.ID, r.SealKey, r.Level = tokens.Server, id, public, state.Level
	}
	csr, err := pki.NewRequest(keyPEM, id)
	if err != nil {
		f.t.Fatal(err)
	}
	r.CSR = string(csr)
	if f.reached[r.Address], err = pki.RequestKey(csr); err != nil {
		f.t.Fatal(err)
	}
	return r
}

// identify verifies the certificate of an answer with its roots.
func identify(t *testing.T, r *api.JoinResponse) pki.Identity {
	t.Helper()
	roots, err := pki.ParseRoots([]byte(r.Roots))
	if err != nil {
		t.Fatal(err)
	}
	chain, err := pki.ParseChain([]byte(r.Certificate))
	if err != nil {
		t.Fatal(err)
	}
	who, err := roots.Identify(chain, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return who
}

func TestAClusterIsFounded(t *testing.T) {
	f := found(t)
	trust := f.Store().Snapshot().Trust()
	if trust == nil || f.founding != 1 {
		t.Fatalf("trust %v, %d calls of Done", trust, f.founding)
	}
	if !f.IsOperator(f.operator) || !f.IsOperator(f.operator+"\n") || f.IsOperator("") || f.IsOperator(f.operator[:len(f.operator)-1]+"!") {
		t.Error("the operator's token and only that is accepted")
	}
	if other := pki.NewToken(pki.OperatorToken, strings.Split(f.operator, "-")[3]); f.IsOperator(other.String()) {
		t.Error("another operator's token is accepted")
	}
}

func TestServersJoin(t *testing.T) {
	f := found(t)
	r := f.request(pki.ServerToken)
	answer, err := f.Join(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if who := identify(t, answer); who.ID != r.ID || who.Role != pki.RoleServer || who.ClusterID != answer.ClusterID {
		t.Errorf("the certificate is of %+v", who)
	}
	if f.joined[r.ID] != r.Address || len(answer.Servers) != 2 {
		t.Errorf("in the log: %v; servers: %v", f.joined, answer.Servers)
	}
	stored := f.Store().Snapshot().Server(r.ID)
	if stored == nil || stored.Address != r.Address || stored.Expires == 0 || bytes.Equal(stored.SealedKey, nil) {
		t.Errorf("stored: %+v", stored)
	}
	if _, err := f.Join(t.Context(), r); err != nil {
		t.Errorf("a repeated request: %v", err)
	}
	copied := f.request(pki.ServerToken)
	copied.ID = r.ID
	if _, err := f.Join(t.Context(), copied); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "copy") {
		t.Errorf("the same id with other keys: %v", err)
	}
}

func TestNodesDoNotChooseTheirID(t *testing.T) {
	f := found(t)
	r := f.request(pki.NodeToken)
	r.ID = f.cfg.Member.ID
	answer, err := f.Join(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	who := identify(t, answer)
	if who.Role != pki.RoleNode || who.ID != answer.ID || who.ID == f.cfg.Member.ID {
		t.Errorf("the certificate is of %+v", who)
	}
	if len(f.joined) != 0 {
		t.Errorf("a node is in the log: %v", f.joined)
	}
}

func TestRefusedJoinsChangeNothing(t *testing.T) {
	for what, c := range map[string]struct {
		change func(f *founder, r *api.JoinRequest)
		say    string
	}{
		"no token":                {func(_ *founder, r *api.JoinRequest) { r.Token = "" }, "it is empty"},
		"an operator's token":     {func(f *founder, r *api.JoinRequest) { r.Token = f.operator }, "admits no machines"},
		"a token of another time": {func(f *founder, r *api.JoinRequest) { f.rotate(pki.ServerToken) }, "it was replaced"},
		"a late clock":            {func(_ *founder, r *api.JoinRequest) { r.Time -= int64(time.Hour) }, "1h0m0s behind"},
		"an early clock":          {func(_ *founder, r *api.JoinRequest) { r.Time += int64(time.Hour) }, "ahead of"},
		"no name":                 {func(_ *founder, r *api.JoinRequest) { r.Name = "" }, "set name"},
		"a name with a line":      {func(_ *founder, r *api.JoinRequest) { r.Name = "a\nb" }, "printable"},
		"another region":          {func(_ *founder, r *api.JoinRequest) { r.Region = "west" }, "west"},
		"no id":                   {func(_ *founder, r *api.JoinRequest) { r.ID = "../x" }, "UUID"},
		"no address":              {func(_ *founder, r *api.JoinRequest) { r.Address = "here" }, "-advertise"},
		"all addresses":           {func(_ *founder, r *api.JoinRequest) { r.Address = "0.0.0.0:4646" }, "all addresses"},
		"a closed port":           {func(_ *founder, r *api.JoinRequest) { r.Address = "10.0.0.9:4646" }, "cannot reach"},
		"another process": {func(f *founder, r *api.JoinRequest) {
			other := f.request(pki.ServerToken)
			f.reached[r.Address], _ = pki.RequestKey([]byte(other.CSR))
		}, "another process"},
		"an address of another server": {func(f *founder, r *api.JoinRequest) {
			r.Address = "10.0.0.1:4646"
			f.reached[r.Address], _ = pki.RequestKey([]byte(r.CSR))
		}, "belongs to server one"},
		"no request":     {func(_ *founder, r *api.JoinRequest) { r.CSR = "x" }, "join:"},
		"no key":         {func(_ *founder, r *api.JoinRequest) { r.SealKey = nil }, "no public key"},
		"an old version": {func(_ *founder, r *api.JoinRequest) { r.Version, r.Level = "0.0.1", 1 }, "server two runs Reeve 0.0.1, which cannot read the log"},
		"no level":       {func(_ *founder, r *api.JoinRequest) { r.Level = 0 }, "install the version of the other servers"},
		"an invalid key": {func(_ *founder, r *api.JoinRequest) { r.SealKey = []byte("short") }, "not valid"},
	} {
		t.Run(what, func(t *testing.T) {
			f := found(t)
			r := f.request(pki.ServerToken)
			c.change(f, r)
			before := f.Store().Index()
			_, err := f.Join(t.Context(), r)
			var e *api.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("got %v, want %q", err, c.say)
			}
			if n := len(f.joined); n != 0 || f.Store().Snapshot().Server(r.ID) != nil {
				t.Errorf("%d servers were added, index %d after %d", n, f.Store().Index(), before)
			}
			if strings.Contains(err.Error(), strings.Split(f.operator, "-")[4]) {
				t.Error("the error contains a secret")
			}
		})
	}
}

func (f *founder) rotate(kind pki.TokenKind) string {
	f.t.Helper()
	token, err := f.RotateJoinToken(f.t.Context(), kind)
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

func TestRotatedTokens(t *testing.T) {
	f := found(t)
	old, err := f.JoinTokens()
	if err != nil {
		t.Fatal(err)
	}
	token := f.rotate(pki.NodeToken)
	if now, err := f.JoinTokens(); err != nil || now.Node != token || now.Node == old.Node || now.Server != old.Server {
		t.Errorf("after the rotation: %v %v", now, err)
	}
	if _, err := f.RotateJoinToken(t.Context(), "operator"); api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("an unknown kind: %v", err)
	}
	operator, err := f.RotateOperatorToken(t.Context())
	if err != nil || !f.IsOperator(operator) || f.IsOperator(f.operator) {
		t.Errorf("%v; new accepted: %v, old: %v", err, f.IsOperator(operator), f.IsOperator(f.operator))
	}
}

func TestMembersRenew(t *testing.T) {
	f := found(t)
	r := f.request(pki.ServerToken)
	answer, err := f.Join(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	who := identify(t, answer)
	next := f.request(pki.ServerToken)
	renewed, err := f.Renew(t.Context(), who.ID, who.Role, &api.RenewRequest{CSR: next.CSR})
	if err != nil {
		t.Fatal(err)
	}
	if again := identify(t, renewed); again.ID != who.ID || again.Role != who.Role || bytes.Equal(again.Key, who.Key) {
		t.Errorf("renewed as %+v", again)
	}
	who.ID = api.NewID()
	if _, err := f.Renew(t.Context(), who.ID, who.Role, &api.RenewRequest{CSR: next.CSR}); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("a server that nobody knows renews: %v", err)
	}
	if _, err := f.propose(t.Context(), &state.RevokeMember{ID: r.ID, Reason: "stolen", Time: 1}); err != nil {
		t.Fatal(err)
	}
	who.ID = r.ID
	if _, err := f.Renew(t.Context(), who.ID, who.Role, &api.RenewRequest{CSR: next.CSR}); api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "stolen") {
		t.Errorf("a removed server renews: %v", err)
	}
}

func TestServersAnnounceThemselves(t *testing.T) {
	f := found(t)
	r := f.request(pki.ServerToken)
	if _, err := f.Join(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	f.at["10.0.0.7:4646"], f.at["10.0.0.8:4646"] = r.ID, "another"
	for what, c := range map[string]struct {
		id, address, say string
	}{
		"a closed port":   {r.ID, "10.0.0.9:4646", "cannot reach"},
		"another member":  {r.ID, "10.0.0.8:4646", "another member answers"},
		"no address":      {r.ID, "here", "-advertise"},
		"a server's name": {"unknown", "10.0.0.7:4646", "not a server of this cluster"},
		"an old version":  {r.ID, "10.0.0.7:4646", "which cannot read the log"},
		"a copy":          {r.ID, "10.0.0.7:4646", "runs at " + r.Address + " already, and a second process has its identity at 10.0.0.7:4646"},
	} {
		f.speaks.Delete(r.Address)
		if what == "a copy" {
			f.speaks.Store(r.Address, r.ID)
		}
		level := state.Level
		if what == "an old version" {
			level--
		}
		err := f.Announce(t.Context(), c.id, &api.AnnounceRequest{Name: "two", Address: c.address, Level: level})
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v, want %q", what, err, c.say)
		}
		if stored := f.Store().Snapshot().Server(r.ID); stored.Address != r.Address {
			t.Errorf("%s: the server is at %s", what, stored.Address)
		}
	}
	f.speaks.Store(r.Address, "another") // has the address now
	moved := &api.AnnounceRequest{Name: "two", Address: "10.0.0.7:4646", Version: "2", Level: state.Level}
	if err := f.Announce(t.Context(), r.ID, moved); err != nil {
		t.Fatal(err)
	}
	stored := f.Store().Snapshot().Server(r.ID)
	if stored.Address != moved.Address || stored.Version != "2" || f.joined[r.ID] != moved.Address {
		t.Errorf("stored %+v, in the log %s", stored, f.joined[r.ID])
	}
	before := f.Store().Index()
	if err := f.Announce(t.Context(), r.ID, moved); err != nil || f.Store().Index() != before {
		t.Errorf("the same again: %v, index %d after %d", err, f.Store().Index(), before)
	}
}

// TestSecretsAreNotInTheState looks for the cluster's secrets in a snapshot.
func TestSecretsAreNotInTheState(t *testing.T) {
	f := found(t)
	tokens, err := f.JoinTokens()
	if err != nil {
		t.Fatal(err)
	}
	ca, err := f.authority(f.Store().Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	keyPEM, err := ca.KeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := f.Store().Snapshot().WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	secret := func(token string) string { return token[strings.LastIndex(token, "-")+1:] }
	for what, text := range map[string]string{
		"the server token": secret(tokens.Server), "the node token": secret(tokens.Node), "the operator's token": secret(f.operator),
		"the key of the authority": strings.Split(string(keyPEM), "\n")[1],
	} {
		if len(text) < 20 || bytes.Contains(b.Bytes(), []byte(text)) {
			t.Errorf("%s is in the snapshot in clear (%d characters)", what, len(text))
		}
	}
	if !bytes.Contains(b.Bytes(), []byte("BEGIN CERTIFICATE")) {
		t.Error("the snapshot does not contain the root")
	}
}
