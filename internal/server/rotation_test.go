// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/pki"
)

// renew renews the certificate of a member.
func (f *founder) renew(id string, role pki.Role) *api.JoinResponse {
	f.t.Helper()
	key, err := pki.NewKey()
	if err != nil {
		f.t.Fatal(err)
	}
	csr, err := pki.NewRequest(key, id)
	if err != nil {
		f.t.Fatal(err)
	}
	answer, err := f.Renew(f.t.Context(), id, role, &api.RenewRequest{CSR: string(csr)})
	if err != nil {
		f.t.Fatal(err)
	}
	return answer
}

// confirm reports that a member uses a certificate of a root.
func (f *founder) confirm(id string, role pki.Role, root string) {
	f.t.Helper()
	if _, err := f.Renew(f.t.Context(), id, role, &api.RenewRequest{Using: root}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *founder) caStatus() *api.CAStatus {
	f.t.Helper()
	status, err := f.CAStatus()
	if err != nil {
		f.t.Fatal(err)
	}
	return status
}

func TestTheRootIsRotated(t *testing.T) {
	f := found(t)
	two := f.request(pki.ServerToken)
	if _, err := f.Join(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	before, tokens := f.caStatus(), f.request(pki.NodeToken).Token
	if err := f.FinishRotation(t.Context()); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("finish without a rotation: %v", err)
	}
	if err := f.RotateCA(t.Context()); err != nil {
		t.Fatal(err)
	}
	during := f.caStatus()
	if len(during.Roots) != 2 || during.Roots[1] != before.Roots[0] || len(during.Waiting) != 2 || during.Rotated == 0 {
		t.Errorf("during the rotation: %+v", during)
	}
	if err := f.RotateCA(t.Context()); api.CodeOf(err) != api.CodeConflict {
		t.Errorf("a second rotation: %v", err)
	}
	if err := f.FinishRotation(t.Context()); api.CodeOf(err) != api.CodeConflict || !strings.Contains(err.Error(), "quorum") {
		t.Errorf("finish before the servers renewed: %v", err)
	}

	// Members that know only the old root accept the new certificates; the old token admits.
	old, ok := f.roots().Pin(before.Roots[0])
	if !ok {
		t.Fatal("the old root is gone")
	}
	answer := f.renew(two.ID, pki.RoleServer)
	chain, err := pki.ParseChain([]byte(answer.Certificate))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Identify(chain, time.Now()); err != nil {
		t.Errorf("the old root does not verify a renewed server: %v", err)
	}
	node := f.request(pki.NodeToken)
	if node.Token != tokens {
		t.Error("the join token changed before the end of the rotation")
	}
	joined, err := f.Join(t.Context(), node)
	if err != nil {
		t.Fatalf("join during the rotation: %v", err)
	}
	if f.rotationIsComplete(time.Now().Add(time.Hour)) {
		t.Error("the rotation is complete without the first server")
	}
	f.renew(f.cfg.Member.ID, pki.RoleServer)
	if left := f.caStatus().Waiting; len(left) != 0 {
		t.Errorf("waiting: %+v", left)
	}
	f.confirm(two.ID, pki.RoleServer, during.Roots[0])
	f.confirm(f.cfg.Member.ID, pki.RoleServer, before.Roots[0]) // the old root
	if f.rotationIsComplete(time.Now()) || !f.rotationIsComplete(time.Now().Add(rotationSettle+time.Second)) {
		t.Error("the old root is dropped some time after the last renewal without a confirmation")
	}
	f.confirm(f.cfg.Member.ID, pki.RoleServer, during.Roots[0])
	if f.rotationIsComplete(time.Now()) {
		t.Error("the old root is dropped before the new node uses its certificate")
	}
	f.confirm(joined.ID, pki.RoleNode, during.Roots[0])
	if !f.rotationIsComplete(time.Now()) {
		t.Error("the old root is kept although all members use certificates of the new one")
	}

	if err := f.FinishRotation(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := f.caStatus()
	if len(after.Roots) != 1 || after.Roots[0] != during.Roots[0] || after.Rotated != 0 {
		t.Errorf("after the rotation: %+v", after)
	}
	for range f.Store().Snapshot().Renewals() {
		t.Error("a record of the rotation is left")
	}
	if _, err := f.Join(t.Context(), node); api.CodeOf(err) != api.CodeForbidden {
		t.Errorf("join with the replaced token: %v", err)
	}
	fresh := f.request(pki.NodeToken)
	if token, err := pki.ParseToken(fresh.Token); err != nil || token.Digest != after.Roots[0] {
		t.Errorf("the new token: %v, digest %s", err, token.Digest)
	}
	if !f.IsOperator(f.operator) {
		t.Error("the operator's token is no longer valid")
	}
	chain, err = pki.ParseChain([]byte(f.renew(two.ID, pki.RoleServer).Certificate))
	if err != nil || len(chain) != 1 {
		t.Errorf("certificates still carry the cross-signed root: %d, %v", len(chain), err)
	}
	if _, err := old.Identify(chain, time.Now()); err == nil {
		t.Error("the old root verifies a certificate after the rotation")
	}
}

func (f *founder) roots() *pki.Roots {
	f.t.Helper()
	ca, err := f.CA()
	if err != nil {
		f.t.Fatal(err)
	}
	roots, err := pki.ParseRoots([]byte(ca.Roots))
	if err != nil {
		f.t.Fatal(err)
	}
	return roots
}
