// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func instanceListCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "list JOB",
		Short: "List a job's instances: where each is, how it is, and what is done to it",
		Long: `Lists a job's instances. UNCLAIMED: nothing holds it; CLAIMED: placed, not up
yet; RUNNING; CRASHED: what held it last has failed.`,
		Args:              exactly(1, "JOB"),
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			list, _, err := cl.Instances().List(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *page) {
				if len(list) == 0 {
					p.line("Job %q has no instances.", id)
					return
				}
				p.instances(list)
			})
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

// instances writes a list of instances.
func (p *page) instances(list []*api.Instance) {
	var rows [][]string
	for _, i := range list {
		id := ""
		if i.Allocation != "" {
			id = api.ShortID(i.Allocation)
		}
		rows = append(rows, []string{i.Name, p.instanceState(i), dash(i.NodeName), dash(id), strconv.FormatUint(i.JobVersion, 10),
			inState(p.now, i.Since), dash(i.Plan), dash(untilToo(p.now, i.Message, i.Until))})
	}
	p.table([]string{"Instance", "State", "Node", "Allocation", "Version", "For", "Plan", "Why"}, rows)
}

func (p *page) instanceState(i *api.Instance) string {
	switch {
	case i.Paused:
		return p.style.yellow("PAUSED")
	case i.State == api.InstanceRunning:
		return p.style.green(i.State)
	case i.State == api.InstanceCrashed:
		return p.style.red(i.State)
	}
	return p.style.cyan(i.State)
}
