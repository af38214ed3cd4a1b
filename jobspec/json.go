// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

// parseJSON reads the API's JSON: a job, or an object with a job in it as
// register requests have it.
func parseJSON(src Source, opts Options) (*api.Job, error) {
	m := &modelDecoder{problems: problems{file: src.Name, text: src.Text}, syntax: "JSON", section: opts.sections}
	d := &decoder{problems: m.problems}
	root := d.parseJSONTree()
	m.problems = d.problems
	return m.job(root)
}

// parseJSONTree reads the decoder's text as JSON, nil after recording what is
// wrong with it.
func (d *decoder) parseJSONTree() *node {
	p := &jsonParser{text: d.text}
	n, problem := p.document()
	if problem != nil {
		d.add(problem.at, "%s", problem.message)
		return nil
	}
	return n
}
