// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/reeve-run/reeve/api"
)

// MaxText bounds the text of a policy, in bytes.
const MaxText = 128 << 10

// maxDepth bounds the brackets that are open together in a text: the HCL parser is recursive.
const maxDepth = 64

// Parse parses the rules of a policy, in HCL or JSON. An error lists every problem with its
// line.
func Parse(name, text string) (*Policy, error) {
	p := &parser{policy: &Policy{Name: name}}
	if len(text) > MaxText {
		return nil, api.Errorf(api.CodeInvalid, "policy %q has %d bytes, the maximum is %d: divide it into several policies", name, len(text), MaxText)
	}
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "":
		p.addAt(1, 1, "the policy has no rules: write at least one, such as `namespace \"default\" { policy = \"read\" }`")
	case deepest(text) > maxDepth:
		p.addAt(1, 1, "brackets are nested more than %d deep", maxDepth)
	case trimmed[0] == '{':
		f, diags := json.Parse([]byte(text), name)
		p.addSyntax(diags)
		if len(p.problems) == 0 {
			p.top(p.ofJSON(f.Body, top))
		}
	default:
		f, diags := hclsyntax.ParseConfig([]byte(text), name, hcl.InitialPos)
		p.addSyntax(diags)
		if len(p.problems) == 0 {
			p.top(p.ofHCL(f.Body.(*hclsyntax.Body)))
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	p.policy.prepare()
	return p.policy, nil
}

// deepest returns the largest number of brackets that are open together. Brackets in texts count
// too.
func deepest(text string) (most int) {
	open := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[', '(':
			open++
			most = max(most, open)
		case '}', ']', ')':
			open--
		}
	}
	return most
}

// parser collects the rules of one text, and its problems.
type parser struct {
	policy   *Policy
	problems []string
}

// maxProblems bounds the problems that an error lists.
const maxProblems = 20

func (p *parser) addAt(line, column int, format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf("%s:%d:%d: ", p.policy.Name, line, column)+fmt.Sprintf(format, args...))
}

func (p *parser) add(at hcl.Range, format string, args ...any) {
	p.addAt(at.Start.Line, at.Start.Column, format, args...)
}

func (p *parser) addSyntax(diags hcl.Diagnostics) {
	for _, d := range diags {
		at := hcl.Range{Start: hcl.InitialPos}
		if d.Subject != nil {
			at = *d.Subject
		}
		text := d.Summary
		if d.Detail != "" {
			text += ": " + d.Detail
		}
		p.add(at, "%s", strings.TrimSuffix(text, "."))
	}
}

func (p *parser) err() error {
	switch n := len(p.problems); {
	case n == 0:
		return nil
	case n == 1:
		return api.Errorf(api.CodeInvalid, "%s", p.problems[0])
	default:
		e := api.Errorf(api.CodeInvalid, "policy %q has %d errors", p.policy.Name, n)
		e.Detail = p.problems[:min(n, maxProblems)]
		return e
	}
}

// A block is a part of a policy's text.
type block struct {
	kind   string
	at     hcl.Range
	labels []string
	attrs  []attribute
	blocks []*block
}

// An attribute is an argument of a block.
type attribute struct {
	name  string
	at    hcl.Range
	value cty.Value
}

// ofHCL reads a body in HCL syntax, in the order of the text.
func (p *parser) ofHCL(body *hclsyntax.Body) *block {
	b := new(block)
	for _, a := range body.Attributes {
		b.attrs = append(b.attrs, p.attribute(a.Name, a.NameRange, a.Expr))
	}
	for _, inner := range body.Blocks {
		child := p.ofHCL(inner.Body)
		child.kind, child.at, child.labels = inner.Type, inner.TypeRange, inner.Labels
		b.blocks = append(b.blocks, child)
	}
	return b
}

// ofJSON reads a body in JSON syntax, where only the schema tells blocks and arguments apart.
func (p *parser) ofJSON(body hcl.Body, s *schema) *block {
	b := new(block)
	attrs, diags := body.JustAttributes()
	p.addSyntax(diags)
	for name, a := range attrs {
		inner := s.blocks[name]
		if inner == nil {
			b.attrs = append(b.attrs, p.attribute(name, a.NameRange, a.Expr))
			continue
		}
		header := hcl.BlockHeaderSchema{Type: name}
		if inner.label != "" {
			header.LabelNames = []string{inner.label}
		}
		content, _, diags := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{header}})
		p.addSyntax(diags)
		for _, found := range content.Blocks {
			child := p.ofJSON(found.Body, inner)
			child.kind, child.at, child.labels = name, found.DefRange, found.Labels
			b.blocks = append(b.blocks, child)
		}
	}
	return b
}

// attribute evaluates an argument, which may use neither variables nor functions.
func (p *parser) attribute(name string, at hcl.Range, x hcl.Expression) attribute {
	v, diags := x.Value(nil)
	p.addSyntax(diags)
	return attribute{name: name, at: at, value: v}
}
