// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/keyring"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// DescribeRootKey returns what callers see of a root key.
func (s *Server) DescribeRootKey(v *state.Snapshot, k *state.RootKey) *api.RootKey {
	shown := &api.RootKey{
		KeyID: k.KeyID, Algorithm: k.Algorithm, State: k.State, CreateTime: k.CreateTime, PublishTime: k.PublishTime,
		Recovery: k.RecoveredBy, CreateIndex: k.CreateIndex, ModifyIndex: k.ModifyIndex,
	}
	for range v.VariablesOfKey(k.KeyID) {
		shown.Variables++
	}
	if _, err := s.rootKey(v, k.KeyID); err != nil {
		shown.Problem = err.Error()
	}
	return shown
}

// RotateRootKey makes a new root key active, immediately or, if publish is set, at that time. full also
// encrypts all variables with it, in the background.
func (s *Server) RotateRootKey(ctx context.Context, full bool, publish time.Time) (*api.RootKey, uint64, error) {
	if !s.IsLeader() {
		return nil, 0, errNoLeader
	}
	now := time.Now()
	switch {
	case publish.IsZero():
		publish = now
	case full:
		return nil, 0, api.Errorf(api.CodeInvalid, "publish_time: a full rotation begins immediately; remove it, or full")
	case publish.Before(now) || publish.After(now.Add(control.RootKeyLife)):
		return nil, 0, api.Errorf(api.CodeInvalid, "publish_time: must be within the next %s", control.RootKeyLife)
	}
	v := s.store.Snapshot()
	if _, err := s.activeKey(v); err != nil && full {
		return nil, 0, err
	}
	status := api.RootKeyActive
	if publish.After(now) {
		status = api.RootKeyPrepublished
	}
	next, err := s.NewRootKey(v, status, now, publish)
	if err != nil {
		return nil, 0, err
	}
	cmds := []state.Command{state.PutRootKey(next, 0)}
	for k := range v.RootKeys() {
		was := *k
		switch {
		case k.State == api.RootKeyPrepublished:
			was.State = api.RootKeyInactive // the new one takes its place
		case status == api.RootKeyPrepublished, k.State == api.RootKeyRekeying, !full && k.State == api.RootKeyInactive:
			continue
		case full:
			was.State = api.RootKeyRekeying
		default:
			was.State = api.RootKeyInactive
		}
		if was.State != k.State {
			cmds = append(cmds, state.PutRootKey(&was, k.ModifyIndex))
		}
	}
	index, err := s.propose(ctx, cmds...)
	if err != nil {
		return nil, 0, err
	}
	v = s.store.Snapshot()
	s.cfg.Logger.Info("a root key was created", "id", next.KeyID, "state", status, "full", full)
	if stored := v.RootKey(next.KeyID); stored != nil {
		next = stored
	}
	return s.DescribeRootKey(v, next), index, nil
}

// DeleteRootKey deletes a root key that encrypts nothing. force also deletes the variables that it
// encrypts: without the key, they could not be read.
func (s *Server) DeleteRootKey(ctx context.Context, id string, force bool) (uint64, error) {
	v := s.store.Snapshot()
	k := v.RootKey(id)
	if k == nil {
		return 0, api.Errorf(api.CodeNotFound, "root key %.64q not found", id)
	}
	if k.State == api.RootKeyActive {
		return 0, api.Errorf(api.CodeConflict, "root key %s is active: replace it first with: reeve keyring rotate", id)
	}
	if force {
		for variable := range v.VariablesOfKey(id) {
			if _, err := s.propose(ctx, state.DeleteVariable(variable.Namespace, variable.Path, variable.ModifyIndex)); err != nil && api.CodeOf(err) != api.CodeConflict && api.CodeOf(err) != api.CodeNotFound {
				return 0, err
			}
		}
	}
	index, err := s.propose(ctx, state.DeleteRootKey(id, k.ModifyIndex))
	if err == nil {
		s.cfg.Logger.Warn("a root key was deleted", "id", id, "force", force)
	}
	return index, err
}

// SetRecoveryKey stores the public key of a new recovery key, and seals all root keys for it. The
// earlier one opens later root keys no longer.
func (s *Server) SetRecoveryKey(ctx context.Context, public []byte) (*api.RecoveryKey, uint64, error) {
	if !s.IsLeader() {
		return nil, 0, errNoLeader
	}
	v := s.store.Snapshot()
	if _, err := keyring.New("").SealFor(public); err != nil {
		return nil, 0, api.Errorf(api.CodeInvalid, "PublicKey: is not an X25519 key; let the command create it: reeve keyring recovery-key")
	}
	recovery, stored := &api.RecoveryKey{Name: keyring.Fingerprint(public), PublicKey: public, CreateTime: time.Now().UnixNano()}, uint64(0)
	if old := v.RecoveryKey(); old != nil {
		stored = old.ModifyIndex
	}
	cmds := []state.Command{state.PutRecoveryKey(recovery, stored)}
	for k := range v.RootKeys() {
		key, err := s.rootKey(v, k.KeyID)
		if err != nil {
			continue // the keyring's list says why
		}
		sealed := *k
		if err := sealForRecovery(key, &sealed, recovery); err != nil {
			return nil, 0, err
		}
		cmds = append(cmds, state.PutRootKey(&sealed, k.ModifyIndex))
	}
	index, err := s.propose(ctx, cmds...)
	if err != nil {
		return nil, 0, err
	}
	s.cfg.Logger.Info("the recovery key was replaced", "name", recovery.Name)
	return recovery, index, nil
}

// RecoverKeyring opens root keys that other machines sealed, and seals them with the key of this
// cluster.
func (s *Server) RecoverKeyring(ctx context.Context, text string) (*api.RecoverKeyringResponse, error) {
	if !s.IsLeader() {
		return nil, errNoLeader
	}
	recovery, err := keyring.ParseRecovery(text)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "RecoveryKey: %v", err)
	}
	v := s.store.Snapshot()
	clusterKey, err := s.clusterKey(v)
	if err != nil {
		return nil, err
	}
	name, sealedWith := keyring.Fingerprint(recovery.Public()), keyring.Fingerprint(clusterKey)
	answer := &api.RecoverKeyringResponse{Recovered: []string{}, Failed: []string{}}
	var cmds []state.Command
	for k := range v.RootKeys() {
		if k.SealedWith == sealedWith {
			continue
		}
		key, err := openRecovery(recovery, name, k)
		if err != nil {
			answer.Failed = append(answer.Failed, fmt.Sprintf("root key %s: %v", k.KeyID, err))
			continue
		}
		sealed := *k
		sealed.Sealed, sealed.SealedWith = key.Seal(clusterKey), sealedWith
		cmds = append(cmds, state.PutRootKey(&sealed, k.ModifyIndex))
		answer.Recovered = append(answer.Recovered, k.KeyID)
	}
	if len(cmds) == 0 {
		return answer, nil
	}
	answer.Index, err = s.propose(ctx, cmds...)
	if err != nil {
		return nil, err
	}
	s.cfg.Logger.Warn("root keys were recovered", "keys", answer.Recovered, "failed", len(answer.Failed))
	return answer, nil
}

func openRecovery(recovery *keyring.Recovery, name string, k *state.RootKey) (*keyring.RootKey, error) {
	switch k.RecoveredBy {
	case name:
		return recovery.Open(k.KeyID, k.Recovery)
	case "":
		return nil, fmt.Errorf("it was created before there was a recovery key")
	}
	return nil, fmt.Errorf("it is sealed for the recovery key %s, and this is %s", k.RecoveredBy, name)
}
