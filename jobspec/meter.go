// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"context"
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Job files are untrusted, and a few characters can cause any amount of work: nested loops,
// blocks that produce blocks, texts that double each other. So each file has a budget, from
// which every evaluation of an expression is charged: far more than real files need, and far
// less than the amount that would harm. The HCL library has no limit and continues after
// errors, so the end of the budget is a panic, which eval recovers.
const (
	maxSteps = 1 << 20   // evaluated expressions and created blocks
	maxWork  = 256 << 20 // bytes that functions read and write, and sizes of values
)

// A meter holds the remaining budget of one file.
type meter struct {
	ctx   context.Context
	steps int
	work  int
	over  string // why the evaluation ended; "" while budget is left
}

func newMeter(opts Options) *meter {
	m := &meter{ctx: opts.Context, steps: maxSteps, work: maxWork}
	if m.ctx == nil {
		m.ctx = context.Background()
	}
	if opts.scarce > 0 {
		m.steps, m.work = maxSteps/opts.scarce, maxWork/opts.scarce
	}
	return m
}

// spend charges the budget. It panics with the meter when the budget is exhausted.
func (m *meter) spend(steps, work int) {
	m.steps -= steps
	m.work -= work
	switch {
	case m.over != "":
	case m.steps < 0:
		m.over = fmt.Sprintf("evaluating the file takes more than %d steps, which is the most that is allowed: use fewer or shorter loops", maxSteps)
	case m.work < 0:
		m.over = fmt.Sprintf("evaluating the file makes values of more than %d MB, which is the most that is allowed: use fewer or smaller values", maxWork>>20)
	case m.steps%256 == 0 && m.ctx.Err() != nil:
		m.over = "the evaluation of the file was cancelled: its caller has left"
	default:
		return
	}
	panic(m)
}

// caught converts the end of the budget to a problem at a position. Defer it around every
// charge.
func (d *decoder) caught(at hcl.Range) {
	switch r := recover(); r {
	case nil:
	case d.meter:
		d.addAt(at, "%s", d.meter.over)
	default:
		panic(r)
	}
}

// A metered expression charges for its evaluation.
type metered struct {
	hclsyntax.Expression
	meter *meter
}

// compared charges for the size of a comparison's operands.
func (l *literalizer) compared(expr hclsyntax.Expression) hclsyntax.Expression {
	if e, ok := expr.(*hclsyntax.ScopeTraversalExpr); ok {
		return &metered{e, l.d.meter}
	}
	return expr
}

// meter wraps an expression that can increase the cost of others, or that produces a value.
func (l *literalizer) meter(expr hclsyntax.Expression) hclsyntax.Expression {
	switch expr.(type) {
	case *hclsyntax.ForExpr, *hclsyntax.FunctionCallExpr, *hclsyntax.TemplateExpr, *hclsyntax.TemplateJoinExpr, *hclsyntax.SplatExpr,
		*hclsyntax.BinaryOpExpr, *hclsyntax.ConditionalExpr, *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr, *hclsyntax.IndexExpr:
		return &metered{expr, l.d.meter}
	}
	return expr
}

func (e *metered) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	e.meter.spend(1, 0)
	v, diags := e.Expression.Value(ctx)
	if e.meter.over != "" {
		panic(e.meter) // the library converted an inner panic to an error
	}
	room := maxOutput
	ok := fits(v, &room)
	e.meter.spend(extent(v), maxOutput-room)
	if !ok {
		at := e.Range()
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Value too large", Detail: tooLargeValue, Subject: &at})
		return cty.DynamicVal, diags
	}
	return v, diags
}

// tooLargeValue is the error of a value that must not be copied, compared or written.
var tooLargeValue = fmt.Sprintf("the value is larger than %d MB, or a number in it is out of range", maxOutput>>20)

// extent returns the number of steps for a value's elements.
func extent(v cty.Value) int {
	if v, _ = v.Unmark(); v == cty.NilVal || !v.IsKnown() || v.IsNull() {
		return 0
	}
	switch t := v.Type(); {
	case t.IsTupleType(), t.IsCollectionType():
		return listed(v.LengthInt())
	case t.IsObjectType():
		return len(t.AttributeTypes())
	}
	return 0
}

// listed returns the cost of a list of n: to convert it from a tuple, the library compares the
// types of all pairs.
func listed(n int) int { return n + n*n>>8 }

// inRange reports whether a number has few enough digits to write.
func inRange(x *big.Float) bool {
	return !x.IsInf() && x.MantExp(nil) <= maxExponent && x.MantExp(nil) >= -maxExponent
}
