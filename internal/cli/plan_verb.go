// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// planVerb describes a command that applies one verb to a plan, phase or step.
type planVerb struct {
	verb       api.Verb
	aliases    []string
	short      string
	long       string
	example    string
	parts      bool   // the verb can apply to a phase or step
	parameters bool   // the command has -p
	careful    string // question to confirm, a format of the object; "" asks nothing
}

const planVerbExitCodes = `0    done; with -watch: the plan is complete
1    rejected, nothing has changed; with -watch also: the plan is in error
130  with -watch: ended by Ctrl-C; the plan continues`

func (c *cli) planVerb(v planVerb) *command {
	var (
		req    api.PlanRequest
		params []string
		follow bool
	)
	use := string(v.verb) + " JOB PLAN"
	if v.parts {
		use += " [PHASE [STEP]]"
	}
	d := &command{
		use:       use,
		aliases:   v.aliases,
		short:     v.short,
		long:      v.long,
		example:   v.example,
		exitCodes: planVerbExitCodes,
		complete:  c.completePlans(v.statuses()),
		format:    true,
		removed:   true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.Reason, "reason", "", "record `TEXT` as the reason of the decision")
			f.BoolVar(&follow, "watch", false, "follow the plan until it is complete")
			if v.parts {
				f.StringVar(&req.Phase, "phase", "", "`NAME` or id of the phase; the same as PHASE")
				f.StringVar(&req.Step, "step", "", "`NAME` or id of the step; the same as STEP")
			}
			if v.parameters {
				f.StringArrayVarP(&params, "param", "p", nil, "set `NAME=VALUE` in the environment of the plan's tasks; repeatable")
			}
		},
		check: func(r *call) error {
			if err := placePartArgs(&req, r.args); err != nil {
				return err
			}
			var err error
			if req.Parameters, err = parseParameters(params); err != nil {
				return err
			}
			if follow && !r.format.forPeople() {
				return usagef("-watch excludes -json and -t")
			}
			req.By = c.operator()
			return nil
		},
		run: func(r *call) error {
			job := r.args[0]
			resp, err := r.cl.Plans().Do(r.ctx, job, r.args[1], v.verb, &req)
			if err != nil {
				return err
			}
			return c.planDone(r.ctx, r.cl, resp, r.format, follow)
		},
	}
	if v.careful != "" {
		d.confirm = func(r *call) (string, error) {
			return fmt.Sprintf(v.careful, partInWords(r.args[0], r.args[1], &req)), nil
		}
	}
	return d
}

// statuses returns the filter of completed plans; nil means any.
func (v planVerb) statuses() func(*api.Plan) bool {
	if v.verb == api.VerbStart || v.verb == api.VerbStop {
		return (*api.Plan).IsCustom
	}
	return nil
}

// placePartArgs copies the arguments PHASE and STEP to the request.
func placePartArgs(req *api.PlanRequest, args []string) error {
	for i, part := range []*string{&req.Phase, &req.Step} {
		if len(args) <= i+2 {
			break
		}
		if *part != "" && *part != args[i+2] {
			return usagef("%q and %q: give phase and step as arguments or as flags, not both", *part, args[i+2])
		}
		*part = args[i+2]
	}
	return nil
}

func parseParameters(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := map[string]string{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("-p %q is not NAME=VALUE", pair)
		}
		if _, twice := m[name]; twice {
			return nil, usagef("-p %s is set twice", name)
		}
		m[name] = value
	}
	return m, nil
}

// partInWords describes the object of a verb.
func partInWords(job, plan string, req *api.PlanRequest) string {
	text := "plan " + plan + " of job " + job
	switch {
	case req.Step != "" && req.Phase != "":
		return fmt.Sprintf("step %s in phase %s of %s", req.Step, req.Phase, text)
	case req.Step != "":
		return fmt.Sprintf("step %s of %s", req.Step, text)
	case req.Phase != "":
		return fmt.Sprintf("phase %s of %s", req.Phase, text)
	}
	return text
}

// planDone shows the plan after a decision, or follows it.
func (c *cli) planDone(ctx context.Context, cl *client.Client, resp *api.PlanResponse, f format, follow bool) error {
	if follow && resp.Plan != nil {
		if d := resp.Decision; d != nil {
			fmt.Fprintln(c.Stderr, plantree.Decided(c.Now(), d))
		}
		return c.watchPlan(ctx, cl, resp.Plan.JobID, resp.Plan.Name, 0)
	}
	return c.show(f, resp, func(p *term.Page) {
		if resp.Plan != nil {
			view.PlanTree(p, resp.Plan, false)
			if next := plantree.Next(resp.Plan); len(next) == 0 && plantree.IsUnderWay(resp.Plan) {
				p.Next(fmt.Sprintf("Follow it:  reeve plan show -watch%s %s %s", plantree.NamespaceFlag(resp.Plan),
					human.ShellQuote(resp.Plan.JobID), human.ShellQuote(resp.Plan.Name)))
			}
		}
	})
}

// operator returns the user of the program, as recorded in decisions: user@host.
func (c *cli) operator() string {
	name := cmp.Or(c.Getenv("USER"), c.Getenv("LOGNAME"))
	if name == "" {
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	host, _ := os.Hostname()
	return cmp.Or(name, "unknown") + "@" + cmp.Or(host, "unknown")
}
