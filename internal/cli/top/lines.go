// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// keysInWords is the help in the last line, the most important keys first.
const keysInWords = "q quit  tab/1-4 view  / filter  s sort  r reverse  j/k scroll"

// Lines returns the screen, for a terminal of the given size: at most height lines.
func (m *Model) Lines(style term.Style, now time.Time, width, height int) []string {
	head := []string{m.tabs(style)}
	if m.notice != "" {
		head = append(head, style.Yellow(clean(m.notice, max(width, 20))))
	}
	foot := m.footer(style)
	m.room = max(1, height-len(head)-1)
	p := &term.Page{Style: style, Now: now, Width: width}
	fixed := 0 // lines that do not scroll
	switch {
	case m.last == nil:
		p.Line("Reading...")
	case m.View == ViewCluster:
		m.cluster(p, m.last)
	case m.View == ViewServers:
		fixed = 1
		view.Servers(p, cleanServers(m.servers(m.last.Servers)), now)
	case m.View == ViewJobs:
		fixed = m.jobTable(p)
	case m.View == ViewNodes:
		fixed = m.nodeTable(p)
	}
	body := strings.Split(strings.TrimRight(p.String(), "\n"), "\n")
	fixed = min(fixed, len(body))
	m.room = max(1, m.room-fixed)
	m.rows = len(body) - fixed
	m.scroll(0)
	end := min(len(body), fixed+m.offset+m.room)
	lines := append(head, body[:fixed]...)
	lines = append(lines, body[fixed+m.offset:end]...)
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(0, min(len(lines), height-1))], foot)
	for i, line := range lines {
		lines[i] = term.Cut(line, max(1, width))
	}
	return lines
}

// tabs returns the first line: the views, and the agent that answered.
func (m *Model) tabs(style term.Style) string {
	var parts []string
	for i, title := range titles {
		text := fmt.Sprintf("%d %s", i+1, title)
		if View(i) == m.View {
			text = style.Bold("[" + text + "]")
		}
		parts = append(parts, text)
	}
	line := strings.Join(parts, "  ")
	if m.last != nil {
		line += "  " + style.Dim(clean(m.last.Address, 80))
	}
	return line
}

// footer returns the last line: the draft of the filter, or the filter, the order and the keys.
func (m *Model) footer(style term.Style) string {
	if m.Editing {
		return "Filter: " + clean(m.draft, longestFilter) + "_  " + style.Dim("enter apply  esc cancel")
	}
	var parts []string
	if m.Filter != "" {
		parts = append(parts, "filter: "+clean(m.Filter, longestFilter)+" (esc clears)")
	}
	if order := m.order(); order != "" {
		if m.reversed[m.View] {
			order += ", reversed"
		}
		parts = append(parts, "by "+order)
	}
	return style.Dim(strings.Join(append(parts, keysInWords), "  "))
}

func (m *Model) jobTable(p *term.Page) (fixed int) {
	list := m.last.Jobs
	fixed = m.cutOff(p, len(list.Items), list.More, "jobs")
	if len(list.Items) == 0 {
		p.Line("%s", empty(list.Items == nil, list.Missing, "No jobs"))
		return fixed
	}
	view.Jobs(p, cleanJobs(m.jobs(list.Items)), true)
	return fixed + 1
}

func (m *Model) nodeTable(p *term.Page) (fixed int) {
	list := m.last.Nodes
	fixed = m.cutOff(p, len(list.Items), list.More, "nodes")
	if len(list.Items) == 0 {
		p.Line("%s", empty(list.Items == nil, list.Missing, "No nodes"))
		return fixed
	}
	view.Nodes(p, cleanNodes(m.nodes(list.Items)), false)
	return fixed + 1
}

// empty explains why a list has no rows.
func empty(unread bool, missing, none string) string {
	switch {
	case missing != "":
		return clean(missing, 400)
	case unread:
		return "Reading..."
	}
	return none
}

// cutOff tells that a list is not complete.
func (m *Model) cutOff(p *term.Page, n int, more bool, noun string) int {
	if !more {
		return 0
	}
	p.Line("%s", p.Style.Yellow(fmt.Sprintf("The first %d %s. Others exist: press / and type a part of their name", n, noun)))
	return 1
}

// Write writes one reading for people, with all views.
func Write(p *term.Page, s *Snapshot) {
	m := &Model{last: s}
	m.cluster(p, s)
	m.View = ViewJobs
	p.Section("Jobs")
	m.jobTable(p)
	m.View = ViewNodes
	p.Section("Nodes")
	m.nodeTable(p)
}

// clean makes text of other machines and users safe for a terminal.
func clean(text string, limit int) string { return api.Printable(text, limit) }

// longestName is the maximum width of a cell with a name.
const longestName = 128

func cleanServers(list []*api.ServerStatus) []*api.ServerStatus {
	out := make([]*api.ServerStatus, len(list))
	for i, s := range list {
		c := *s
		for _, text := range []*string{&c.ID, &c.Name, &c.Address, &c.Version, &c.Status} {
			*text = clean(*text, longestName)
		}
		out[i] = &c
	}
	return out
}

func cleanJobs(list []*api.JobListStub) []*api.JobListStub {
	out := make([]*api.JobListStub, len(list))
	for i, j := range list {
		c := *j
		for _, text := range []*string{&c.ID, &c.Namespace, &c.Type, &c.Status} {
			*text = clean(*text, longestName)
		}
		out[i] = &c
	}
	return out
}

func cleanNodes(list []*api.NodeListStub) []*api.NodeListStub {
	out := make([]*api.NodeListStub, len(list))
	for i, n := range list {
		c := *n
		for _, text := range []*string{&c.ID, &c.Name, &c.Datacenter, &c.NodePool, &c.NodeClass, &c.Address, &c.Version, &c.Status, &c.SchedulingEligibility} {
			*text = clean(*text, longestName)
		}
		c.Drivers = make(map[string]*api.DriverStatus, len(n.Drivers))
		for name, d := range n.Drivers {
			c.Drivers[clean(name, longestName)] = d
		}
		out[i] = &c
	}
	return out
}

// perSecond formats a rate.
func perSecond(rate float64) string {
	if rate > 0 && rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}

// since formats the time since something began.
func since(now, t time.Time) string {
	if age := human.Age(now, t); age != "" {
		return " (" + age + ")"
	}
	return ""
}
