// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"
)

func namespaceDeleteCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:     "delete NAMESPACE",
		short:   "Delete a namespace without jobs and children",
		example: "reeve namespace delete dev/sandbox",
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "print the response as JSON") },
		run: func(r *call) error {
			resp, err := r.cl.Namespaces().Delete(r.ctx, r.args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.Stdout, resp)
			}
			fmt.Fprintf(c.Stdout, "Deleted namespace %q.\n", r.args[0])
			return nil
		},
	}
}
