// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	_ "embed"

	"github.com/spf13/cobra"
)

// The examples that "node pool init" writes.
var (
	//go:embed example_pool.hcl
	examplePool []byte
	//go:embed example_pool.json
	examplePoolJSON []byte
)

func nodePoolInitCommand(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write an example of a node pool's file",
		Long: `Writes an example, "pool.nomad.hcl" (or "pool.nomad.json" with -json) when no
name is given. "node pool apply" makes the pool. An existing file is left alone.`,
		Args: atMost(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			name, text := "pool.nomad.hcl", examplePool
			if asJSON {
				name, text = "pool.nomad.json", examplePoolJSON
			}
			if len(args) == 1 {
				name = args[0]
			}
			return c.writeNew(name, text)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}
