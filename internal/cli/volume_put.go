// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// Examples that "volume init" writes.
var (
	//go:embed example_volume.hcl
	exampleVolume []byte
	//go:embed example_volume.json
	exampleVolumeJSON []byte
)

func volumeInitCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:   "init [FILE]",
		short: "Write an example volume file",
		long: `Write an example volume file (default: "volume.hcl", or "volume.json" with
-json). "volume create" creates the volume. The command overwrites no file.`,
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "write JSON") },
		offline: true,
		run: func(r *call) error {
			name, text := "volume.hcl", exampleVolume
			if asJSON {
				name, text = "volume.json", exampleVolumeJSON
			}
			if len(r.args) == 1 {
				name = r.args[0]
			}
			return c.writeNew(name, text)
		},
	}
}

func volumeCreateCommand(c *cli) *command {
	return c.volumePut("create FILE", "Create a volume on a node", `Create the volume of a file ("-" is stdin) on a node, and wait until it is
ready. The file is HCL, or JSON with -json or a name that ends in .json. Reeve
chooses the node by node_id, node_pool, the constraint blocks and the free disk.
With the id of a volume, the command changes its capacity and capabilities.`,
		"reeve volume create examples/volume-create.hcl", "Created", false)
}

func volumeRegisterCommand(c *cli) *command {
	return c.volumePut("register FILE", "Register a directory of a node as a volume", `Register an existing directory as a volume: the file ("-" is stdin) names it
with node_id and host_path. Reeve never deletes the directory.`,
		"reeve volume register data.hcl", "Registered", true)
}

func (c *cli) volumePut(use, short, long, example, done string, register bool) *command {
	var asJSON, detach bool
	return &command{
		use: use, short: short, long: long, example: example, limit: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&asJSON, "json", false, "read the file as JSON, like the HTTP API")
			f.BoolVar(&detach, "detach", false, "return before the volume is ready")
		},
		run: func(r *call) error {
			v, err := readObject(c, "volume", r.args[0], asJSON || strings.HasSuffix(r.args[0], ".json"), parseVolume)
			if err != nil {
				return err
			}
			put := r.cl.Volumes().Create
			if register {
				put = r.cl.Volumes().Register
			}
			answer, err := put(r.ctx, v)
			if err != nil {
				return err
			}
			v = answer.Volume
			if v.CreateIndex != v.ModifyIndex {
				done = "Changed"
			}
			fmt.Fprintf(c.Stdout, "%s volume %q with ID %s on node %s.\n", done, v.Name, v.ID, api.ShortID(v.NodeID))
			if detach {
				return nil
			}
			within, cancel := r.limited()
			defer cancel()
			return c.awaitVolume(within.ctx, r.cl, v)
		},
	}
}

// awaitVolume waits until a volume is ready, or its node has failed to create it.
func (c *cli) awaitVolume(ctx context.Context, cl *client.Client, v *api.HostVolume) error {
	q := &client.QueryOptions{Wait: time.Minute}
	for {
		now, meta, err := cl.Volumes().Get(ctx, v.ID, q)
		switch {
		case err != nil:
			return err
		case now.State == api.HostVolumeReady && now.Generation >= v.Generation:
			fmt.Fprintf(c.Stdout, "It is ready at %s.\n", now.HostPath)
			return nil
		case now.Message != "":
			return api.Errorf(api.CodeConflict, "volume %q is %s: %s; its node tries again; delete the volume with: reeve volume delete %s", v.Name, now.State, now.Message, api.ShortID(v.ID))
		}
		q.Index = meta.Index
	}
}
