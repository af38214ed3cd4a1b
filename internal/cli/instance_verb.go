// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// instanceVerb describes a command that does one thing to an instance.
type instanceVerb struct {
	verb    api.Verb
	short   string
	long    string
	example string
	tasks   bool   // it may be about some tasks only
	careful string // what to ask before, with the instance and the job; "": nothing
}

const instanceVerbExitCodes = `0  the servers do it; "reeve instance show" says how far they are
1  refused, and nothing was changed`

func (c *cli) instanceVerb(v instanceVerb) *cobra.Command {
	var (
		f   format
		req api.InstanceRequest
		yes bool
	)
	cmd := &cobra.Command{
		Use:               string(v.verb) + " JOB INSTANCE",
		Short:             v.short,
		Long:              v.long,
		Example:           v.example,
		Args:              between(1, 2, "JOB", "INSTANCE"),
		ValidArgsFunction: c.completeInstances(),
		Annotations:       map[string]string{annotationExitCodes: instanceVerbExitCodes},
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			job, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return c.whichInstance(cmd.Context(), cl, job)
			}
			if v.careful != "" {
				if err := c.careful(fmt.Sprintf(v.careful, args[1], job), yes); err != nil {
					return err
				}
			}
			req.By = c.operator()
			resp, err := cl.Instances().Do(cmd.Context(), job, args[1], v.verb, &req)
			if err != nil {
				return err
			}
			return c.show(f, resp, func(p *term.Page) { view.InstanceDone(p, job, v.verb, resp) })
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().StringVar(&req.Reason, "reason", "", "why, kept with the decision as `TEXT`")
	if v.tasks {
		cmd.Flags().StringSliceVar(&req.Tasks, "task", nil, "only the task `NAME`; several times")
	}
	if v.careful != "" {
		cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	}
	return cmd
}

// whichInstance is the error about an instance that was not named: it lists
// them.
func (c *cli) whichInstance(ctx context.Context, cl *client.Client, job string) error {
	list, _, err := cl.Instances().List(ctx, job, nil)
	if err != nil {
		return err
	}
	var names []string
	for _, i := range list {
		names = append(names, i.Name)
	}
	if n := len(names); n > maxMatches {
		names = append(names[:maxMatches], fmt.Sprintf("and %d more", n-maxMatches))
	}
	return usagef("say which INSTANCE of job %q: %s", job, cmp.Or(strings.Join(names, ", "), "it has none"))
}

// completeInstances completes a job and one of its instances.
func (c *cli) completeInstances() completion {
	jobs := c.completeIDs(api.SearchJobs)
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return jobs(cmd, args, prefix)
		}
		cl, err := c.connect()
		if err != nil || len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTimeout)
		defer cancel()
		list, _, err := cl.Instances().List(ctx, args[0], nil)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, i := range list {
			names = append(names, i.Name)
		}
		return slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, prefix) }), cobra.ShellCompDirectiveNoFileComp
	}
}
