// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// diff writes the differences of two jobs as a tree: "+" is added, "-" is removed, "+/-"
// is changed. Unchanged parts are omitted unless the page is complete.
func diff(p *term.Page, d *api.JobDiff) {
	p.Line("%s %s", mark(p, d.Type), p.Style.Bold("Job: "+quoted(d.ID)))
	if d.Type == api.DiffAdded && !p.Complete {
		outline(p, d)
		return
	}
	fieldsAndObjects(p, d.Fields, d.Objects, 1)
	for _, g := range d.Groups {
		if !leavesOut(p, g.Type) || len(g.Updates) > 0 {
			groupDiff(p, g)
		}
	}
}

// outline writes the groups and tasks of a new job without their fields.
func outline(p *term.Page, d *api.JobDiff) {
	for _, g := range d.Groups {
		brief := *g
		brief.Fields, brief.Objects, brief.Tasks = nil, nil, nil
		groupDiff(p, &brief)
		for _, t := range g.Tasks {
			p.Line("  %s %s%s", mark(p, t.Type), p.Style.Bold("Task: "+quoted(t.Name)), annotations(p, t.Annotations))
		}
	}
}

// leavesOut reports whether a part of a diff is omitted.
func leavesOut(p *term.Page, kind string) bool { return kind == api.DiffNone && !p.Complete }

func groupDiff(p *term.Page, g *api.GroupDiff) {
	line := fmt.Sprintf("%s %s", mark(p, g.Type), p.Style.Bold("Group: "+quoted(g.Name)))
	if updates := updatesInWords(g.Updates, p.Style); updates != "" {
		line += " (" + updates + ")"
	}
	p.Line("%s", line)
	fieldsAndObjects(p, g.Fields, g.Objects, 1)
	for _, t := range g.Tasks {
		if leavesOut(p, t.Type) {
			continue
		}
		line := fmt.Sprintf("  %s %s", mark(p, t.Type), p.Style.Bold("Task: "+quoted(t.Name)))
		p.Line("%s%s", line, annotations(p, t.Annotations))
		fieldsAndObjects(p, t.Fields, t.Objects, 2)
	}
}

func fieldsAndObjects(p *term.Page, fields []*api.FieldDiff, objects []*api.ObjectDiff, depth int) {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f *api.FieldDiff) bool { return leavesOut(p, f.Type) })
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Name))
	}
	margin := strings.Repeat("  ", depth)
	for _, f := range fields {
		p.Line("%s%s %s%s %s%s", margin, mark(p, f.Type), f.Name+":", strings.Repeat(" ", width-len(f.Name)),
			fieldChange(p, f), annotations(p, f.Annotations))
	}
	for _, o := range objects {
		if leavesOut(p, o.Type) {
			continue
		}
		p.Line("%s%s %s {", margin, mark(p, o.Type), o.Name)
		fieldsAndObjects(p, o.Fields, o.Objects, depth+2)
		p.Line("%s    }", margin)
	}
}

func fieldChange(p *term.Page, f *api.FieldDiff) string {
	switch f.Type {
	case api.DiffAdded:
		return p.Style.Green(quoted(f.New))
	case api.DiffDeleted:
		return p.Style.Red(quoted(f.Old))
	case api.DiffEdited:
		return p.Style.Red(quoted(f.Old)) + " => " + p.Style.Green(quoted(f.New))
	}
	return quoted(f.New)
}

// mark returns the sign before a line of a diff, three characters wide.
func mark(p *term.Page, kind string) string {
	switch kind {
	case api.DiffAdded:
		return p.Style.Green("+  ")
	case api.DiffDeleted:
		return p.Style.Red("-  ")
	case api.DiffEdited:
		return p.Style.Yellow("+/-")
	}
	return "   "
}

func annotations(p *term.Page, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + p.Style.Cyan(strings.Join(list, ", ")) + ")"
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// updatesInWords counts the instances of a group that would be created, changed and so
// on.
func updatesInWords(updates map[string]uint64, s term.Style) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(updates)) {
		n := updates[kind]
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", n, kind)
		switch kind {
		case "create", "in-place update":
			text = s.Green(text)
		case "destroy":
			text = s.Red(text)
		case "create/destroy update", "canary", "migrate":
			text = s.Yellow(text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
