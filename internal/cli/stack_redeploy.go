// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func stackRedeployCommand(c *cli) *command {
	var (
		req    api.StackVerbRequest
		detach bool
		until  string
	)
	return &command{
		use:   "redeploy STACK",
		short: "Deploy a second stack of the same version and content",
		long: `Deploys the submission of a stack again, as a new stack of the same unit and
version. The stack may have ended up to 90 days ago. Other stacks do
not change, apart from the shift of traffic to the new one.

The command follows the new stack until all traffic is shifted. Ctrl-C ends
only the command.`,
		exitCodes: stackDeployExitCodes,
		format:    true,
		limit:     true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.Reason, "reason", "", "why, kept in the audit record as `TEXT`")
			addFollow(f, &detach, &until)
		},
		check: func(*call) error { return checkUntil(until) },
		run: func(r *call) error {
			req.By = c.operator()
			stack, err := r.cl.Stacks().Do(r.ctx, r.args[0], "redeploy", &req)
			if err != nil {
				return err
			}
			res := &api.DeployStacksResponse{Stacks: []*api.StackStatus{stack.Stack}, Existing: []bool{false}, Order: []string{stack.Stack.Name}, Index: stack.Index}
			if detach {
				return r.show(res, func(p *term.Page) { view.Deployed(p, res) })
			}
			return r.followStacks(res, until == "ready")
		},
	}
}

// addFollow adds the flags that say how long a command follows a deployment.
func addFollow(f *pflag.FlagSet, detach *bool, until *string) {
	f.BoolVar(detach, "detach", false, "return as soon as the deployment is accepted")
	f.StringVar(until, "until", "shifted", "follow until the stack is `STATE`: ready or shifted")
}

func checkUntil(until string) error {
	if until != "ready" && until != "shifted" {
		return usagef("-until %q: use ready or shifted", until)
	}
	return nil
}
