// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func instanceShowCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:               "show JOB INSTANCE",
		Aliases:           []string{"status", "info"},
		Short:             "Show an instance and its tasks",
		Args:              between(2, 2, "JOB", "INSTANCE"),
		ValidArgsFunction: c.completeInstances(),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			i, _, err := cl.Instances().Get(cmd.Context(), id, args[1], nil)
			if err != nil {
				return err
			}
			return c.show(f, i, func(p *page) { p.instance(i) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}

// instance writes one instance: where it is, its tasks, and what works on it.
func (p *page) instance(i *api.Instance) {
	allocation := ""
	if i.Allocation != "" {
		allocation = api.ShortID(i.Allocation)
	}
	step := ""
	if i.Step != "" {
		step = i.Step + " of plan " + i.Plan
	}
	p.fields(
		field{"Instance", i.Name},
		field{"Job", i.JobID + " version " + strconv.FormatUint(i.JobVersion, 10)},
		field{"State", p.instanceState(i)},
		field{"For", unlessEqual(inState(p.now, i.Since), "-")},
		field{"Why", i.Message},
		field{"Node", firstOf(i.NodeName, i.NodeID)},
		field{"Allocation", allocation},
		field{"Step", step},
	)
	if len(i.TaskStates) > 0 {
		p.section("Tasks")
		var rows [][]string
		for _, name := range sortedKeys(i.TaskStates) {
			s := i.TaskStates[name]
			state := p.style.status(s.State)
			if s.Failed {
				state = p.style.red("failed")
			}
			rows = append(rows, []string{name, state, strconv.FormatUint(s.Restarts, 10), dash(age(p.now, s.StartedAt))})
		}
		p.table([]string{"Task", "State", "Restarts", "Started"}, rows)
	}
	p.instanceNext(i)
}

func (p *page) instanceNext(i *api.Instance) {
	var commands []string
	if i.Paused {
		commands = append(commands, "Go on:  reeve instance resume "+shellQuote(i.JobID)+" "+shellQuote(i.Name))
	}
	if i.State == api.InstanceCrashed && i.Allocation != "" {
		commands = append(commands, "Why it failed:  reeve alloc status "+api.ShortID(i.Allocation))
	}
	if i.Plan != "" {
		commands = append(commands, "Follow it:  reeve plan show -watch "+shellQuote(i.JobID)+" "+shellQuote(i.Plan))
	}
	p.next(commands...)
}
