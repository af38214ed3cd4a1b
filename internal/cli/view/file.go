// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Files writes a list of files.
func Files(p *term.Page, list []*api.FileInfo, machine bool) {
	var rows [][]string
	for _, f := range list {
		name := f.Name
		if f.IsDir {
			name += "/"
		}
		size, changed := human.Bytes(f.Size), human.Age(p.Now, f.ModTime)
		if machine {
			size, changed = fmt.Sprint(f.Size), f.ModTime.Format(time.RFC3339)
		}
		rows = append(rows, []string{f.FileMode, size, changed, name})
	}
	p.Table([]string{"Mode", "Size", "Changed", "Name"}, rows)
}
