// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Instances writes a list of instances.
func Instances(p *term.Page, list []*api.Instance, several bool) {
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
		row := []string{i.Name, instanceState(p, i), traffic(i), human.Dash(i.NodeName), human.Dash(id), strconv.FormatUint(i.JobVersion, 10),
			human.Since(p.Now, i.Since), human.Dash(i.Plan), human.Dash(plantree.WaitsUntil(p.Now, whyInstance(i), i.Until))}
		if several {
			row = append([]string{i.JobID}, row...)
		}
		rows = append(rows, row)
	}
	p.TableLess(head, rows, "Version", "For", "Plan")
}

// traffic describes whether an instance receives traffic.
func traffic(i *api.Instance) string {
	switch {
	case i.Routable:
		return "yes"
	case i.State == api.InstanceRunning:
		return "no"
	}
	return "-"
}

// whyInstance returns the reason of an instance's state.
func whyInstance(i *api.Instance) string {
	if i.State == api.InstanceCrashed {
		return cmp.Or(i.CrashReason, i.Message)
	}
	return cmp.Or(i.PlacementError, i.Message)
}

func instanceState(p *term.Page, i *api.Instance) string {
	state := p.Style.Cyan(i.State)
	switch {
	case i.Paused:
		return p.Style.Yellow("PAUSED")
	case i.State == api.InstanceRunning, i.State == api.InstanceComplete:
		state = p.Style.Green(i.State)
	case i.State == api.InstanceCrashed:
		state = p.Style.Red(i.State)
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

// Instance writes one instance: its state, node, addresses and tasks.
func Instance(p *term.Page, i *api.Instance) {
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
		attempt = "in " + human.Duration(i.NextAttempt.Sub(p.Now))
	} else if i.State == api.InstanceCrashed {
		attempt = "none: no attempts are left"
	}
	if i.CrashCount > 0 {
		crashes = strconv.Itoa(i.CrashCount)
		if i.CrashReason != "" {
			crashes += ", last: " + i.CrashReason
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
	p.Fields(
		term.Field{"Instance", i.Name},
		term.Field{"Job", i.JobID + " version " + strconv.FormatUint(i.JobVersion, 10)},
		term.Field{"State", instanceState(p, i)},
		term.Field{"For", human.Unless(human.Since(p.Now, i.Since), "-")},
		term.Field{"Why", whyInstance(i)},
		term.Field{"Traffic", human.Unless(traffic(i), "-")},
		term.Field{"Next attempt", attempt},
		term.Field{"Crashes", crashes},
		term.Field{"Domain", i.Domain},
		term.Field{"Node", cmp.Or(i.NodeName, i.NodeID)},
		term.Field{"Zone", i.Zone},
		term.Field{"Address", cmp.Or(i.Address, i.InstanceAddress)},
		term.Field{"Ports", strings.Join(ports, ", ")},
		term.Field{"Metric tags", strings.Join(tags, ", ")},
		term.Field{"Allocation", allocation},
		term.Field{"Step", step},
	)
	if len(i.TaskStates) > 0 {
		p.Section("Tasks")
		var rows [][]string
		for _, name := range slices.Sorted(maps.Keys(i.TaskStates)) {
			s := i.TaskStates[name]
			state := p.Style.Status(s.State)
			if s.Failed {
				state = p.Style.Red("failed")
			}
			rows = append(rows, []string{name, state, strconv.FormatUint(s.Restarts, 10), human.Dash(human.Age(p.Now, s.StartedAt))})
		}
		p.Table([]string{"Task", "State", "Restarts", "Started"}, rows)
	}
	instanceNext(p, i)
}

func instanceNext(p *term.Page, i *api.Instance) {
	var commands []string
	if i.Paused {
		commands = append(commands, "Resume it:  reeve instance resume "+JobArgs(i.Namespace, i.JobID)+" "+human.ShellQuote(i.Name))
	}
	if i.State == api.InstanceCrashed && !i.NextAttempt.IsZero() {
		commands = append(commands, "Retry it now:  reeve instance kill "+JobArgs(i.Namespace, i.JobID)+" "+human.ShellQuote(i.Name))
	}
	if i.State == api.InstanceCrashed && i.Allocation != "" {
		commands = append(commands, "Why it failed:  reeve alloc status "+api.ShortID(i.Allocation))
	}
	if i.Plan != "" {
		commands = append(commands, "Follow it:  reeve plan show -watch "+JobArgs(i.Namespace, i.JobID)+" "+human.ShellQuote(i.Plan))
	}
	p.Next(commands...)
}

// InstanceDone writes the effect of a verb, and the next commands.
func InstanceDone(p *term.Page, job string, v api.Verb, resp *api.InstanceResponse) {
	arguments := human.ShellQuote(job)
	if resp.Decision != nil {
		arguments = JobArgs(resp.Decision.Namespace, job)
	}
	what := resp.Instance
	if len(resp.Tasks) > 0 {
		what += ":[" + strings.Join(resp.Tasks, ", ") + "]"
	}
	switch v {
	case api.VerbPause:
		p.Line("Pausing %s of job %q: its tasks stop, and it keeps its allocation.", what, job)
		p.Next("Resume it:  reeve instance resume "+arguments+" "+resp.Instance, "Show it:    reeve instance show "+arguments+" "+resp.Instance)
		return
	case api.VerbResume:
		p.Line("Resuming %s of job %q.", what, job)
	case api.VerbReplace:
		p.Line("Replacing %s of job %q on any node, with an empty directory.", what, job)
	default:
		p.Line("Restarting %s of job %q in place.", what, job)
	}
	p.Next("Show it:  reeve instance show " + arguments + " " + resp.Instance)
}
