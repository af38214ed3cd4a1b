// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func clusterCACommand(*cli) *command {
	return &command{
		use:   "ca",
		short: "Show and replace the root certificate of the cluster",
		verbs: []constructor{clusterCAShowCommand, clusterCARotateCommand},
	}
}

func clusterCAShowCommand(*cli) *command {
	return &command{
		use:     "show",
		short:   "Show the root certificate, and the progress of its replacement",
		example: "reeve cluster ca show",
		format:  true,
		run: func(r *call) error {
			status, err := r.cl.Cluster().CAStatus(r.ctx)
			if err != nil {
				return err
			}
			return r.show(status, func(p *term.Page) { showCA(p, r.Now(), status) })
		},
	}
}

func showCA(p *term.Page, now time.Time, status *api.CAStatus) {
	fields := []term.Field{
		{"Cluster", status.ClusterID},
		{"Root", status.Roots[0]},
		{"Expires", time.Unix(0, status.Expires).UTC().Format(time.DateOnly)},
	}
	if status.Rotated != 0 {
		fields = append(fields, term.Field{"Old root", status.Roots[len(status.Roots)-1]},
			term.Field{"Rotation began", human.NanosAge(now, status.Rotated)})
	}
	p.Fields(fields...)
	switch {
	case status.Rotated == 0:
	case len(status.Waiting) == 0:
		p.Section("Waiting for a new certificate")
		p.Line("None: the old root is dropped shortly.")
	default:
		p.Section("Waiting for a new certificate")
		var rows [][]string
		for _, m := range status.Waiting {
			rows = append(rows, []string{api.ShortID(m.ID), human.Dash(m.Name), m.Role})
		}
		p.Table([]string{"ID", "Name", "Role"}, rows)
		p.Next("Exclude these nodes, and drop the old root now:  reeve cluster ca rotate -finish")
	}
}

func clusterCARotateCommand(*cli) *command {
	var finish bool
	return &command{
		use:   "rotate",
		short: "Replace the root certificate of the cluster",
		long: `Replace the root certificate and its key. Members renew their certificates
within a minute, and trust both roots. When every server and every live node has
a new certificate, the cluster drops the old root and replaces both join tokens.
-finish drops it before. Members that missed the rotation join again. Your
context receives the new root from commands during the rotation. Users who run
none meanwhile log in again.`,
		example: "reeve cluster ca rotate\nreeve cluster ca show",
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&finish, "finish", false, "drop the old root now, and exclude nodes without a new certificate")
		},
		strict: true,
		confirm: func(r *call) (string, error) {
			if !finish {
				return "Replace the root certificate of the cluster?", nil
			}
			status, err := r.cl.Cluster().CAStatus(r.ctx)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("Drop the old root? %d nodes without a new certificate are excluded.", len(status.Waiting)), nil
		},
		run: func(r *call) error {
			status, err := r.cl.Cluster().RotateCA(r.ctx, finish)
			if err != nil {
				return err
			}
			if finish {
				fmt.Fprintf(r.Stdout, "Dropped the old root. The join tokens were replaced: reeve cluster token show\n")
				return nil
			}
			fmt.Fprintf(r.Stdout, "The new root is %s. %d members renew their certificates: reeve cluster ca show\n", status.Roots[0], len(status.Waiting))
			return nil
		},
	}
}
