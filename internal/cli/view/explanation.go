// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// JobExplanation writes the placement of every group of a job, and possible solutions
// for waiting instances.
func JobExplanation(p *term.Page, e *api.JobExplanation) {
	p.Fields(
		term.Field{"Job", e.JobID},
		term.Field{"Namespace", human.Unless(e.Namespace, api.DefaultNamespace)},
		term.Field{"Version", strconv.FormatUint(e.Version, 10)},
		term.Field{"Status", p.Style.Status(e.Status)},
		term.Field{"Blocked in", blockedIn(e.BlockedEval)},
	)
	for _, g := range e.Groups {
		p.Section(fmt.Sprintf("Group %q", g.Group))
		groupExplanation(p, g)
	}
	if len(e.Unblock) > 0 {
		p.Section("Possible solutions")
		for _, text := range e.Unblock {
			p.Line("* %s", text)
		}
	}
}

func blockedIn(id string) string {
	if id == "" {
		return ""
	}
	return "evaluation " + api.ShortID(id)
}

func groupExplanation(p *term.Page, g *api.GroupExplanation) {
	placed := fmt.Sprintf("%d of %s placed", g.Placed, human.Count(g.Count, "instance", "instances"))
	if g.Waiting > 0 {
		placed += ", " + p.Style.Yellow(fmt.Sprintf("%d not placed", g.Waiting))
	}
	p.Line("%s", placed)
	p.Line("%d of %s could take another instance", g.Fitting, human.Count(g.Nodes, "node", "nodes"))
	for _, text := range g.Quota {
		p.Line("No other instance fits into %s", text)
	}
	if len(g.Obstacles) > 0 {
		p.Line("Obstacles (a node can have several):")
		var rows [][]string
		for _, o := range g.Obstacles {
			rows = append(rows, []string{"  " + human.Count(o.Nodes, "node", "nodes"), o.Filter, o.Reason + nearDriver(o.Reason)})
		}
		p.Table([]string{"  Nodes", "Filter", "Reason"}, rows)
	}
	if g.Fitting == 0 && len(g.Nearest) > 0 {
		p.Line("Nearest:")
		for _, n := range g.Nearest {
			obstacles(p, "  ", n)
		}
	}
}

// NodeExplanation writes whether a node could run another instance of a group.
func NodeExplanation(p *term.Page, n *api.NodeExplanation) {
	p.Section(fmt.Sprintf("Group %q", n.Group))
	if n.Instances > 0 {
		p.Line("%s already on the node", human.Count(n.Instances, "instance", "instances"))
	}
	if n.Fits {
		p.Line("%s", p.Style.Green(fmt.Sprintf("Node %s could take another instance.", n.NodeName)))
		return
	}
	obstacles(p, "", n)
}

// obstacles writes the obstacles of an instance on a node.
func obstacles(p *term.Page, indent string, n *api.NodeExplanation) {
	p.Line("%sNode %s (%s, %s) has obstacles:", indent, n.NodeName, api.ShortID(n.NodeID), n.Datacenter)
	for _, o := range n.Obstacles {
		p.Line("%s  * %s: %s%s", indent, o.Filter, o.Reason, shortage(o))
	}
}

// shortage describes the needed and free amount of a dimension.
func shortage(o api.Obstacle) string {
	if o.Needed == 0 {
		return ""
	}
	unit := api.DimensionUnit(o.Dimension)
	return fmt.Sprintf(": needs %d%s, has %d%s free", o.Needed, unit, o.Free, unit)
}
