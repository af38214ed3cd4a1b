// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/reeve-run/reeve/api"
)

// parseHCL parses a job file in HCL2.
func parseHCL(src Source, opts Options) (*api.Job, error) {
	d := &decoder{problems: problems{file: src.Name, text: src.Text}, meter: newMeter(opts), section: opts.sections}
	body := d.parseBody()
	if body == nil {
		return nil, d.err()
	}
	d.root = jobSchema.keys
	var jobs []*hclsyntax.Block
	for _, b := range body.Blocks {
		switch b.Type {
		case "job":
			jobs = append(jobs, b)
		case "variable", "variables", "locals":
		default:
			d.addAt(b.TypeRange, "a job file has no block %q at its top%s", b.Type, d.hint(topKeys, b.Type, (*keys).ofBlocks))
		}
	}
	for _, a := range inOrder(body.Attributes) {
		d.addAt(a.NameRange, "a job file has no argument %q at its top; it holds %s blocks", a.Name, list(topKeys.blocks, "and"))
	}
	sc := d.topScope(body, opts)
	if len(jobs) == 0 {
		d.add(span{}, "there is no job: write job \"NAME\" { ... }")
		return nil, d.err()
	}
	for _, b := range jobs[1:] {
		d.addAt(b.TypeRange, "a job file holds one job; the first is on line %d", jobs[0].TypeRange.Start.Line)
	}
	var j jobText
	first := jobs[0]
	if d.section != nil {
		d.section.at = spanOf(first.TypeRange)
	}
	read(d, jobSchema, &block{kind: "job", kindRange: first.TypeRange, labels: first.Labels, labelAt: first.LabelRanges, body: first.Body, scope: sc}, &j)
	return &j.Job, d.err()
}

var topKeys = &keys{noun: "job file", blocks: []string{"job", "variable", "variables", "locals"}}

// parseBody returns the syntax tree, or nil after it has recorded the errors.
func (d *decoder) parseBody() *hclsyntax.Body {
	if at, deep := tooDeep(d.text, d.file); deep {
		d.addAt(at, "this is nested more than %d deep", maxDepth)
		return nil
	}
	f, diags := hclsyntax.ParseConfig(d.text, d.file, hcl.InitialPos)
	if diags.HasErrors() {
		d.addSyntax(diags)
		return nil
	}
	return f.Body.(*hclsyntax.Body)
}
