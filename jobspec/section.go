// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/reeve-run/reeve/api"
)

// Places hold the positions of the parts of a job in its file. Validation and servers, which
// do not have the file, report errors with names: group "web", route 2: weight -1. Places
// map these back to lines.
type Places struct {
	src Source
	job *section
}

// A section is a block of a job file, or an object in JSON or YAML. Kinds and keys are folded.
type section struct {
	kind  string
	name  string // its label, or its argument "name"
	at    span
	attrs map[string]span
	parts []*section
}

// ParseWithPlaces is Parse, and also returns the positions of the job's parts. With an error, it
// returns the job as far as it could be read, or no job.
func ParseWithPlaces(src Source, opts Options) (*api.Job, *Places, error) {
	p := &Places{src: src, job: &section{kind: "job"}}
	opts.sections = p.job
	job, err := parse(src, opts)
	if job == nil {
		return nil, nil, err
	}
	return job, p, err
}

// Explain adds positions in the job's file to the details of an *api.Error: line, column and
// excerpt, in the order of the file. It returns other errors unchanged.
func (p *Places) Explain(err error) error {
	var e *api.Error
	if !errors.As(err, &e) || len(e.Detail) == 0 || p == nil {
		return err
	}
	ps := problems{file: p.src.Name, text: p.src.Text}
	for _, words := range e.Detail {
		at, found := p.job.find(words)
		if !found {
			ps.addOther(Problem{File: p.src.Name, Message: words})
			continue
		}
		problem := Problem{File: p.src.Name, Message: words}
		problem.Line, problem.Column, problem.Excerpt = locate(p.src.Text, at)
		ps.list, ps.at = append(ps.list, problem), append(ps.at, at)
	}
	var located *Error
	if errors.As(ps.err(), &located) {
		located.cause = e
	}
	return located
}

var (
	step = regexp.MustCompile(`^([A-Za-z_]+)(?: ("(?:[^"\\]|\\.)*"|[0-9]+))?(, |: | |$)`)
	word = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z_]+`)

	inherited = regexp.MustCompile(`^the ([a-z_]+) block `)
)

// find returns the text that a sentence concerns: the first of its words that is an argument
// of the part that it names, or else that part. A block that a task has from its group or job is
// there.
func (p *section) find(sentence string) (at span, found bool) {
	at, rest := p.at, sentence
	around := []*section{p}
	for {
		m := step.FindStringSubmatch(rest)
		if m == nil || m[2] == "" && m[3] == " " {
			break
		}
		if next := p.part(fold(m[1]), m[2]); next != nil {
			p, at, found = next, next.at, true
			around = append(around, p)
		} else if m[1] != "group" { // a task outside of a group makes its group
			break
		}
		rest = rest[len(m[0]):]
	}
	if m := inherited.FindStringSubmatch(rest); m != nil {
		for _, s := range slices.Backward(around) {
			if block := s.part(fold(m[1]), ""); block != nil {
				return block.at, true
			}
		}
	}
	for _, w := range word.FindAllString(rest, -1) {
		for _, key := range []string{fold(w), fold(w) + "label", fold(w) + "name"} {
			if at, ok := p.attrs[key]; ok {
				return at, true
			}
		}
		if part := p.part(strings.TrimSuffix(fold(w), "s"), ""); part != nil {
			return part.at, true
		}
	}
	return at, found
}

// part returns the part of a kind with a number, from 1, or with a quoted name; without
// either, the first.
func (p *section) part(kind, which string) *section {
	var all []*section
	for _, part := range p.parts {
		if part.kind == kind {
			all = append(all, part)
		}
	}
	if n, err := strconv.Atoi(which); err == nil || which == "" {
		if n = max(n, 1); n > len(all) {
			return nil
		}
		return all[n-1]
	}
	name, err := strconv.Unquote(which)
	if err != nil {
		return nil
	}
	if i := slices.IndexFunc(all, func(part *section) bool { return part.name == name }); i >= 0 {
		return all[i]
	}
	// Unnamed parts may match the name, but only if a single one exists.
	all = slices.DeleteFunc(all, func(part *section) bool { return part.name != "" })
	if len(all) == 1 {
		return all[0]
	}
	return nil
}

// enter starts a part of the section being read, and returns the function that ends it.
func (d *decoder) enter(b *block) (leave func()) {
	outer := d.section
	if outer == nil {
		return func() {}
	}
	d.section = &section{kind: fold(b.kind), at: spanOf(b.kindRange)}
	if len(b.labels) > 0 {
		d.section.name, d.section.at = b.labels[0], spanOf(b.labelAt[0])
	}
	outer.parts = append(outer.parts, d.section)
	return func() { d.section = outer }
}

// noteAttr records the position of an argument of the part.
func (d *decoder) noteAttr(a *hclsyntax.Attribute) {
	if d.section == nil {
		return
	}
	if d.section.attrs == nil {
		d.section.attrs = map[string]span{}
	}
	d.section.attrs[fold(a.Name)] = spanOf(hcl.RangeBetween(a.NameRange, a.Expr.Range()))
}

// modelKinds maps keys to their words in sentences, where these differ.
var modelKinds = map[string]string{"taskgroup": "group"}

// note makes a section for an object of a tree.
func (p *section) note(n *node) {
	p.at, p.attrs = n.at, map[string]span{}
	for _, f := range n.fields {
		key := fold(f.name)
		p.attrs[key] = f.at
		if key == "name" {
			p.name = f.value.text
		}
		kind := strings.TrimSuffix(key, "s")
		kind = cmp.Or(modelKinds[kind], kind)
		switch v := f.value; {
		case key == "metrictags":
			for _, tag := range v.fields {
				p.add(kind, tag.value).name = tag.name
			}
		case v.kind == objectNode:
			p.add(kind, v)
		case v.kind == listNode:
			for _, item := range v.items {
				if item.kind == objectNode {
					p.add(kind, item)
				}
			}
		}
	}
}

func (p *section) add(kind string, n *node) *section {
	part := &section{kind: kind}
	part.note(n)
	p.parts = append(p.parts, part)
	return part
}
