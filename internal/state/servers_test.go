// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestRevokedMembersStayOut(t *testing.T) {
	s := New()
	one := &api.Server{ID: "one", Name: "host-1", Address: "10.0.0.1:4646"}
	must(t, s.Apply(5, []Command{PutServer(one, nil)}))
	must(t, s.Apply(6, []Command{throughLog(t, &RevokeMember{ID: "one", Reason: "removed by an operator", Time: 7})}))
	v := s.Snapshot()
	if r := v.Revocation("one"); r == nil || r.Name != "host-1" || r.Time != 7 || v.Server("one") != nil {
		t.Fatalf("revocation %+v, server %+v", r, v.Server("one"))
	}
	err := s.Apply(7, []Command{PutServer(one, nil)})[0]
	if api.CodeOf(err) != api.CodeForbidden || !strings.Contains(err.Error(), "join with a token") {
		t.Errorf("a revoked server comes back: %v", err)
	}
	must(t, s.Apply(8, []Command{&RevokeMember{ID: "one", Reason: "again", Time: 9}}))
	if r := s.Snapshot().Revocation("one"); r.Reason != "removed by an operator" {
		t.Errorf("a second removal changed the first: %+v", r)
	}
	if err := s.Apply(9, []Command{&RevokeMember{}})[0]; api.CodeOf(err) != api.CodeInvalid {
		t.Errorf("a removal without an id: %v", err)
	}
}

func TestServersDoNotShareAnAddress(t *testing.T) {
	s := New()
	must(t, s.Apply(5, []Command{PutServer(&api.Server{ID: "one", Name: "host-1", Address: "10.0.0.1:4646"}, nil)}))
	err := s.Apply(6, []Command{PutServer(&api.Server{ID: "two", Name: "host-2", Address: "10.0.0.1:4646"}, nil)})[0]
	if api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "host-1") || s.Snapshot().Server("two") != nil {
		t.Errorf("two servers with one address: %v", err)
	}
	must(t, s.Apply(7, []Command{PutServer(&api.Server{ID: "one", Name: "host-1", Address: "10.0.0.9:4646"}, nil)}))
	must(t, s.Apply(8, []Command{PutServer(&api.Server{ID: "two", Name: "host-2", Address: "10.0.0.1:4646"}, nil)}))
}
