// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// Examples that "quota init" writes.
var (
	//go:embed example_quota.hcl
	exampleQuota []byte
	//go:embed example_quota.json
	exampleQuotaJSON []byte
)

func quotaInitCommand(c *cli) *command {
	var asJSON bool
	return &command{
		use:   "init [FILE]",
		short: "Write an example quota file",
		long: `Write an example quota file (default: "spec.hcl", or "spec.json" with -json).
"quota apply" creates the quota. The command does not overwrite files.`,
		flags:   func(f *pflag.FlagSet) { f.BoolVar(&asJSON, "json", false, "write JSON") },
		offline: true,
		run: func(r *call) error {
			name, text := "spec.hcl", exampleQuota
			if asJSON {
				name, text = "spec.json", exampleQuotaJSON
			}
			if len(r.args) == 1 {
				name = r.args[0]
			}
			return c.writeNew(name, text)
		},
	}
}

func quotaListCommand(*cli) *command {
	var q client.QueryOptions
	return &command{
		use:    "list",
		short:  "List quotas",
		long:   "List the quotas that you may read: all of them, or those of your namespaces.",
		format: true,
		flags:  func(f *pflag.FlagSet) { addListFlags(f, &q) },
		run: func(r *call) error {
			list, err := listAll(r.ctx, q, r.cl.Quotas().List)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) { view.Quotas(p, list) })
		},
	}
}

func quotaStatusCommand(*cli) *command {
	return &command{
		use:   "status QUOTA",
		short: "Show the limits of a quota and what uses them",
		long: `Show the limits of a quota, what counts against them, and the largest jobs that
you may read.`,
		example: "reeve quota status web-team",
		format:  true,
		run: func(r *call) error {
			q, _, err := r.cl.Quotas().Get(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			used, _, err := r.cl.Quotas().Usage(r.ctx, q.Name, nil)
			if err != nil {
				return err
			}
			return r.show(used, func(p *term.Page) { view.Quota(p, q, used) })
		},
	}
}

func quotaInspectCommand(*cli) *command {
	return &command{
		use:     "inspect QUOTA",
		short:   "Print a quota as JSON",
		long:    "Print a quota as JSON, for \"quota apply -json\".",
		example: "reeve quota inspect web-team > web-team.json",
		format:  true,
		run: func(r *call) error {
			q, _, err := r.cl.Quotas().Get(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			r.format.json = r.format.template == ""
			return r.show(q, nil)
		},
	}
}

func quotaDeleteCommand(c *cli) *command {
	return &command{
		use:     "delete QUOTA",
		short:   "Delete a quota that no namespace names",
		example: "reeve quota delete web-team",
		run: func(r *call) error {
			if _, err := r.cl.Quotas().Delete(r.ctx, r.args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted quota %q.\n", r.args[0])
			return nil
		},
	}
}

// quotaNames completes the name of a quota.
func quotaNames(r *call, prefix string) ([]string, error) {
	list, err := listAll(r.ctx, client.QueryOptions{Prefix: prefix}, func(ctx context.Context, q *client.QueryOptions) ([]*api.Quota, *client.QueryMeta, error) {
		return r.cl.Quotas().List(ctx, q)
	})
	var names []string
	for _, q := range list {
		names = append(names, q.Name)
	}
	return names, err
}
