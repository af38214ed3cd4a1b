// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// giveValues sets the variables from the options, the weakest source first, and reports
// variables without a value.
func (d *decoder) giveValues(vars map[string]*variable, opts Options) {
	for _, prefix := range []string{"NOMAD_VAR_", "REEVE_VAR_"} {
		for _, pair := range opts.Env {
			if name, text, ok := strings.Cut(strings.TrimPrefix(pair, prefix), "="); ok && strings.HasPrefix(pair, prefix) {
				if v := vars[name]; v != nil {
					d.giveText(v, prefix+name, text)
				}
			}
		}
	}
	if opts.VarText != "" {
		d.giveFile(vars, "variables", []byte(opts.VarText), opts)
	}
	for _, path := range opts.VarFiles {
		text, err := os.ReadFile(path)
		if err != nil {
			d.addOther(Problem{Message: "read variable file: " + err.Error()})
			continue
		}
		d.giveFile(vars, path, text, opts)
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Vars)) {
		if v := vars[name]; v != nil {
			d.giveText(v, "-var "+name, opts.Vars[name])
		} else if opts.Strict {
			d.addOther(Problem{Message: fmt.Sprintf("-var %s: %s", name, undeclared(vars, name))})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		v := vars[name]
		if v.value == cty.NilVal && !v.bad {
			d.addAt(v.at, "the variable %q has no value and no default; give it one with -var %s=VALUE, a -var-file, or REEVE_VAR_%s in the environment", name, name, name)
			v.bad = true
		}
	}
}

func undeclared(vars map[string]*variable, name string) string {
	return fmt.Sprintf("the job file declares no variable %q%s", name, didYouMean(name, slices.Collect(maps.Keys(vars))))
}

// giveText sets a variable from a command line or environment: plain text for text, numbers
// and booleans, and an HCL expression for other types.
func (d *decoder) giveText(v *variable, from, text string) {
	value := cty.StringVal(text)
	want := v.typ
	if want == cty.DynamicPseudoType && v.value != cty.NilVal && !v.value.IsNull() {
		want = v.value.Type()
	}
	if want != cty.DynamicPseudoType && !want.IsPrimitiveType() {
		inner := &decoder{problems: problems{file: from, text: []byte(text)}, meter: d.meter}
		var ok bool
		if value, ok = inner.expression(); !ok {
			for _, p := range inner.list {
				d.addOther(p)
			}
			v.bad = true
			return
		}
	}
	typed := *v
	if want.IsPrimitiveType() {
		typed.typ = want
	}
	if err := typed.set(value); err != nil {
		d.addOther(Problem{Message: fmt.Sprintf("%s: the variable %q %s", from, v.name, err)})
		v.bad = true
		return
	}
	v.value = typed.value
}

// expression evaluates the decoder's whole text as one constant expression.
func (d *decoder) expression() (cty.Value, bool) {
	if at, deep := tooDeep(d.text, d.file); deep {
		d.addAt(at, "this is nested more than %d deep", maxDepth)
		return cty.NilVal, false
	}
	expr, diags := hclsyntax.ParseExpression(d.text, d.file, hcl.InitialPos)
	if diags.HasErrors() {
		d.addDiags(diags)
		return cty.NilVal, false
	}
	return d.eval(d.constants(Options{}), expr)
}

// constants returns a scope with functions only.
func (d *decoder) constants(opts Options) *scope {
	return &scope{ctx: &hcl.EvalContext{Functions: d.meter.functions(functions(opts))}}
}

// giveFile sets variables from a file of name = value lines.
func (d *decoder) giveFile(vars map[string]*variable, name string, text []byte, opts Options) {
	inner := &decoder{problems: problems{file: name, text: text}, meter: d.meter}
	defer func() {
		for _, p := range inner.list {
			d.addOther(p)
		}
	}()
	if len(text) > MaxSize {
		inner.addOther(Problem{File: name, Message: fmt.Sprintf("a variable file may have at most %d bytes", MaxSize)})
		return
	}
	if filepath.Ext(name) == ".json" {
		inner.giveJSON(vars, opts)
		return
	}
	body := inner.parseBody()
	if body == nil {
		return
	}
	for _, b := range body.Blocks {
		inner.addAt(b.TypeRange, "a variable file holds only name = value lines")
	}
	sc := inner.constants(opts)
	for _, a := range inOrder(body.Attributes) {
		v := vars[a.Name]
		if v == nil {
			if opts.Strict {
				inner.addAt(a.NameRange, "%s", undeclared(vars, a.Name))
			}
			continue
		}
		value, ok := inner.eval(sc, a.Expr)
		if !ok {
			v.bad = true
			continue
		}
		if err := v.set(value); err != nil {
			inner.addAt(a.Expr.Range(), "the variable %q %s", a.Name, err)
			v.bad = true
		}
	}
}

// giveJSON is giveFile for a JSON object.
func (d *decoder) giveJSON(vars map[string]*variable, opts Options) {
	root := d.parseJSONTree()
	if root == nil {
		return
	}
	if root.kind != objectNode {
		d.add(root.at, "a variable file must be an object of names and values")
		return
	}
	for _, f := range root.fields {
		v := vars[f.name]
		if v == nil {
			if opts.Strict {
				d.add(f.at, "%s", undeclared(vars, f.name))
			}
			continue
		}
		if err := v.set(f.value.cty()); err != nil {
			d.add(f.value.at, "the variable %q %s", f.name, err)
			v.bad = true
		}
	}
}
