// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
)

func evalDeleteCommand(c *cli) *command {
	var filter string
	return &command{
		use:   "delete [EVAL]",
		short: "Delete evaluations by id or filter",
		long: `Delete evaluations. After a pending or blocked evaluation is deleted, its job
does not change until the next evaluation, at the latest the servers' periodic
one. The server rejects an evaluation that a worker is processing.`,
		example: `reeve eval delete 5c1f
reeve eval delete -filter 'Status == "blocked" and JobID matches "^import-"'`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&filter, "filter", "", "delete all evaluations that match `EXPRESSION`, such as 'Status == \"blocked\"'")
		},
		check: func(r *call) error {
			if (len(r.args) == 0) == (filter == "") {
				return usagef("name one evaluation, or set -filter")
			}
			return nil
		},
		run: func(r *call) error {
			req := &api.EvaluationDeleteRequest{Filter: filter}
			if len(r.args) > 0 {
				id := r.args[0]
				req.EvalIDs = []string{id}
			}
			n, err := r.cl.Evaluations().Delete(r.ctx, req)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Deleted %s.\n", human.Count(n, "evaluation", "evaluations"))
			return nil
		},
	}
}
