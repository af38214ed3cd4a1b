// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// jobExplanation writes how every group of a job stands, and what would help
// those that wait.
func (p *page) jobExplanation(e *api.JobExplanation) {
	p.fields(
		field{"Job", e.JobID},
		field{"Namespace", unlessEqual(e.Namespace, api.DefaultNamespace)},
		field{"Version", strconv.FormatUint(e.Version, 10)},
		field{"Status", p.style.status(e.Status)},
		field{"Waits in", blockedIn(e.BlockedEval)},
	)
	for _, g := range e.Groups {
		p.section(fmt.Sprintf("Group %q", g.Group))
		p.groupExplanation(g)
	}
	if len(e.Unblock) > 0 {
		p.section("What would help")
		for _, text := range e.Unblock {
			p.line("* %s", text)
		}
	}
}

func blockedIn(id string) string {
	if id == "" {
		return ""
	}
	return "evaluation " + api.ShortID(id)
}

func (p *page) groupExplanation(g *api.GroupExplanation) {
	placed := fmt.Sprintf("%d of %s placed", g.Placed, count(g.Count, "instance", "instances"))
	if g.Waiting > 0 {
		placed += ", " + p.style.yellow(fmt.Sprintf("%d waiting for a place", g.Waiting))
	}
	p.line("%s", placed)
	p.line("%d of %s could take another instance", g.Fitting, count(g.Nodes, "node", "nodes"))
	if len(g.Obstacles) > 0 {
		p.line("What is in the way (a node may be in several lines):")
		var rows [][]string
		for _, o := range g.Obstacles {
			rows = append(rows, []string{"  " + count(o.Nodes, "node", "nodes"), o.Filter, o.Reason + nearDriver(o.Reason)})
		}
		p.table([]string{"  Nodes", "Filter", "Reason"}, rows)
	}
	if g.Fitting == 0 && len(g.Nearest) > 0 {
		p.line("Nearest:")
		for _, n := range g.Nearest {
			p.obstacles("  ", n)
		}
	}
}

// nodeExplanation writes whether one node could take another instance of a
// group.
func (p *page) nodeExplanation(n *api.NodeExplanation) {
	p.section(fmt.Sprintf("Group %q", n.Group))
	if n.Instances > 0 {
		p.line("%s of it on the node already", count(n.Instances, "instance", "instances"))
	}
	if n.Fits {
		p.line("%s", p.style.green(fmt.Sprintf("Node %s could take another instance.", n.NodeName)))
		return
	}
	p.obstacles("", n)
}

// obstacles writes everything that keeps an instance from the node.
func (p *page) obstacles(indent string, n *api.NodeExplanation) {
	p.line("%sNode %s (%s, %s) cannot take it:", indent, n.NodeName, api.ShortID(n.NodeID), n.Datacenter)
	for _, o := range n.Obstacles {
		p.line("%s  * %s: %s%s", indent, o.Filter, o.Reason, shortage(o))
	}
}

// shortage says how much of a dimension is wanted and how much is free.
func shortage(o api.Obstacle) string {
	if o.Needed == 0 {
		return ""
	}
	unit := api.DimensionUnit(o.Dimension)
	return fmt.Sprintf(": %d%s wanted, %d%s free", o.Needed, unit, o.Free, unit)
}
