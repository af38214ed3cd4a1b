// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jobspec

import "github.com/reeve-run/reeve/api"

// parseJSON parses the API's JSON: a job, or an object that contains a job, as in register
// requests.
func parseJSON(src Source, opts Options) (*api.Job, error) {
	m := &modelDecoder{problems: problems{file: src.Name, text: src.Text}, syntax: "JSON", section: opts.sections}
	d := &decoder{problems: m.problems}
	root := d.parseJSONTree()
	m.problems = d.problems
	return m.job(root)
}

// parseJSONTree parses the decoder's text as JSON. It returns nil after it has recorded
// errors.
func (d *decoder) parseJSONTree() *node {
	p := &jsonParser{text: d.text}
	n, problem := p.document()
	if problem != nil {
		d.add(problem.at, "%s", problem.message)
		return nil
	}
	return n
}
