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
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func nodePoolApplyCommand(c *cli) *command {
	var (
		asJSON bool
		pool   *api.NodePool
	)
	return &command{
		use:   "apply FILE",
		short: "Create or update a node pool from a file",
		long: `Create or update the node pool of a file ("-" is stdin). The file is HCL with
one node_pool block, or JSON with -json or a name that ends in .json. "node pool
init" writes an example.`,
		example: "reeve node pool apply gpu.hcl",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "read the file as JSON, like the HTTP API")
		},
		check: func(r *call) error {
			var err error
			if pool, err = c.readPool(r.args[0], asJSON || strings.HasSuffix(r.args[0], ".json")); err != nil {
				return err
			}
			return pool.Validate()
		},
		run: func(r *call) error {
			if _, err := r.cl.NodePools().Put(r.ctx, pool); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Applied node pool %q from %s.\n", pool.Name, r.args[0])
			return nil
		},
	}
}

func nodePoolDeleteCommand(c *cli) *command {
	return &command{
		use:   "delete POOL",
		short: "Delete a node pool without nodes and jobs",
		run: func(r *call) error {
			if _, err := r.cl.NodePools().Delete(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted node pool %q.\n", r.args[0])
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
		return nil, fmt.Errorf("read node pool from %s: %w", name, diags)
	}
	if len(f.Pools) != 1 {
		return nil, fmt.Errorf("read node pool from %s: want one node_pool block, found %d", name, len(f.Pools))
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
