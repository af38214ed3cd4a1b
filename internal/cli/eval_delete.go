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
		short: "Forget evaluations, by id or all that match a filter",
		long: `Forgets evaluations. What a pending or blocked one was to bring about does not
happen: its job stays as it is until something else has it evaluated, at the
latest the servers' periodic comparison of what should run with what runs. One
that is being worked out at this moment is refused.`,
		example: `reeve eval delete 5c1f
reeve eval delete -filter 'Status == "blocked" and JobID matches "^import-"'`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&filter, "filter", "", "all that match `EXPRESSION`, as in 'Status == \"blocked\"'")
		},
		check: func(r *call) error {
			if (len(r.args) == 0) == (filter == "") {
				return usagef("say which evaluation, or -filter")
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
			fmt.Fprintf(c.Stdout, "%s forgotten.\n", human.Count(n, "evaluation is", "evaluations are"))
			return nil
		},
	}
}
