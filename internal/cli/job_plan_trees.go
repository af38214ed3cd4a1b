// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/reeve-run/reeve/api"

// plannedTrees writes the trees that would be worked on.
func (p *page) plannedTrees(plans []*api.Plan) {
	f := foldLong
	if p.complete {
		f = foldNothing
	}
	for _, pl := range plans {
		p.section("Plan that would run:")
		for _, line := range treeLines(pl, p.style, p.now, f) {
			p.line("%s", line)
		}
		p.planErrors(pl)
	}
}
