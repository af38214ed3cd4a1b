// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func goldenRootKey() *RootKey {
	return &RootKey{
		KeyID: "99999999-0000-4000-8000-000000000009", Algorithm: api.RootKeyAES256GCM, State: api.RootKeyActive, CreateTime: 1_790_000_000_000_000_000,
		PublishTime: 1_790_000_000_000_000_000, Sealed: []byte{1, 2}, SealedWith: "00ff", Recovery: []byte{3, 4}, RecoveredBy: "11ee",
	}
}

func goldenRecoveryKey() *api.RecoveryKey {
	return &api.RecoveryKey{Name: "11ee", PublicKey: []byte{5, 6}, CreateTime: 1_790_000_000_000_000_000}
}

func goldenVariable() *Variable {
	return &Variable{
		VariableMetadata: api.VariableMetadata{
			Namespace: "default", Path: "shop/db", CreateTime: 1_790_000_000_000_000_000, ModifyTime: 1_790_000_001_000_000_000,
			Lock: &api.VariableLock{ID: "aaaaaaaa-0000-4000-8000-00000000000a", TTL: "15s", LockDelay: "15s"},
		},
		KeyID: goldenRootKey().KeyID, Data: []byte{7, 8}, LockedUntil: 1_790_000_002_000_000_000,
	}
}

// secretsStore holds what the format learned to hold with variables and root keys.
func secretsStore(t testing.TB) *Store {
	s := New()
	for i, c := range []Command{PutRecoveryKey(goldenRecoveryKey(), 0), PutRootKey(goldenRootKey(), 0), PutVariable(goldenVariable(), 0)} {
		must(t, s.Apply(uint64(5+i), []Command{c}))
	}
	return s
}
