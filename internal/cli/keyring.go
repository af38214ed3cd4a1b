// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func keyringCommand(*cli) *command {
	return &command{
		use:   "keyring",
		short: "List, rotate and recover the keys that encrypt variables",
		long: `Root keys encrypt the variables of the cluster. The servers share them, sealed
with a key that only they have, and make a new one active every 30 days. On new
machines, only the recovery key opens the root keys of a snapshot. See
docs/variables.md.`,
		verbs: []constructor{keyringListCommand, keyringRotateCommand, keyringDeleteCommand, keyringRecoveryKeyCommand, keyringRecoverCommand},
	}
}
