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
		short: "Say by hand which allocations are healthy",
		long: `Says which of a deployment's allocations are healthy and which are not: for
groups whose update block has health_check = "manual", and against what checks
say for the others.`,
		example: "reeve deployment set-health -healthy 5e6f7a8b -healthy 9c0d1e2f 1a2b3c4d",
		flags: func(f *pflag.FlagSet) {
			f.StringSliceVar(&healthy, "healthy", nil, "the allocation `ID` is healthy; several times")
			f.StringSliceVar(&unhealthy, "unhealthy", nil, "the allocation `ID` is not; several times")
		},
		check: func(*call) error {
			if len(healthy)+len(unhealthy) == 0 {
				return usagef("say which allocations: -healthy or -unhealthy, with their ids")
			}
			return nil
		},
	}, "knows their health", "", func(r *call) (*api.DeploymentResponse, error) {
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
