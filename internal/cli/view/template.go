// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// templateTable writes the templates of a task: when each was rendered, and what it waits for.
func templateTable(p *term.Page, list []*api.TemplateState) {
	if len(list) == 0 {
		return
	}
	p.WriteByte('\n')
	var rows [][]string
	for _, t := range list {
		if t != nil {
			waits := t.Waiting
			if waits == "" && t.Pending != "" {
				waits = "its turn in a rolling restart: values changed"
			}
			rows = append(rows, []string{t.Destination, human.Dash(whenTime(p.Now, t.Rendered)), human.Dash(waits)})
		}
	}
	p.Table([]string{"Template", "Rendered", "Waits for"}, rows)
}
