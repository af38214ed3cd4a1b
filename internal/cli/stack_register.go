// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func stackRegisterCommand(c *cli) *command {
	var (
		version, address, policy, shift string
		hosts, depends                  []string
		over                            time.Duration
		redeploy, detach                bool
	)
	return &command{
		use:   "register UNIT",
		short: "Register a stack that runs outside of Reeve",
		long: `Registers a version of a unit that runs at an address outside of Reeve, such as
a database. Callers depend on it like on every stack, traffic shifts to it and
from it, and its default policy keeps it until its version is deprecated. Reeve
neither starts nor checks it.

Routers connect to the address: it must be an IP address that all of them
reach. Without -expose, the stack receives the traffic of the hosts that the
newest stack of its unit exposes.

"reeve stack stop -now" removes the registration.`,
		example: `reeve stack register -version 14.2.0 -address 10.0.0.7:5432 db
reeve stack register -version 1.2.0 -address 10.0.0.8:8080 -shift none inventory`,
		exitCodes: stackDeployExitCodes,
		format:    true,
		limit:     true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&version, "version", "", "the `VERSION`: major.minor.patch (required)")
			f.StringVar(&address, "address", "", "its `ADDRESS`: an IP address and a port (required)")
			f.StringSliceVar(&hosts, "expose", nil, "expose `HOST` to the router's clients; may be given several times")
			f.StringSliceVar(&depends, "depends", nil, "`UNIT@VERSION` that it calls; may be given several times")
			f.StringVar(&policy, "policy", "", "retention `POLICY`; the default is retain-until-deprecated")
			f.StringVar(&shift, "shift", "", "how traffic shifts to it: `POLICY` linear, atomic or none")
			f.DurationVar(&over, "over", 0, "the shift's `DURATION`; 0 is 20 minutes")
			f.BoolVar(&redeploy, "redeploy", false, "register a version again that a stack has already")
			f.BoolVar(&detach, "detach", false, "return as soon as the registration is accepted")
		},
		check: func(*call) error {
			switch {
			case version == "":
				return usagef("-version is missing: name the version that runs there, such as -version 1.2.0")
			case address == "":
				return usagef("-address is missing: name where it runs, such as -address 10.0.0.7:5432")
			}
			return nil
		},
		run: func(r *call) error {
			spec := &api.StackSpec{Version: version}
			for _, host := range hosts {
				spec.Expose = append(spec.Expose, &api.StackExposure{Host: host})
			}
			for _, text := range depends {
				unit, want, _ := strings.Cut(text, "@")
				spec.Depends = append(spec.Depends, &api.StackDependency{Unit: unit, Version: want})
			}
			if policy != "" {
				spec.Policy = &api.RetentionPolicy{Name: policy}
			}
			if shift != "" || over != 0 {
				spec.Shift = &api.ShiftSpec{Policy: shift, Over: over}
			}
			res, err := r.cl.Stacks().Register(r.ctx, &api.RegisterStackRequest{Unit: r.args[0], Address: address, Stack: spec, Redeploy: redeploy, By: c.operator()})
			if err != nil {
				return err
			}
			deployed := &api.DeployStacksResponse{Stacks: []*api.StackStatus{res.Stack}, Existing: []bool{res.Existing}, Index: res.Index}
			if detach {
				return r.show(deployed, func(p *term.Page) { view.Deployed(p, deployed) })
			}
			return r.followStacks(deployed, false)
		},
	}
}
