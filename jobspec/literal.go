// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A literalizer replaces references that only the node can resolve by their own text, so that
// evaluation keeps them: all references to names that the file does not define. A job file
// may pass a shell's ${HOME} on.
type literalizer struct {
	d     *decoder
	scope *scope
	quote int // depth of templates around the expression
	try   int // depth of try and can, inside of which failures are permitted
	state *literalState
}

// literalState is shared by the parts of one expression.
type literalState struct{ failed bool }

func (l *literalizer) rewrite(expr hclsyntax.Expression) hclsyntax.Expression {
	l.d.meter.spend(1, 0)
	switch e := expr.(type) {
	case *metered: // a dynamic block's content is rewritten for each block
		return l.rewrite(e.Expression)
	case *hclsyntax.ScopeTraversalExpr:
		return l.reference(e)
	case *hclsyntax.TemplateExpr:
		l.quote++
		l.all(e.Parts)
		l.quote--
	case *hclsyntax.TemplateWrapExpr:
		l.quote++
		e.Wrapped = l.rewrite(e.Wrapped)
		l.quote--
	case *hclsyntax.TemplateJoinExpr:
		e.Tuple = l.rewrite(e.Tuple)
	case *hclsyntax.FunctionCallExpr:
		l.call(e)
	case *hclsyntax.ParenthesesExpr:
		e.Expression = l.rewrite(e.Expression)
	case *hclsyntax.ConditionalExpr:
		e.Condition, e.TrueResult, e.FalseResult = l.rewrite(e.Condition), l.rewrite(e.TrueResult), l.rewrite(e.FalseResult)
	case *hclsyntax.BinaryOpExpr:
		e.LHS, e.RHS = l.compared(l.rewrite(e.LHS)), l.compared(l.rewrite(e.RHS))
	case *hclsyntax.UnaryOpExpr:
		e.Val = l.rewrite(e.Val)
	case *hclsyntax.TupleConsExpr:
		l.all(e.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for i := range e.Items {
			e.Items[i].KeyExpr, e.Items[i].ValueExpr = l.rewrite(e.Items[i].KeyExpr), l.rewrite(e.Items[i].ValueExpr)
		}
	case *hclsyntax.ObjectConsKeyExpr:
		if hcl.ExprAsKeyword(e.Wrapped) == "" || e.ForceNonLiteral {
			e.Wrapped = l.rewrite(e.Wrapped)
		}
	case *hclsyntax.IndexExpr:
		e.Collection, e.Key = l.rewrite(e.Collection), l.rewrite(e.Key)
	case *hclsyntax.RelativeTraversalExpr:
		e.Source = l.rewrite(e.Source)
	case *hclsyntax.SplatExpr:
		e.Source, e.Each = l.rewrite(e.Source), l.rewrite(e.Each)
	case *hclsyntax.ForExpr:
		l.loop(e)
	case *hclsyntax.LiteralValueExpr:
		l.number(e)
	}
	return l.meter(expr)
}

func (l *literalizer) all(exprs []hclsyntax.Expression) {
	for i := range exprs {
		exprs[i] = l.rewrite(exprs[i])
	}
}

// loop rewrites a for expression, whose own names are defined inside of it.
func (l *literalizer) loop(e *hclsyntax.ForExpr) {
	e.CollExpr = l.rewrite(e.CollExpr)
	inner := *l
	names := map[string]cty.Value{e.ValVar: cty.DynamicVal}
	if e.KeyVar != "" {
		names[e.KeyVar] = cty.DynamicVal
	}
	inner.scope = l.scope.with(names)
	if e.KeyExpr != nil {
		e.KeyExpr = inner.rewrite(e.KeyExpr)
	}
	e.ValExpr = inner.rewrite(e.ValExpr)
	if e.CondExpr != nil {
		e.CondExpr = inner.rewrite(e.CondExpr)
	}
}

// reference keeps a reference to a defined name for the evaluation, and replaces any other by
// its text.
func (l *literalizer) reference(e *hclsyntax.ScopeTraversalExpr) hclsyntax.Expression {
	root := e.Traversal.RootName()
	if l.scope.has(root) {
		l.resolve(e)
		l.checkAttribute(e)
		return e
	}
	text := string(l.d.text[min(e.SrcRange.Start.Byte, len(l.d.text)):min(e.SrcRange.End.Byte, len(l.d.text))])
	if !atRuntime(root) {
		if l.try > 0 {
			return e
		}
		near := Nearest(root, l.scope.visible())
		switch {
		case len(e.Traversal) > 1 && near != "":
			return l.fail(e, e.SrcRange, "nothing is named %q; did you mean %q?", root, near)
		case l.quote == 0:
			return l.fail(e, e.SrcRange, "nothing is named %q; if text is meant, put it in quotes: %q", root, shorten(text))
		}
	}
	return &hclsyntax.LiteralValueExpr{Val: cty.StringVal("${" + text + "}"), SrcRange: e.SrcRange}
}

// fail records a problem. The expression then has no value.
func (l *literalizer) fail(e hclsyntax.Expression, at hcl.Range, format string, args ...any) hclsyntax.Expression {
	l.d.addAt(at, format, args...)
	l.state.failed = true
	return e
}

// checkAttribute reports a mistyped attribute of an object, such as that of an iterator.
func (l *literalizer) checkAttribute(e *hclsyntax.ScopeTraversalExpr) {
	if l.state.failed {
		return
	}
	object := l.scope.value(e.Traversal.RootName())
	for _, step := range e.Traversal[1:] {
		attr, ok := step.(hcl.TraverseAttr)
		if !ok || object == cty.NilVal || !object.IsKnown() || object.IsNull() || !object.Type().IsObjectType() {
			return
		}
		if !object.Type().HasAttribute(attr.Name) {
			if l.try == 0 {
				names := slices.Collect(maps.Keys(object.Type().AttributeTypes()))
				l.fail(e, attr.SrcRange, "there is no attribute %q here%s", attr.Name, didYouMean(attr.Name, names))
			}
			return
		}
		object = object.GetAttr(attr.Name)
	}
}

// resolve resolves the value of a reference.
func (l *literalizer) resolve(e *hclsyntax.ScopeTraversalExpr) {
	top := l.scope
	for top.parent != nil {
		top = top.parent
	}
	if top.resolve == nil {
		return
	}
	name := ""
	if len(e.Traversal) > 1 {
		switch step := e.Traversal[1].(type) {
		case hcl.TraverseAttr:
			name = step.Name
		case hcl.TraverseIndex:
			if step.Key.Type() == cty.String {
				name = step.Key.AsString()
			}
		}
	}
	if !top.resolve(e.Traversal.RootName(), name, e.SrcRange, l.try > 0) {
		l.state.failed = true
	}
}

// call checks the function's name.
func (l *literalizer) call(e *hclsyntax.FunctionCallExpr) {
	top := l.scope
	for top.parent != nil {
		top = top.parent
	}
	if _, ok := top.ctx.Functions[e.Name]; !ok {
		l.fail(e, e.NameRange, "there is no function %q%s", e.Name, didYouMean(e.Name, slices.Collect(maps.Keys(top.ctx.Functions))))
		return
	}
	if e.Name == "try" || e.Name == "can" {
		l.try++
		defer func() { l.try-- }()
	}
	if e.Name == "convert" && len(e.Args) == 2 {
		e.Args[0] = l.rewrite(e.Args[0]) // the second argument is a type
		return
	}
	l.all(e.Args)
}

// maxExponent bounds numbers, so that their text needs no more memory than the file.
const maxExponent = 4096

func (l *literalizer) number(e *hclsyntax.LiteralValueExpr) {
	if e.Val.Type() != cty.Number || e.Val.IsNull() || !e.Val.IsKnown() {
		return
	}
	if !inRange(e.Val.AsBigFloat()) {
		l.fail(e, e.SrcRange, "the number is out of range")
	}
}
