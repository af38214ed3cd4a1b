// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

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
	attempt, crashes := "", ""
	if !i.NextAttempt.IsZero() {
		attempt = "in " + shortDuration(i.NextAttempt.Sub(p.now))
	} else if i.State == api.InstanceCrashed {
		attempt = "none: it was given up"
	}
	if i.CrashCount > 0 {
		crashes = strconv.Itoa(i.CrashCount)
		if i.CrashReason != "" {
			crashes += ", the last one: " + i.CrashReason
		}
	}
	var ports, tags []string
	for _, port := range i.Ports {
		text := port.Label + " " + strconv.Itoa(port.HostPort)
		if port.ContainerPort != port.HostPort {
			text += " -> " + strconv.Itoa(port.ContainerPort)
		}
		ports = append(ports, text)
	}
	for _, name := range slices.Sorted(maps.Keys(i.MetricTags)) {
		tags = append(tags, name+"="+i.MetricTags[name])
	}
	p.fields(
		field{"Instance", i.Name},
		field{"Job", i.JobID + " version " + strconv.FormatUint(i.JobVersion, 10)},
		field{"State", p.instanceState(i)},
		field{"For", unlessEqual(inState(p.now, i.Since), "-")},
		field{"Why", whyInstance(i)},
		field{"Traffic", unlessEqual(traffic(i), "-")},
		field{"Next attempt", attempt},
		field{"Crashes", crashes},
		field{"Domain", i.Domain},
		field{"Node", cmp.Or(i.NodeName, i.NodeID)},
		field{"Zone", i.Zone},
		field{"Address", cmp.Or(i.Address, i.InstanceAddress)},
		field{"Ports", strings.Join(ports, ", ")},
		field{"Metric tags", strings.Join(tags, ", ")},
		field{"Allocation", allocation},
		field{"Step", step},
	)
	if len(i.TaskStates) > 0 {
		p.section("Tasks")
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(i.TaskStates)) {
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
	if i.State == api.InstanceCrashed && !i.NextAttempt.IsZero() {
		commands = append(commands, "Try it now:  reeve instance kill "+shellQuote(i.JobID)+" "+shellQuote(i.Name))
	}
	if i.State == api.InstanceCrashed && i.Allocation != "" {
		commands = append(commands, "Why it failed:  reeve alloc status "+api.ShortID(i.Allocation))
	}
	if i.Plan != "" {
		commands = append(commands, "Follow it:  reeve plan show -watch "+shellQuote(i.JobID)+" "+shellQuote(i.Plan))
	}
	p.next(commands...)
}
