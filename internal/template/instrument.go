// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"text/template"
	"text/template/parse"
)

// Names of the functions that the instrumentation calls. They exist only when a template is executed, so no
// text can name them.
const (
	fnStep  = "reeveStep"  // an iteration begins
	fnEnter = "reeveEnter" // a template is called
	fnLeave = "reeveLeave" // and returns
	fnShow  = "reeveShow"  // a value is printed
)

// instrument rewrites the templates so that they charge the budget.
func instrument(t *template.Template) {
	for _, each := range t.Templates() {
		if each.Tree == nil || each.Root == nil {
			continue
		}
		walk(each.Root)
		nodes := append([]parse.Node{callNode(fnEnter)}, each.Root.Nodes...)
		each.Root.Nodes = append(nodes, callNode(fnLeave))
	}
}

// callNode makes the node {{name}}.
func callNode(name string) *parse.ActionNode {
	cmd := &parse.CommandNode{NodeType: parse.NodeCommand, Args: []parse.Node{parse.NewIdentifier(name)}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pipe: &parse.PipeNode{NodeType: parse.NodePipe, Cmds: []*parse.CommandNode{cmd}}}
}

func walk(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			replaceFields(n.Pipe)
			if len(n.Pipe.Decl) == 0 {
				show := parse.NewIdentifier(fnShow).SetPos(n.Pos)
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{show}})
			}
		case *parse.IfNode:
			replaceFields(n.Pipe)
			walk(n.List)
			walk(n.ElseList)
		case *parse.WithNode:
			replaceFields(n.Pipe)
			walk(n.List)
			walk(n.ElseList)
		case *parse.RangeNode:
			replaceFields(n.Pipe)
			walk(n.List)
			walk(n.ElseList)
			n.List.Nodes = append([]parse.Node{callNode(fnStep)}, n.List.Nodes...)
		case *parse.TemplateNode:
			replaceFields(n.Pipe)
		case *parse.ListNode:
			walk(n)
		}
	}
}
