// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	_ "embed"

	"github.com/spf13/pflag"
)

// Examples that "node pool init" writes.
var (
	//go:embed example_pool.hcl
	examplePool []byte
	//go:embed example_pool.json
	examplePoolJSON []byte
)

func nodePoolInitCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:   "init [FILE]",
		short: "Write an example node pool file",
		long: `Write an example node pool file (default: "pool.nomad.hcl", or "pool.nomad.json"
with -json). "node pool apply" creates the pool. The command does not overwrite
files.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "write JSON")
		},
		offline: true,
		run: func(r *call) error {
			name, text := "pool.nomad.hcl", examplePool
			if asJSON {
				name, text = "pool.nomad.json", examplePoolJSON
			}
			if len(r.args) == 1 {
				name = r.args[0]
			}
			return c.writeNew(name, text)
		},
	}
}
