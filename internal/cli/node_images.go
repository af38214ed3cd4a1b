// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func nodeImagesCommand(c *cli) *command {
	var (
		node string
		wide bool
	)
	return &command{
		use:   "images [VERB]",
		short: "List the images of a node's containers and why it keeps them, or remove the unneeded",
		long: `Without a verb: lists the images that a node keeps, with the jobs that use
them, and what the next collection removes. The node is the one of the contacted
agent, or that of -node.

The verb gc removes immediately, although the disk has room, every image that no
allocation of the node and no registered job needs. While the servers do not
answer, it keeps each image that a job may need.`,
		example: "reeve node images\nreeve node images -node worker-3 -json\nreeve node images gc -node worker-3",
		format:  true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&node, "node", "", "select the node with this `ID` or name")
			f.BoolVar(&wide, "verbose", false, "show full digests, and all names and users")
		},
		check: func(r *call) error {
			if verb := r.arg(0); verb != "" && verb != "gc" {
				return usagef("unknown verb %q of images: the only one is gc", verb)
			}
			return nil
		},
		run: func(r *call) error {
			id := node
			if node != "" {
				var err error
				if id, err = c.resolveNode(r.ctx, r.cl, node); err != nil {
					return err
				}
			}
			if r.arg(0) == "gc" {
				return r.collectImages(id)
			}
			list, err := r.cl.Nodes().Images(r.ctx, id)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) { view.NodeImages(p, list, wide) })
		},
	}
}

func (r *call) collectImages(id string) error {
	list, err := r.cl.Nodes().CollectImages(r.ctx, id)
	if err != nil {
		return err
	}
	return r.show(list, func(p *term.Page) {
		view.CollectedImages(p, list)
		if len(list.Images) > 0 {
			node := api.ShortID(list.NodeID)
			p.Next("reeve node images -node " + node + "  # why the others stay")
		}
	})
}
