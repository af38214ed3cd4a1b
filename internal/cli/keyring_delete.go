// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

func keyringDeleteCommand(c *cli) *command {
	var asJSON, force bool
	return &command{
		use:     "delete KEY-ID",
		aliases: []string{"remove"},
		short:   "Delete a root key that encrypts nothing",
		long: `Delete a root key that encrypts nothing. With -force, also delete the variables
that it encrypts, for example because the recovery key is lost.`,
		example: "reeve keyring delete 3f2a1c07",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "print the response as JSON")
			f.BoolVar(&force, "force", false, "also delete the variables that the key encrypts")
		},
		strict: true,
		confirm: func(r *call) (string, error) {
			if !force {
				return "", nil
			}
			return fmt.Sprintf("Delete root key %s, with all variables that it encrypts?", r.args[0]), nil
		},
		run: func(r *call) error {
			resp, err := r.cl.Keyring().Delete(r.ctx, r.args[0], force)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.Stdout, resp)
			}
			fmt.Fprintf(c.Stdout, "Deleted root key %s.\n", r.args[0])
			return nil
		},
	}
}
