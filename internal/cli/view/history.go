// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strconv"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// History writes the versions of a job, newest first.
func History(p *term.Page, all *api.JobVersionsResponse) {
	for i, job := range all.Versions {
		if i > 0 {
			p.WriteByte('\n')
		}
		tag := ""
		if t := job.VersionTag; t != nil {
			tag = t.Name + " " + t.Description
		}
		p.Fields(
			term.Field{"Version", strconv.FormatUint(job.Version, 10)},
			term.Field{"Stable", yesNo(job.Stable)},
			term.Field{"Submitted", human.When(p.Now, job.SubmitTime)},
			term.Field{"Tag", tag},
		)
		if i >= len(all.Diffs) || all.Diffs[i] == nil {
			continue
		}
		if all.Diffs[i].Type == api.DiffNone {
			p.Line("%s", fmt.Sprintf("No changes since version %d.", job.Version-1))
			continue
		}
		diff(p, all.Diffs[i])
	}
}
