// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import "text/template/parse"

// Literals returns the variables that the template waits for and names literally, in its order. Names that it computes,
// and those below a condition, are not included.
func (t *Template) Literals() (all []Dependency) {
	seen := map[Dependency]bool{}
	if t.t.Tree == nil || t.t.Root == nil {
		return nil
	}
	var pipe func(p *parse.PipeNode)
	command := func(c *parse.CommandNode) {
		for _, arg := range c.Args {
			if p, ok := arg.(*parse.PipeNode); ok {
				pipe(p)
			}
			if ch, ok := arg.(*parse.ChainNode); ok {
				if p, ok := ch.Node.(*parse.PipeNode); ok {
					pipe(p)
				}
			}
		}
		if len(c.Args) != 2 {
			return
		}
		name, ok := c.Args[0].(*parse.IdentifierNode)
		text, ok2 := c.Args[1].(*parse.StringNode)
		if !ok || !ok2 || name.Ident != "nomadVar" {
			return
		}
		if d := parseDependency(Variable, text.Text); !seen[d] {
			seen[d] = true
			all = append(all, d)
		}
	}
	pipe = func(p *parse.PipeNode) {
		if p == nil {
			return
		}
		for _, c := range p.Cmds {
			command(c)
		}
	}
	var list func(l *parse.ListNode)
	list = func(l *parse.ListNode) {
		if l == nil {
			return
		}
		for _, n := range l.Nodes {
			switch n := n.(type) {
			case *parse.ActionNode:
				pipe(n.Pipe)
			case *parse.IfNode:
				pipe(n.Pipe)
			case *parse.WithNode:
				pipe(n.Pipe)
				list(n.List)
			case *parse.RangeNode:
				pipe(n.Pipe)
			}
		}
	}
	list(t.t.Root)
	return all
}
