// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// diff writes what changed between two jobs as a tree: "+" is new, "-" is
// gone, "+/-" is changed. What is the same on both sides is left out, unless
// the page is to be complete.
func (p *page) diff(d *api.JobDiff) {
	p.line("%s %s", p.mark(d.Type), p.style.bold("Job: "+quoted(d.ID)))
	if d.Type == api.DiffAdded && !p.complete {
		p.outline(d)
		return
	}
	p.fieldsAndObjects(d.Fields, d.Objects, 1)
	for _, g := range d.Groups {
		if !p.leavesOut(g.Type) || len(g.Updates) > 0 {
			p.groupDiff(g)
		}
	}
}

// outline writes the groups and tasks of a job that is new as a whole: what is
// in them is what the file says.
func (p *page) outline(d *api.JobDiff) {
	for _, g := range d.Groups {
		brief := *g
		brief.Fields, brief.Objects, brief.Tasks = nil, nil, nil
		p.groupDiff(&brief)
		for _, t := range g.Tasks {
			p.line("  %s %s%s", p.mark(t.Type), p.style.bold("Task: "+quoted(t.Name)), p.annotations(t.Annotations))
		}
	}
}

// leavesOut reports whether a part of a diff is not shown.
func (p *page) leavesOut(kind string) bool { return kind == api.DiffNone && !p.complete }

func (p *page) groupDiff(g *api.GroupDiff) {
	line := fmt.Sprintf("%s %s", p.mark(g.Type), p.style.bold("Group: "+quoted(g.Name)))
	if updates := updatesInWords(g.Updates, p.style); updates != "" {
		line += " (" + updates + ")"
	}
	p.line("%s", line)
	p.fieldsAndObjects(g.Fields, g.Objects, 1)
	for _, t := range g.Tasks {
		if p.leavesOut(t.Type) {
			continue
		}
		line := fmt.Sprintf("  %s %s", p.mark(t.Type), p.style.bold("Task: "+quoted(t.Name)))
		p.line("%s%s", line, p.annotations(t.Annotations))
		p.fieldsAndObjects(t.Fields, t.Objects, 2)
	}
}

func (p *page) fieldsAndObjects(fields []*api.FieldDiff, objects []*api.ObjectDiff, depth int) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f *api.FieldDiff) bool { return p.leavesOut(f.Type) })
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Name))
	}
	margin := strings.Repeat("  ", depth)
	for _, f := range fields {
		p.line("%s%s %s%s %s%s", margin, p.mark(f.Type), f.Name+":", strings.Repeat(" ", width-len(f.Name)),
			p.fieldChange(f), p.annotations(f.Annotations))
	}
	for _, o := range objects {
		if p.leavesOut(o.Type) {
			continue
		}
		p.line("%s%s %s {", margin, p.mark(o.Type), o.Name)
		p.fieldsAndObjects(o.Fields, o.Objects, depth+2)
		p.line("%s    }", margin)
	}
}

func (p *page) fieldChange(f *api.FieldDiff) string {
	switch f.Type {
	case api.DiffAdded:
		return p.style.green(quoted(f.New))
	case api.DiffDeleted:
		return p.style.red(quoted(f.Old))
	case api.DiffEdited:
		return p.style.red(quoted(f.Old)) + " => " + p.style.green(quoted(f.New))
	}
	return quoted(f.New)
}

// mark is the sign before a line of a diff, three characters wide.
func (p *page) mark(kind string) string {
	switch kind {
	case api.DiffAdded:
		return p.style.green("+  ")
	case api.DiffDeleted:
		return p.style.red("-  ")
	case api.DiffEdited:
		return p.style.yellow("+/-")
	}
	return "   "
}

func (p *page) annotations(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + p.style.cyan(strings.Join(list, ", ")) + ")"
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// updatesInWords says how many instances of a group would be created, changed
// and so on.
func updatesInWords(updates map[string]uint64, s style) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(updates)) {
		n := updates[kind]
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n, kind)
		switch kind {
		case "create", "in-place update":
			text = s.green(text)
		case "destroy":
			text = s.red(text)
		case "create/destroy update", "canary", "migrate":
			text = s.yellow(text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
