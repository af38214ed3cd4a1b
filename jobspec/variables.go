// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// A variable is a declared input of a job file.
type variable struct {
	name        string
	at          hcl.Range
	typ         cty.Type // cty.DynamicPseudoType if not declared
	defaults    *typeexpr.Defaults
	value       cty.Value // the default, then the given value; cty.NilVal if neither exists
	bad         bool      // reports whether a problem was recorded, so that uses report none
	validations []*hclsyntax.Block
}

// topScope returns the scope of the job's expressions: var, local and the functions.
func (d *decoder) topScope(body *hclsyntax.Body, opts Options) *scope {
	names := map[string]cty.Value{"var": cty.EmptyObjectVal, "local": cty.EmptyObjectVal}
	sc := &scope{names: names, ctx: &hcl.EvalContext{Functions: d.meter.functions(functions(opts)), Variables: names}}
	vars := d.declaredVariables(body, sc)
	d.giveValues(vars, opts)
	values := map[string]cty.Value{}
	for name, v := range vars {
		if v.bad {
			values[name] = cty.DynamicVal
			continue
		}
		values[name] = v.value
	}
	names["var"] = cty.ObjectVal(values)
	locals := d.declaredLocals(body, sc)
	sc.resolve = func(root, name string, at hcl.Range, quiet bool) bool {
		switch root {
		case "var":
			if _, ok := vars[name]; !ok && quiet {
				return true
			}
			return d.resolveVariable(vars, name, at)
		case "local":
			if _, ok := locals.exprs[name]; !ok && quiet && name != "" {
				return true
			}
			return locals.resolve(name, at)
		}
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		d.validate(vars[name], sc)
	}
	locals.resolveAll()
	return sc
}

func (d *decoder) resolveVariable(vars map[string]*variable, name string, at hcl.Range) bool {
	if name == "" {
		return true
	}
	v, ok := vars[name]
	if !ok {
		hint := didYouMean(name, slices.Collect(maps.Keys(vars)))
		if hint == "" {
			hint = fmt.Sprintf("; declare it with variable %q { }", name)
		}
		d.addAt(at, "there is no variable %q%s", name, hint)
		return false
	}
	return !v.bad
}

var variableKeys = &keys{
	noun:   "variable",
	attrs:  []string{"type", "default", "description", "sensitive", "nullable"},
	blocks: []string{"validation"},
}

// declaredVariables reads the variable and variables blocks.
func (d *decoder) declaredVariables(body *hclsyntax.Body, sc *scope) map[string]*variable {
	vars := map[string]*variable{}
	add := func(v *variable) {
		if earlier, dup := vars[v.name]; dup {
			d.addAt(v.at, "the variable %q is already declared on line %d", v.name, earlier.at.Start.Line)
			return
		}
		vars[v.name] = v
	}
	for _, b := range body.Blocks {
		switch b.Type {
		case "variable":
			if v := d.declaredVariable(b, sc); v != nil {
				add(v)
			}
		case "variables":
			for _, a := range inOrder(b.Body.Attributes) {
				v := &variable{name: a.Name, at: a.NameRange, typ: cty.DynamicPseudoType}
				value, ok := d.eval(sc, a.Expr)
				v.value, v.bad = value, !ok
				add(v)
			}
			for _, nb := range b.Body.Blocks {
				d.addAt(nb.TypeRange, "variables holds only name = default lines; write variable %q { ... } outside it", nb.Type)
			}
		}
	}
	return vars
}

func (d *decoder) declaredVariable(b *hclsyntax.Block, sc *scope) *variable {
	outer := &block{kind: "variable", labels: b.Labels}
	if len(b.Labels) != 1 {
		d.addAt(b.TypeRange, "variable needs one name: write variable \"NAME\" { ... }")
		return nil
	}
	v := &variable{name: b.Labels[0], at: b.LabelRanges[0], typ: cty.DynamicPseudoType}
	if !hclsyntax.ValidIdentifier(v.name) {
		d.addAt(v.at, "%q cannot be a variable's name: use letters, digits and _", v.name)
		v.bad = true
	}
	for _, a := range inOrder(b.Body.Attributes) {
		if !slices.Contains(variableKeys.attrs, a.Name) {
			d.unknownAttr(variableKeys, outer, a)
		}
	}
	if a, ok := b.Body.Attributes["type"]; ok {
		t, defaults, diags := typeexpr.TypeConstraintWithDefaults(a.Expr)
		if diags.HasErrors() {
			d.addDiags(diags)
			v.bad = true
		} else {
			v.typ, v.defaults = t, defaults
		}
	}
	for _, nb := range b.Body.Blocks {
		if nb.Type != "validation" {
			d.unknownBlock(variableKeys, outer, &block{kind: nb.Type, kindRange: nb.TypeRange})
			continue
		}
		v.validations = append(v.validations, nb)
	}
	if a, ok := b.Body.Attributes["default"]; ok && !v.bad {
		value, ok := d.eval(sc, a.Expr)
		if !ok {
			v.bad = true
			return v
		}
		if err := v.set(value); err != nil {
			d.addAt(a.Expr.Range(), "the default of variable %q %s", v.name, err)
			v.bad = true
		}
	}
	return v
}

// set converts a value to the variable's type and sets it. The error completes a sentence.
func (v *variable) set(value cty.Value) error {
	if v.defaults != nil && !value.IsNull() {
		value = v.defaults.Apply(value)
	}
	converted, err := convert.Convert(value, v.typ)
	if err != nil {
		return fmt.Errorf("must be %s, not %s: %w", typeexpr.TypeString(v.typ), describe(value), err)
	}
	if room := maxOutput; !fits(converted, &room) {
		return fmt.Errorf("cannot be used: %s", tooLargeValue)
	}
	v.value = converted
	return nil
}

// validate evaluates the variable's validation rules.
func (d *decoder) validate(v *variable, sc *scope) {
	for _, b := range v.validations {
		known := &keys{noun: "validation", attrs: []string{"condition", "error_message"}}
		for _, a := range inOrder(b.Body.Attributes) {
			if !slices.Contains(known.attrs, a.Name) {
				d.unknownAttr(known, &block{kind: "validation"}, a)
			}
		}
		condition, ok := b.Body.Attributes["condition"]
		if !ok {
			d.addAt(b.TypeRange, "validation needs the argument \"condition\"")
			continue
		}
		if v.bad {
			continue
		}
		result, ok := d.eval(sc, condition.Expr)
		if !ok {
			continue
		}
		holds, err := toBool(result)
		if err != nil {
			d.addAt(condition.Expr.Range(), "\"condition\" %s", err)
			continue
		}
		if !holds {
			d.addAt(condition.Expr.Range(), "variable %q is %s, which its validation refuses%s", v.name, describe(v.value), d.validationMessage(b, sc))
			v.bad = true
		}
	}
}

func (d *decoder) validationMessage(b *hclsyntax.Block, sc *scope) string {
	a, ok := b.Body.Attributes["error_message"]
	if !ok {
		return ""
	}
	if v, ok := d.eval(sc, a.Expr); ok {
		if s, err := toText(v); err == nil && s != "" {
			return ": " + s
		}
	}
	return ""
}
