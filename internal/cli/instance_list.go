// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func instanceListCommand(c *cli) *cobra.Command {
	var (
		f            format
		asked        client.InstancesFilter
		domain, node string
	)
	cmd := &cobra.Command{
		Use:   "list [JOB]",
		Short: "List instances: where each is, how it is, and what is done to it",
		Long: `Lists the instances of a job, or of all. UNCLAIMED: nothing holds it; CLAIMED:
placed, not up yet; RUNNING; CRASHED: what held it last has failed; COMPLETE: it
has done its work. One that is RUNNING gets traffic unless its readiness checks
fail. What stands beside an instance has a row of its own: "evacuating" goes on
until another one is up in its place, "suspect" is on a node that is not heard
of, "canary" waits for promotion.`,
		Example: `reeve instance list web
reeve instance list -node 3fa9 -state crashed
reeve instance list -domain billing`,
		Args:              between(0, 1, "JOB"),
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if asked.Job, cl, err = c.resolveJob(cmd.Context(), cl, args[0]); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("domain") {
				asked.Domain = &domain
			}
			if node != "" {
				if asked.Node, err = c.resolveNode(cmd.Context(), cl, node); err != nil {
					return err
				}
			}
			list, _, err := cl.Instances().All(cmd.Context(), asked, nil)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *page) {
				switch {
				case len(list) > 0:
					p.instances(list, asked.Job == "")
				case asked != client.InstancesFilter{Job: asked.Job}:
					p.line("No instances match.")
				case asked.Job != "":
					p.line("Job %q has no instances.", asked.Job)
				default:
					p.line("There are no instances.")
				}
			})
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().StringVar(&domain, "domain", "", "only those of jobs of the domain `NAME`; \"\": of those that name none")
	cmd.Flags().StringVar(&node, "node", "", "only those on the `NODE`")
	cmd.Flags().StringVar(&asked.State, "state", "", "only those that are `STATE`: unclaimed, claimed, running or crashed")
	cmd.Flags().StringVar(&asked.Presence, "presence", "", "only those that are `PRESENCE`: ordinary, evacuating or suspect")
	return cmd
}

// instances writes a list of instances, of one job or of several.
func (p *page) instances(list []*api.Instance, several bool) {
	head := []string{"Instance", "State", "Traffic", "Node", "Allocation", "Version", "For", "Plan", "Why"}
	if several {
		head = append([]string{"Job"}, head...)
	}
	var rows [][]string
	for _, i := range list {
		id := ""
		if i.Allocation != "" {
			id = api.ShortID(i.Allocation)
		}
		row := []string{i.Name, p.instanceState(i), traffic(i), dash(i.NodeName), dash(id), strconv.FormatUint(i.JobVersion, 10),
			inState(p.now, i.Since), dash(i.Plan), dash(untilToo(p.now, whyInstance(i), i.Until))}
		if several {
			row = append([]string{i.JobID}, row...)
		}
		rows = append(rows, row)
	}
	p.tableLess(head, rows, "Version", "For", "Plan")
}

// traffic says whether an instance gets any.
func traffic(i *api.Instance) string {
	switch {
	case i.Routable:
		return "yes"
	case i.State == api.InstanceRunning:
		return "no"
	}
	return "-"
}

// whyInstance says why an instance is not as it should be.
func whyInstance(i *api.Instance) string {
	if i.State == api.InstanceCrashed {
		return cmp.Or(i.CrashReason, i.Message)
	}
	return cmp.Or(i.PlacementError, i.Message)
}

func (p *page) instanceState(i *api.Instance) string {
	state := p.style.cyan(i.State)
	switch {
	case i.Paused:
		return p.style.yellow("PAUSED")
	case i.State == api.InstanceRunning, i.State == api.InstanceComplete:
		state = p.style.green(i.State)
	case i.State == api.InstanceCrashed:
		state = p.style.red(i.State)
	}
	switch {
	case i.Orphan:
		state += " (orphan)"
	case i.Canary:
		state += " (canary)"
	case i.Presence != "" && i.Presence != api.PresenceOrdinary:
		state += " (" + i.Presence + ")"
	}
	return state
}
