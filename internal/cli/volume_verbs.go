// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func volumeStatusCommand(*cli) *command {
	var node, pool string
	var q client.QueryOptions
	return &command{
		use:   "status [VOLUME]",
		short: "List volumes, or show one with the allocations that use it",
		example: `reeve volume status
reeve volume status -node-pool edge
reeve volume status 4f2a9c01
reeve volume status data`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
			f.StringVar(&node, "node", "", "list only volumes on the node whose id begins with `ID`")
			f.StringVar(&pool, "node-pool", "", "list only volumes on nodes of the pool `POOL`")
		},
		run: func(r *call) error {
			if len(r.args) == 1 {
				v, err := r.volumeArgument(r.args[0])
				if err != nil {
					return err
				}
				return r.show(v, func(p *term.Page) { view.HostVolume(p, v) })
			}
			q.Params = url.Values{"type": {api.VolumeTypeHost}, "node_id": {node}, "node_pool": {pool}}
			list, err := listAll(r.ctx, q, r.cl.Volumes().List)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) { view.HostVolumes(p, list) })
		},
	}
}

func volumeDeleteCommand(c *cli) *command {
	var force bool
	return &command{
		use:   "delete VOLUME",
		short: "Delete a volume and its data",
		long: `Delete a volume that no allocation uses, with its data, and wait until its node
has done it. Of a registered volume only the record is deleted, and not the
directory. With -force, a volume of a node that does not answer is forgotten:
its data stays on the node.`,
		example: "reeve volume delete 4f2a9c01\nreeve volume delete data",
		limit:   true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&force, "force", false, "forget the volume if its node does not answer")
		},
		confirm: func(r *call) (string, error) {
			return fmt.Sprintf("Delete volume %s with its data?", r.args[0]), nil
		},
		run: func(r *call) error {
			v, err := r.volumeArgument(r.args[0])
			if err != nil {
				return err
			}
			if _, err := r.cl.Volumes().Delete(r.ctx, v.ID, force); err != nil {
				return err
			}
			within, cancel := r.limited()
			defer cancel()
			if err := awaitDeleted(within.ctx, r.cl, v); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted volume %q (%s).\n", v.Name, v.ID)
			return nil
		},
	}
}

// volumeArgument returns the volume of an id, of the beginning of an id, or of a name that one volume has.
func (r *call) volumeArgument(text string) (*api.HostVolume, error) {
	list := func(ctx context.Context, q *client.QueryOptions) ([]*api.HostVolumeStub, *client.QueryMeta, error) {
		found, meta, err := r.cl.Volumes().List(ctx, q)
		if err != nil || len(found) > 0 {
			return found, meta, err
		}
		return r.cl.Volumes().List(ctx, &client.QueryOptions{Namespace: q.Namespace, Params: url.Values{"name": {text}}})
	}
	id, err := resolve(r.ctx, r.cl, "volume", text, list, func(v *api.HostVolumeStub) match {
		return match{v.ID, v.Name + ", on node " + api.ShortID(v.NodeID)}
	})
	switch {
	case api.CodeOf(err) == api.CodeNotFound:
		return nil, api.Errorf(api.CodeNotFound, "no volume has the name %q, or an id with this prefix; list volumes with: reeve volume status", text)
	case err != nil:
		return nil, err
	}
	v, _, err := r.cl.Volumes().Get(r.ctx, id, nil)
	return v, err
}

// awaitDeleted waits until a volume does not exist, or its node has failed to delete it.
func awaitDeleted(ctx context.Context, cl *client.Client, v *api.HostVolume) error {
	q := &client.QueryOptions{Wait: time.Minute}
	for {
		now, meta, err := cl.Volumes().Get(ctx, v.ID, q)
		switch {
		case api.CodeOf(err) == api.CodeNotFound:
			return nil
		case err != nil:
			return err
		case now.State == api.HostVolumeDeleting && now.Message != "":
			return api.Errorf(api.CodeConflict, "node %s cannot delete volume %q: %s; it tries again", api.ShortID(v.NodeID), v.Name, now.Message)
		}
		q.Index = meta.Index
	}
}

func volumeClaimsCommand(*cli) *command {
	var job, group, volume string
	var q client.QueryOptions
	return &command{
		use:     "claims",
		short:   "List the volumes that instances keep",
		long:    "List the claims of instances on volumes that their jobs request as sticky.",
		example: "reeve volume claims -job db",
		format:  true,
		flags: func(f *pflag.FlagSet) {
			addListFlags(f, &q)
			f.StringVar(&job, "job", "", "list only claims of the job `JOB`")
			f.StringVar(&group, "group", "", "list only claims of the group `GROUP`")
			f.StringVar(&volume, "volume", "", "list only claims on volumes of the name `NAME`")
		},
		run: func(r *call) error {
			q.Params = url.Values{"job_id": {job}, "task_group": {group}, "volume_name": {volume}}
			list, err := listAll(r.ctx, q, r.cl.Volumes().Claims)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) { view.VolumeClaims(p, list) })
		},
	}
}

func volumeClaimCommand(*cli) *command {
	return &command{
		use:   "claim",
		short: "End claims on volumes",
		verbs: []constructor{volumeClaimDeleteCommand},
	}
}

func volumeClaimDeleteCommand(c *cli) *command {
	return &command{
		use:   "delete CLAIM",
		short: "End a claim, so that its instance may use another volume",
		long: `End the claim with the id CLAIM. Its instance must have stopped. When the
instance starts again, it claims a volume of the requested name on any node, and
finds none of its data there.`,
		example: "reeve volume claim delete 0b8f5a52-8d4e-8c3f-9f11-5d6b7c8a9e01",
		confirm: func(r *call) (string, error) {
			return fmt.Sprintf("End claim %s? Its instance may then start without its data.", r.args[0]), nil
		},
		run: func(r *call) error {
			if _, err := r.cl.Volumes().DeleteClaim(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Ended claim %s.\n", r.args[0])
			return nil
		},
	}
}
