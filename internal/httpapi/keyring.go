// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

var rootKeysInOrder = order[*state.RootKey]{
	key:  func(k *state.RootKey) key { return key{id: k.KeyID} },
	seen: func(c *call, k *state.RootKey) any { return c.Server.DescribeRootKey(c.Server.Store().Snapshot(), k) },
}

func listRootKeys(c *call, v *state.Snapshot) iter.Seq[*state.RootKey] {
	return rootKeysFrom(v, c.prefix)
}

func rootKeysFrom(v *state.Snapshot, prefix string) iter.Seq[*state.RootKey] {
	return where(v.RootKeys(), func(k *state.RootKey) bool { return strings.HasPrefix(k.KeyID, prefix) })
}

func showRootKey(c *call, v *state.Snapshot, k *state.RootKey) *api.RootKey {
	return c.Server.DescribeRootKey(v, k)
}

func rotateKeyring(c *call, _ *none) (*api.KeyringRotateResponse, uint64, error) {
	full, err := c.flag("full")
	if err != nil {
		return nil, 0, err
	}
	if algorithm := c.query.Get("algo"); algorithm != "" && algorithm != api.RootKeyAES256GCM {
		return nil, 0, api.Errorf(api.CodeInvalid, "algo: %.64q is not %s, the only algorithm", algorithm, api.RootKeyAES256GCM)
	}
	var publish time.Time
	at, err := c.number("publish_time")
	switch {
	case err != nil:
		return nil, 0, err
	case at > 1<<62:
		return nil, 0, api.Errorf(api.CodeInvalid, "publish_time: is too far in the future: it is a Unix time in nanoseconds")
	case at > 0:
		publish = time.Unix(0, int64(at))
	}
	k, index, err := c.Server.RotateRootKey(c.r.Context(), full, publish)
	return &api.KeyringRotateResponse{Key: k, Index: index}, index, err
}

func deleteRootKey(c *call, _ *none) (*api.IndexResponse, uint64, error) {
	force, err := c.flag("force")
	if err != nil {
		return nil, 0, err
	}
	if r := c.rights(); force && r != nil && !r.ACL.IsManagement() {
		return nil, 0, c.forbidden("force deletes variables of all namespaces, so only management tokens may use it")
	}
	id := c.id()
	found := slices.Collect(rootKeysFrom(c.Server.Store().Snapshot(), id))
	switch {
	case len(found) == 1:
		id = found[0].KeyID
	case len(found) > 1:
		return nil, 0, api.Errorf(api.CodeInvalid, "root key %.64q is ambiguous: give more of its id", id)
	}
	index, err := c.Server.DeleteRootKey(c.r.Context(), id, force)
	return &api.IndexResponse{Index: index}, index, err
}

func getRecoveryKey(c *call, v *state.Snapshot) (*api.RecoveryKey, uint64, error) {
	k, err := orNotFound(v.RecoveryKey(), "recovery key not found: the cluster has none; create one with: reeve keyring recovery-key")
	if err != nil {
		return nil, v.TableIndex(c.route.Tables...), err
	}
	return k, k.ModifyIndex, nil
}

func putRecoveryKey(c *call, k *api.RecoveryKey) (*api.RecoveryKey, uint64, error) {
	return c.Server.SetRecoveryKey(c.r.Context(), k.PublicKey)
}

func recoverKeyring(c *call, r *api.RecoverKeyringRequest) (*api.RecoverKeyringResponse, uint64, error) {
	answer, err := c.Server.RecoverKeyring(c.r.Context(), r.RecoveryKey)
	if err != nil {
		return nil, 0, err
	}
	return answer, answer.Index, nil
}
