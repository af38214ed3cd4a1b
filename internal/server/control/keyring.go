// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"log/slog"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

const (
	// RootKeyLife is how long a root key is active. Its successor is published in the middle of it.
	RootKeyLife = 720 * time.Hour
	// rekeyBatch bounds the variables that one pass encrypts with another key, so that writes go on
	// beside it, and rekeyPause is between two passes.
	rekeyBatch   = 32
	rekeyPause   = 20 * time.Millisecond
	keyringRetry = time.Minute // after a key cannot be created or opened
	keyringLook  = time.Hour
	keyringLevel = 3 // feature level of root keys
	keyringKey   = "keyring"
)

// A Sealer has the key of the cluster.
type Sealer interface {
	NewRootKey(v *state.Snapshot, status string, created, published time.Time) (*state.RootKey, error)
	// ForRecovery returns the key sealed for the present recovery key; nil if it is.
	ForRecovery(v *state.Snapshot, k *state.RootKey) (*state.RootKey, error)
	// Reencrypt returns the variable encrypted with the active key.
	Reencrypt(v *state.Snapshot, variable *state.Variable) (*state.Variable, error)
}

// rootKeys creates, replaces and deletes root keys, and encrypts variables again when an operator
// requested it.
type rootKeys struct {
	sealer Sealer
	log    *slog.Logger
	failed string // what was logged last
}

// NewRootKeys returns the controller of root keys. It has one key.
func NewRootKeys(sealer Sealer, log *slog.Logger) Controller {
	return &rootKeys{sealer: sealer, log: log}
}

func (*rootKeys) Name() string                 { return "root keys" }
func (*rootKeys) All(*state.Snapshot) []string { return []string{keyringKey} }

func (*rootKeys) Touched(c *state.Change, add func(string)) {
	switch c.Table {
	case state.TableRootKeys, state.TableRecoveryKeys:
		add(keyringKey)
	}
}

func (r *rootKeys) Act(snap *state.Snapshot, _ string, now time.Time) ([]state.Command, time.Time) {
	if snap.Level() < keyringLevel {
		return nil, now.Add(keyringRetry)
	}
	cmds, wake, err := r.act(snap, now)
	if err == nil {
		r.failed = ""
		return cmds, wake
	}
	if err.Error() != r.failed {
		r.failed = err.Error()
		r.log.Error("the keyring needs attention: reeve keyring list", "error", err)
	}
	return nil, now.Add(keyringRetry)
}

func (r *rootKeys) act(snap *state.Snapshot, now time.Time) ([]state.Command, time.Time, error) {
	active := snap.ActiveRootKey()
	if active == nil {
		created, err := r.sealer.NewRootKey(snap, api.RootKeyActive, now, now)
		if err != nil {
			return nil, time.Time{}, err
		}
		return []state.Command{state.PutRootKey(created, 0)}, time.Time{}, nil
	}
	var rekeying *state.RootKey
	successor := false
	for k := range snap.RootKeys() {
		if sealed, err := r.sealer.ForRecovery(snap, k); err == nil && sealed != nil {
			return []state.Command{state.PutRootKey(sealed, k.ModifyIndex)}, time.Time{}, nil
		}
		switch k.State {
		case api.RootKeyPrepublished:
			successor = true
			if !now.Before(time.Unix(0, k.PublishTime)) {
				return []state.Command{changedKey(active, api.RootKeyInactive), changedKey(k, api.RootKeyActive)}, time.Time{}, nil
			}
		case api.RootKeyRekeying:
			rekeying = k
		case api.RootKeyActive:
			if k.KeyID != active.KeyID { // a rotation was interrupted
				older := k
				if k.PublishTime > active.PublishTime {
					older = active
				}
				return []state.Command{changedKey(older, api.RootKeyInactive)}, time.Time{}, nil
			}
		case api.RootKeyInactive:
			if isForgotten(snap, k, now) {
				return []state.Command{state.DeleteRootKey(k.KeyID, k.ModifyIndex)}, time.Time{}, nil
			}
		}
	}
	if rekeying != nil {
		return r.rekey(snap, rekeying, now)
	}
	began := time.Unix(0, active.PublishTime)
	if !successor && !now.Before(began.Add(RootKeyLife/2)) {
		publish := began.Add(RootKeyLife)
		if publish.Before(now) {
			publish = now
		}
		next, err := r.sealer.NewRootKey(snap, api.RootKeyPrepublished, now, publish)
		if err != nil {
			return nil, time.Time{}, err
		}
		return []state.Command{state.PutRootKey(next, 0)}, time.Time{}, nil
	}
	return nil, now.Add(keyringLook), nil
}

// rekey encrypts some variables of a key with the active one.
func (r *rootKeys) rekey(snap *state.Snapshot, k *state.RootKey, now time.Time) ([]state.Command, time.Time, error) {
	var cmds []state.Command
	for variable := range snap.VariablesOfKey(k.KeyID) {
		again, err := r.sealer.Reencrypt(snap, variable)
		if err != nil {
			return nil, time.Time{}, err
		}
		if cmds = append(cmds, state.PutVariable(again, variable.ModifyIndex)); len(cmds) == rekeyBatch {
			break
		}
	}
	if len(cmds) == 0 {
		return []state.Command{changedKey(k, api.RootKeyInactive)}, time.Time{}, nil
	}
	return cmds, now.Add(rekeyPause), nil
}

func changedKey(k *state.RootKey, status string) state.Command {
	changed := *k
	changed.State = status
	return state.PutRootKey(&changed, k.ModifyIndex)
}

// isForgotten reports whether nothing needs a key: it encrypts no variable, and what it signed while it
// was active has expired, or ended with its allocation.
func isForgotten(snap *state.Snapshot, k *state.RootKey, now time.Time) bool {
	if now.Before(time.Unix(0, k.PublishTime).Add(2*RootKeyLife + keyringLook)) {
		return false
	}
	for range snap.VariablesOfKey(k.KeyID) {
		return false
	}
	for job := range snap.Jobs() {
		if hasLastingIdentity(job) && holdsIdentity(snap, job, time.Unix(0, k.PublishTime).Add(RootKeyLife+keyringLook)) {
			return false
		}
	}
	return true
}

// hasLastingIdentity reports whether a task of the job receives a token that is never renewed.
func hasLastingIdentity(job *api.Job) bool {
	for _, g := range job.Groups {
		for _, t := range g.Tasks {
			for _, i := range t.AllIdentities() {
				if i.TTL <= 0 && (i.Env || i.HasFile()) {
					return true
				}
			}
		}
	}
	return false
}

// holdsIdentity reports whether an allocation of the job runs that began before a time.
func holdsIdentity(snap *state.Snapshot, job *api.Job, before time.Time) bool {
	for a := range snap.AllocationsByJob(job.Namespace, job.ID) {
		if !a.IsTerminal() && a.CreateTime < before.UnixNano() {
			return true
		}
	}
	return false
}
