// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// cluster writes the overview: the leader, counts, rates, what waits for a person, and servers.
func (m *Model) cluster(p *term.Page, s *Snapshot) {
	leader := clean(s.Leader, longestName)
	if leader == "" {
		leader = p.Style.Red("none: the cluster accepts no changes without a leader")
	}
	fields := []term.Field{{"Leader", leader}, {"Lag", lagInWords(s.Servers)}}
	if c := s.Counts; c != nil {
		fields = append(fields, term.Field{"Nodes", counts(p.Style, c.Nodes)}, term.Field{"Jobs", counts(p.Style, c.Jobs)},
			term.Field{"Allocations", counts(p.Style, c.Allocations)}, term.Field{"Unhealthy", unhealthy(p.Style, c)}, term.Field{"Queue", queue(c)})
	}
	if r := m.rates; r != nil {
		fields = append(fields, term.Field{"Per second", fmt.Sprintf("%s changes, %s evaluations, %s requests here",
			perSecond(r.Changes), perSecond(r.Evaluations), perSecond(r.Requests))})
	}
	p.Fields(fields...)
	if len(s.Attention) > 0 {
		p.Section("Attention")
		for _, a := range s.Attention {
			p.Line("%s", p.Style.Red(clean(a.Message, 400)+since(p.Now, a.Since)))
			if a.Next != "" {
				p.Line("  %s", p.Style.Dim(clean(a.Next, 400)))
			}
		}
	}
	if len(s.Servers) > 0 {
		p.Section("Servers")
		view.Servers(p, cleanServers(m.servers(s.Servers)), p.Now)
	}
}

// lagInWords names the server that is furthest behind; "" in a cluster of one server.
func lagInWords(servers []*api.ServerStatus) string {
	var last *api.ServerStatus
	for _, s := range servers {
		if !s.Leader && s.Status == api.ServerAlive && (last == nil || s.Trailing > last.Trailing) {
			last = s
		}
	}
	switch {
	case last == nil:
		return ""
	case last.Trailing == 0:
		return "none"
	}
	return human.Count(int(last.Trailing), "entry", "entries") + " on " + clean(last.Name, longestName)
}

// counts formats numbers by status, without zeros.
func counts(style term.Style, by map[string]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(by)) {
		if by[status] != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[status], style.Status(clean(status, longestName))))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// unhealthy counts allocations that crash or fail a check; "" without one.
func unhealthy(style term.Style, c *Counts) string {
	var parts []string
	if c.Crashing > 0 {
		parts = append(parts, fmt.Sprintf("%d crashing", c.Crashing))
	}
	if c.Failing > 0 {
		parts = append(parts, human.Count(c.Failing, "with a failing check", "with failing checks"))
	}
	return style.Red(strings.Join(parts, ", "))
}

// queue describes the evaluations of a leader; "" on other servers, which do not have them.
func queue(c *Counts) string {
	if !c.Leads {
		return ""
	}
	return fmt.Sprintf("%s waiting, %d in work, %d blocked", human.Count(c.Waiting, "evaluation", "evaluations"), c.Working, c.Blocked)
}
