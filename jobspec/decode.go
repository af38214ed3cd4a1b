// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A schema describes one kind of block: its arguments and nested blocks, and their fields in a
// T. Decoding, unknown-key errors and suggestions are derived from it.
type schema[T any] struct {
	noun     string           // name of the block in errors
	label    string           // meaning of its label; "" if it has none
	optional bool             // reports whether the label may be omitted
	name     func(*T) *string // field of the label
	attrs    attrs[T]
	blocks   blocks[T]
	required []string            // required arguments
	oneOf    map[string][]string // permitted values of arguments
	finish   func(d *decoder, obj *T, b *block)
}

// attrs maps each argument to its field: the function returns a pointer to the field, or a
// setter (see assign).
type attrs[T any] map[string]func(*T) any

// blocks maps each nested block to its reader.
type blocks[T any] map[string]child[T]

// A child reads one kind of nested block into its parent.
type child[T any] struct {
	single bool // reports whether it may occur only once
	known  *keys
	block  func(d *decoder, parent *T, b *block)
	// attr reads the same content written as an argument (meta = { ... }); nil if it must be
	// a block.
	attr func(d *decoder, parent *T, sc *scope, a *hclsyntax.Attribute)
}

// A block is a nested block with the scope of its expressions. A dynamic block produces
// several from the same text.
type block struct {
	kind      string
	kindRange hcl.Range
	labels    []string
	labelAt   []hcl.Range
	body      *hclsyntax.Body
	scope     *scope
}

// title names a block in an error: task "web".
func (b *block) title() string {
	if len(b.labels) > 0 {
		return b.kind + " " + quote(b.labels[0])
	}
	return b.kind
}

// A decoder reads one HCL file.
type decoder struct {
	problems
	meter *meter
	root  func() *keys // for hints: the names of the outermost block; nil outside of a job
	// places holds the positions of parts of the job.
	places  map[place]hcl.Range
	section *section // the part being read; nil unless positions are recorded
}

func (d *decoder) addAt(r hcl.Range, format string, args ...any) {
	d.add(spanOf(r), format, args...)
}

func spanOf(r hcl.Range) span { return span{r.Start.Byte, r.End.Byte} }

// read decodes a block by its schema.
func read[T any](d *decoder, s *schema[T], b *block, obj *T) {
	readLabel(d, s, b, obj)
	readBody(d, s, b, obj)
}

func readLabel[T any](d *decoder, s *schema[T], b *block, obj *T) {
	want := 0
	if s.label != "" {
		want = 1
	}
	switch {
	case len(b.labels) > want && want == 0:
		d.addAt(b.labelAt[0], "%s takes no name: write %s { ... }", b.kind, b.kind)
	case len(b.labels) > want:
		d.addAt(b.labelAt[want], "%s takes one %s, not %d", b.kind, s.label, len(b.labels))
	case len(b.labels) < want && !s.optional:
		d.addAt(b.kindRange, "%s needs a %s: write %s \"%s\" { ... }", b.kind, s.label, b.kind, strings.ToUpper(s.label))
	case want == 1 && len(b.labels) == 1:
		if b.labels[0] == "" && !s.optional {
			d.addAt(b.labelAt[0], "the %s of this %s is empty", s.label, b.kind)
		}
		*s.name(obj) = b.labels[0]
	}
}

func readBody[T any](d *decoder, s *schema[T], b *block, obj *T) {
	for _, a := range inOrder(b.body.Attributes) {
		readAttr(d, s, b, obj, a)
	}
	for _, name := range s.required {
		if _, ok := b.body.Attributes[name]; !ok {
			d.addAt(b.kindRange, "%s needs the argument %q", b.title(), name)
		}
	}
	first := map[string]hcl.Range{}
	for _, nb := range d.expand(b.body.Blocks, b.scope) {
		c, ok := s.blocks[nb.kind]
		if !ok {
			d.unknownBlock(s.keys(), b, nb)
			continue
		}
		if at, dup := first[nb.kind]; dup && c.single {
			d.addAt(nb.kindRange, "%s has a second %s block; the first is on line %d", b.title(), nb.kind, at.Start.Line)
			continue
		}
		first[nb.kind] = nb.kindRange
		leave := d.enter(nb)
		c.block(d, obj, nb)
		leave()
	}
	if s.finish != nil {
		s.finish(d, obj, b)
	}
}

func readAttr[T any](d *decoder, s *schema[T], b *block, obj *T, a *hclsyntax.Attribute) {
	d.noteAttr(a)
	if field, ok := s.attrs[a.Name]; ok {
		if v, ok := d.eval(b.scope, a.Expr); ok {
			if !d.oneOf(a, v, s.oneOf[a.Name]) {
				return
			}
			if err := assign(field(obj), v); err != nil {
				d.addAt(a.Expr.Range(), "%q %s", a.Name, err)
			} else if name, ok := field(obj).(*string); ok && a.Name == "name" && d.section != nil {
				d.section.name = *name
			}
		}
		return
	}
	c, ok := s.blocks[a.Name]
	switch {
	case ok && c.attr != nil:
		c.attr(d, obj, b.scope, a)
	case ok:
		d.addAt(a.NameRange, "%q is a block: write %s { ... }, without \"=\"", a.Name, a.Name)
	default:
		d.unknownAttr(s.keys(), b, a)
	}
}

// one reads a block that may occur once.
func one[T, U any](s *schema[U], field func(*T) **U) child[T] {
	return child[T]{single: true, known: s.keys(), block: func(d *decoder, parent *T, b *block) {
		obj := new(U)
		read(d, s, b, obj)
		*field(parent) = obj
	}}
}

// many reads a block that may occur several times, with distinct labels.
func many[T, U any](s *schema[U], field func(*T) *[]*U) child[T] {
	return child[T]{known: s.keys(), block: func(d *decoder, parent *T, b *block) {
		obj := new(U)
		read(d, s, b, obj)
		list := field(parent)
		if s.label != "" && len(b.labels) == 1 && slices.ContainsFunc(*list, func(o *U) bool { return *s.name(o) == b.labels[0] }) {
			d.addAt(b.labelAt[0], "there is already a %s named %q here", b.kind, b.labels[0])
			return
		}
		*list = append(*list, obj)
	}}
}

// inOrder returns attributes in the order of the file.
func inOrder(as hclsyntax.Attributes) []*hclsyntax.Attribute {
	return slices.SortedFunc(maps.Values(as), func(a, b *hclsyntax.Attribute) int {
		return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte)
	})
}
