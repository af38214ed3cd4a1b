// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func unitCommand(*cli) *command {
	return &command{
		use:   "unit",
		short: "See units and their stacks; deprecate and tag versions",
		long:  "A unit is a name whose versions are deployed as stacks.",
		verbs: []constructor{unitListCommand, unitStatusCommand, unitDeprecateCommand, unitUndeprecateCommand, unitTagCommand, unitPolicyCommand},
	}
}

func unitListCommand(*cli) *command {
	return &command{
		use:    "list",
		short:  "List units with the number of their stacks",
		format: true,
		run: func(r *call) error {
			units, _, err := r.cl.Units().List(r.ctx, nil)
			if err != nil {
				return err
			}
			return r.show(units, func(p *term.Page) { view.Units(p, units) })
		},
	}
}

func unitStatusCommand(*cli) *command {
	return &command{
		use:    "status UNIT",
		short:  "Show the stacks of a unit, and why each is kept",
		format: true,
		run: func(r *call) error {
			u, _, err := r.cl.Units().Get(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(u, func(p *term.Page) { view.Unit(p, u) })
		},
	}
}

// unitVerb applies a verb to a unit and shows the result.
func (r *call) unitVerb(verb, done string, req *api.UnitVerbRequest) error {
	req.By = r.operator()
	res, err := r.cl.Units().Do(r.ctx, r.args[0], verb, req)
	if err != nil {
		return err
	}
	return r.show(res, func(p *term.Page) {
		p.Line("%s", done)
		if len(res.Unit.Stacks) > 0 {
			view.Unit(p, res.Unit)
		}
	})
}

func addUnitFlags(f *pflag.FlagSet, req *api.UnitVerbRequest) {
	f.StringVar(&req.Reason, "reason", "", "why, kept with the rule as `TEXT`")
	f.BoolVar(&req.AllNamespaces, "all-namespaces", false, "in all namespaces")
}

func unitDeprecateCommand(*cli) *command {
	var req api.UnitVerbRequest
	return &command{
		use:   "deprecate UNIT VERSION",
		short: "Refuse new dependencies on a version, such as 1.2",
		long: `Deprecates a major.minor version of a unit: the stacks that it has now, and
those that are deployed later. Callers that depend on it keep it, and nothing
new may depend on it.`,
		format: true,
		flags:  func(f *pflag.FlagSet) { addUnitFlags(f, &req) },
		run: func(r *call) error {
			req.Version = r.args[1]
			return r.unitVerb("deprecate", fmt.Sprintf("Version %s of %s is deprecated: nothing new may depend on it.", req.Version, r.args[0]), &req)
		},
	}
}

func unitUndeprecateCommand(*cli) *command {
	var req api.UnitVerbRequest
	return &command{
		use:    "undeprecate UNIT VERSION",
		short:  "Allow new dependencies on a deprecated version again",
		format: true,
		flags:  func(f *pflag.FlagSet) { addUnitFlags(f, &req) },
		run: func(r *call) error {
			req.Version = r.args[1]
			return r.unitVerb("undeprecate", fmt.Sprintf("Version %s of %s is no longer deprecated.", req.Version, r.args[0]), &req)
		},
	}
}

func unitTagCommand(*cli) *command {
	var req api.UnitVerbRequest
	return &command{
		use:   "tag UNIT TAG [VERSION]",
		short: "Give a version a name; without VERSION, remove the name",
		long:  "A tagged version is kept, regardless of its policy.",
		example: `reeve unit tag inventory canary 1.2.0
reeve unit tag inventory canary`,
		format: true,
		run: func(r *call) error {
			req.Tag, req.Version = r.args[1], r.arg(2)
			done := fmt.Sprintf("Tag %s of %s is version %s.", req.Tag, r.args[0], req.Version)
			if req.Version == "" {
				done = fmt.Sprintf("Tag %s of %s is removed.", req.Tag, r.args[0])
			}
			return r.unitVerb("tag", done, &req)
		},
	}
}

func unitPolicyCommand(*cli) *command {
	var req api.UnitVerbRequest
	return &command{
		use:   "policy UNIT POLICY",
		short: "Set the retention policy of all stacks of a unit",
		long: `Replaces the policies of a unit's stacks by one. The policy "own" gives each
stack its own policy back. "reeve stack policies" explains them.`,
		format: true,
		flags:  func(f *pflag.FlagSet) { addUnitFlags(f, &req) },
		run: func(r *call) error {
			done := fmt.Sprintf("All stacks of %s have the policy %s.", r.args[0], r.args[1])
			if strings.EqualFold(r.args[1], "own") {
				done = fmt.Sprintf("Each stack of %s has its own policy.", r.args[0])
			} else {
				req.Policy = &api.RetentionPolicy{Name: r.args[1]}
			}
			return r.unitVerb("policy", done, &req)
		},
	}
}
