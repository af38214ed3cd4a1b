// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/keyring"
)

// A newRecoveryKey is a recovery key with its secret, which only this command has.
type newRecoveryKey struct {
	*api.RecoveryKey
	Secret string
}

func keyringRecoveryKeyCommand(*cli) *command {
	return &command{
		use:   "recovery-key",
		short: "Create the recovery key of the cluster, in place of the earlier one",
		long: `Create a recovery key, and print its secret: it is shown only now, and no server
has it. Keep it away from the servers. With it, "reeve keyring recover" opens
the variables of a snapshot on new machines. It replaces the earlier recovery
key; that one still opens snapshots from before.`,
		example: "reeve keyring recovery-key",
		format:  true,
		strict:  true,
		confirm: func(r *call) (string, error) {
			old, _, err := r.cl.Keyring().RecoveryKey(r.ctx, nil)
			switch {
			case err == nil:
				return "Replace the recovery key " + old.Name + "?", nil
			case api.CodeOf(err) == api.CodeNotFound:
				return "", nil
			}
			return "", err
		},
		run: func(r *call) error {
			recovery, err := keyring.NewRecovery()
			if err != nil {
				return err
			}
			stored, err := r.cl.Keyring().SetRecoveryKey(r.ctx, recovery.Public())
			if err != nil {
				return err
			}
			if stored.Name != keyring.Fingerprint(recovery.Public()) {
				return errors.New("the server stored another recovery key: try again")
			}
			return r.show(&newRecoveryKey{stored, recovery.Text()}, func(p *term.Page) {
				p.Fields(term.Field{"Name", stored.Name}, term.Field{"Secret", recovery.Text()})
				p.Next("The secret is shown only now. Keep it away from the servers: with it and a snapshot,\neverything in variables is readable.")
			})
		},
	}
}
