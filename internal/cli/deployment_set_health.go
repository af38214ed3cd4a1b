// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func deploymentSetHealthCommand(*cli) *command {
	var healthy, unhealthy []string
	return deploymentVerb(&command{
		use:   "set-health DEPLOYMENT",
		short: "Set the health of allocations by hand",
		long: `Set the health of a deployment's allocations. Groups with health_check =
"manual" in their update block need this command; for other groups it overrides
the result of their checks.`,
		example: "reeve deployment set-health -healthy 5e6f7a8b -healthy 9c0d1e2f 1a2b3c4d",
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&healthy, "healthy", nil, "set allocation `ID` healthy; repeatable")
			f.StringSliceVar(&unhealthy, "unhealthy", nil, "set allocation `ID` unhealthy; repeatable")
		},
		check: func(*call) error {
			if len(healthy)+len(unhealthy) == 0 {
				return usagef("name allocations with -healthy or -unhealthy")
			}
			return nil
		},
	}, "has the new health", "", func(r *call) (*api.DeploymentResponse, error) {
		for _, list := range [][]string{healthy, unhealthy} {
			for i, prefix := range list {
				whole, err := r.resolveAllocation(r.ctx, r.cl, prefix)
				if err != nil {
					return nil, err
				}
				list[i] = whole
			}
		}
		return r.cl.Deployments().SetHealth(r.ctx, r.args[0], healthy, unhealthy)
	})
}
