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

// A job file may come from anybody, and a few of its characters can ask for any
// amount of work: loops within loops, blocks made by blocks, texts that double
// each other. So one file has a budget, which every expression that is evaluated
// takes from, each time: far more than any file needs that people write, and
// far less than what hurts. The HCL library sets itself no limit and goes on
// after errors, therefore the end of the budget is a panic, which eval catches.
const (
	maxSteps = 1 << 20   // expressions that are evaluated, blocks that are made
	maxWork  = 256 << 20 // bytes that functions read and write, and values have
)

// meter is what is left of one file's budget.
type meter struct {
	ctx   context.Context
	steps int
	work  int
	over  string // why nothing more is evaluated; "" while there is a budget
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

// spend takes from the budget. It panics with the meter when that is used up.
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
		m.over = "whoever wanted to know what is in this file has left"
	default:
		return
	}
	panic(m)
}

// caught turns the end of the budget into a problem at a place. It is deferred
// around everything that spends.
func (d *decoder) caught(at hcl.Range) {
	switch r := recover(); r {
	case nil:
	case d.meter:
		d.addAt(at, "%s", d.meter.over)
	default:
		panic(r)
	}
}

// metered is an expression whose evaluation costs.
type metered struct {
	hclsyntax.Expression
	meter *meter
}

// compared has the operands of a comparison cost what they hold.
func (l *literalizer) compared(expr hclsyntax.Expression) hclsyntax.Expression {
	if e, ok := expr.(*hclsyntax.ScopeTraversalExpr); ok {
		return &metered{e, l.d.meter}
	}
	return expr
}

// meter has an expression cost something if it can make others cost more, or
// makes something of its own.
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
		panic(e.meter) // the library turned an inner panic into an error
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

// tooLargeValue refuses what must not be copied, compared or written out.
var tooLargeValue = fmt.Sprintf("the value is larger than %d MB, or a number in it is out of range", maxOutput>>20)

// extent is how many steps a value's elements count for.
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

// listed is what a list of n costs: to make one of a tuple, the library compares
// the types of all pairs.
func listed(n int) int { return n + n*n>>8 }

// inRange reports whether a number's digits are few enough to write out.
func inRange(x *big.Float) bool {
	return !x.IsInf() && x.MantExp(nil) <= maxExponent && x.MantExp(nil) >= -maxExponent
}
