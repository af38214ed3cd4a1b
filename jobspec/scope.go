// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A scope holds the names that expressions may refer to at one position of a file.
type scope struct {
	parent *scope
	names  map[string]cty.Value
	ctx    *hcl.EvalContext
	// resolve computes the value of a name on first use. It returns false after it has
	// recorded a problem, except for unknown names if quiet.
	resolve func(root, name string, at hcl.Range, quiet bool) bool
}

// with returns the scope inside of a block that defines further names.
func (sc *scope) with(names map[string]cty.Value) *scope {
	ctx := sc.ctx.NewChild()
	ctx.Variables = names
	return &scope{parent: sc, names: names, ctx: ctx}
}

// has reports whether a name is defined.
func (sc *scope) has(root string) bool {
	for ; sc != nil; sc = sc.parent {
		if _, ok := sc.names[root]; ok {
			return true
		}
	}
	return false
}

// value returns the value of a name, or cty.NilVal.
func (sc *scope) value(root string) cty.Value {
	for ; sc != nil; sc = sc.parent {
		if v, ok := sc.names[root]; ok {
			return v
		}
	}
	return cty.NilVal
}

// visible returns all defined names.
func (sc *scope) visible() []string {
	var names []string
	for ; sc != nil; sc = sc.parent {
		names = append(names, slices.Collect(maps.Keys(sc.names))...)
	}
	return names
}

// atRuntime reports whether only the node that runs a task knows the name. References to it
// stay in the job as text.
func atRuntime(root string) bool {
	switch root {
	case "attr", "meta", "node", "env", "unique", "device", "driver":
		return true
	}
	return strings.HasPrefix(root, "NOMAD_") || strings.HasPrefix(root, "REEVE_")
}

// keptWork is the cost of a byte that becomes part of the job, which is copied, stored and
// sent.
const keptWork = 8

// eval evaluates an expression. It returns false after it has recorded a problem.
func (d *decoder) eval(sc *scope, expr hclsyntax.Expression) (value cty.Value, ok bool) {
	if d.meter.over != "" {
		return cty.NilVal, false
	}
	defer d.caught(expr.Range())
	l := literalizer{d: d, scope: sc, state: &literalState{}}
	expr = l.rewrite(expr)
	if l.state.failed {
		return cty.NilVal, false
	}
	v, diags := expr.Value(sc.ctx)
	if diags.HasErrors() {
		d.addDiags(diags)
		return cty.NilVal, false
	}
	room := maxOutput
	if !fits(v, &room) {
		d.addAt(expr.Range(), "%s", tooLargeValue)
		return cty.NilVal, false
	}
	d.meter.spend(0, keptWork*(maxOutput-room))
	v, _ = v.UnmarkDeep()
	if !v.IsWhollyKnown() {
		d.addAt(expr.Range(), "the value cannot be known before the job runs")
		return cty.NilVal, false
	}
	return v, true
}
