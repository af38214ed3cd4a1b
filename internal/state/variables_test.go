// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func (s *tester) variable(namespace, path string) *Variable {
	s.t.Helper()
	v := s.Snapshot().Variable(namespace, path)
	if v == nil {
		s.t.Fatalf("variable %s does not exist", path)
	}
	return v
}

func encrypted(namespace, path, key string, modified int64) *Variable {
	return &Variable{VariableMetadata: api.VariableMetadata{Namespace: namespace, Path: path, ModifyTime: modified}, KeyID: key, Data: []byte(key)}
}

func TestAVariableInAnotherEncryptionIsTheSame(t *testing.T) {
	s := newTester(t)
	s.do(PutRootKey(&RootKey{KeyID: "k1", State: api.RootKeyActive}, 0))
	s.do(PutRootKey(&RootKey{KeyID: "k2", State: api.RootKeyInactive}, 0))
	s.do(PutVariable(encrypted("default", "a", "k1", 100), 0))
	before := s.variable("default", "a")
	s.do(PutVariable(encrypted("default", "a", "k2", 100), before.ModifyIndex))
	if again := s.variable("default", "a"); again.ModifyIndex != before.ModifyIndex || again.KeyID != "k2" || again.CreateIndex != before.CreateIndex {
		t.Errorf("after another encryption: %+v, before: %+v", again, before)
	}
	if found := slices.Collect(s.Snapshot().VariablesOfKey("k1")); len(found) != 0 {
		t.Errorf("the earlier key still encrypts %v", found)
	}
	s.refuse(api.CodeConflict, "modify index", PutVariable(encrypted("default", "a", "k2", 101), before.ModifyIndex+1))
	s.do(PutVariable(encrypted("default", "a", "k2", 101), before.ModifyIndex))
	if changed := s.variable("default", "a"); changed.ModifyIndex != s.Index() || changed.CreateIndex != before.CreateIndex {
		t.Errorf("after a change: %+v at index %d", changed, s.Index())
	}
}

func TestKeysAndNamespacesOfVariablesStay(t *testing.T) {
	s := newTester(t)
	s.do(PutNamespace(&api.Namespace{Name: "dev"}, nil))
	s.do(PutRootKey(&RootKey{KeyID: "k1", State: api.RootKeyInactive}, 0))
	key := s.Snapshot().RootKey("k1")
	s.do(PutVariable(encrypted("dev", "a", "k1", 1), 0))
	s.refuse(api.CodeConflict, "encrypts 1 variables", DeleteRootKey("k1", key.ModifyIndex))
	s.refuse(api.CodeConflict, "reeve var delete -namespace dev a", DeleteNamespace("dev", nil))
	s.refuse(api.CodeInvalid, `namespace "none" does not exist`, PutVariable(encrypted("none", "a", "k1", 1), 0))
	s.refuse(api.CodeConflict, "root key k2 was deleted", PutVariable(encrypted("dev", "b", "k2", 1), 0))
	s.do(DeleteVariable("dev", "a", s.variable("dev", "a").ModifyIndex))
	s.do(DeleteNamespace("dev", nil))
	s.do(DeleteRootKey("k1", key.ModifyIndex))
	s.do(PutRootKey(&RootKey{KeyID: "k3", State: api.RootKeyActive}, 0))
	s.refuse(api.CodeConflict, "is active", DeleteRootKey("k3", s.Index()))
	if active := s.Snapshot().ActiveRootKey(); active == nil || active.KeyID != "k3" {
		t.Errorf("the active key is %v", active)
	}
}
