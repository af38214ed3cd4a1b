// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func nodePoolApplyCommand(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Make or change a node pool as a file says",
		Long: `Makes the node pool that the file ("-" is stdin) describes, or changes it. The
file is HCL with one node_pool block, or JSON with -json or a name ending in
.json; "node pool init" writes an example.`,
		Example: "reeve node pool apply gpu.hcl",
		Args:    exactly(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pool, err := c.readPool(args[0], asJSON || strings.HasSuffix(args[0], ".json"))
			if err != nil {
				return err
			}
			if err := pool.Validate(); err != nil {
				return err
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if _, err := cl.NodePools().Put(cmd.Context(), pool); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node pool %q is as %s says.\n", pool.Name, args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "the file is JSON, as the HTTP API has it")
	return cmd
}

func nodePoolDeleteCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "delete POOL",
		Short: "Delete a node pool that has neither nodes nor jobs",
		Args:  exactly(1, "POOL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if _, err := cl.NodePools().Delete(cmd.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node pool %q is deleted.\n", args[0])
			return nil
		},
	}
}

func (c *cli) readPool(name string, asJSON bool) (*api.NodePool, error) {
	var text []byte
	var err error
	if name == "-" {
		name = "<stdin>"
		text, err = io.ReadAll(c.Stdin)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	if !asJSON {
		return parsePool(name, text)
	}
	pool := new(api.NodePool)
	if _, err := api.DecodeJSON(text, pool); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return pool, nil
}

// poolFile is the HCL form of a node pool.
type poolFile struct {
	Pools []struct {
		Name        string `hcl:"name,label"`
		Description string `hcl:"description,optional"`
		Meta        *struct {
			Rest hcl.Attributes `hcl:",remain"`
		} `hcl:"meta,block"`
		Scheduler *struct {
			Algorithm        string `hcl:"scheduler_algorithm,optional"`
			Oversubscription *bool  `hcl:"memory_oversubscription_enabled,optional"`
		} `hcl:"scheduler_config,block"`
	} `hcl:"node_pool,block"`
}

func parsePool(name string, text []byte) (*api.NodePool, error) {
	parser := hclparse.NewParser()
	file, diags := parser.ParseHCL(text, name)
	var f poolFile
	if !diags.HasErrors() {
		diags = gohcl.DecodeBody(file.Body, nil, &f)
	}
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s is not a node pool's file: %w", name, diags)
	}
	if len(f.Pools) != 1 {
		return nil, fmt.Errorf("%s: there must be one node_pool block, and there are %d", name, len(f.Pools))
	}
	in := f.Pools[0]
	pool := &api.NodePool{Name: in.Name, Description: in.Description}
	if in.Meta != nil {
		pool.Meta = map[string]string{}
		for key, attribute := range in.Meta.Rest {
			var value string
			if diags := gohcl.DecodeExpression(attribute.Expr, nil, &value); diags.HasErrors() {
				return nil, fmt.Errorf("%s: meta %s: %w", name, key, diags)
			}
			pool.Meta[key] = value
		}
	}
	if s := in.Scheduler; s != nil {
		pool.SchedulerConfig = &api.NodePoolSchedulerConfig{Algorithm: s.Algorithm, MemoryOversubscriptionEnabled: s.Oversubscription}
	}
	return pool, nil
}
