// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func quotaApplyCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:   "apply FILE",
		short: "Create or change a quota from a file",
		long: `Create the quota of a file ("-" is stdin), or replace it. The file is HCL, or
JSON with -json or a name that ends in .json. "quota init" writes an example. A
limit below the present usage stops nothing, but no further instance is placed.`,
		example: "reeve quota apply examples/quota.hcl",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "read the file as JSON, like the HTTP API")
		},
		run: func(r *call) error {
			q, err := readObject(c, "quota", r.args[0], asJSON || strings.HasSuffix(r.args[0], ".json"), parseQuota)
			if err != nil {
				return err
			}
			if err := q.Validate(); err != nil {
				return err
			}
			stored, _, err := r.cl.Quotas().Get(r.ctx, q.Name, nil)
			if err != nil && api.CodeOf(err) != api.CodeNotFound {
				return err
			}
			if _, err := r.cl.Quotas().Put(r.ctx, q); err != nil {
				return err
			}
			if stored != nil {
				fmt.Fprintf(c.Stdout, "Changed quota %q.\n", q.Name)
				return nil
			}
			fmt.Fprintf(c.Stdout, "Created quota %q.\nLet it limit a namespace:  reeve namespace apply -quota %s NAMESPACE\n", q.Name, q.Name)
			return nil
		},
	}
}
