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

// Domains writes a list of domains.
func Domains(p *term.Page, list []*api.Domain, now time.Time) {
	var rows [][]string
	for _, d := range list {
		rows = append(rows, []string{fmt.Sprintf("%q", d.Name), freshness(d, now)})
	}
	p.Table([]string{"Domain", "Fresh"}, rows)
}

// freshness describes the end of a domain's freshness.
func freshness(d *api.Domain, now time.Time) string {
	switch {
	case d.Stale:
		return "no: an operator ended it"
	case d.FreshUntil.IsZero() && d.Unproven:
		return "until the servers find an unknown allocation"
	case d.FreshUntil.IsZero():
		return "without limit"
	case !d.IsFresh(now):
		return "no: it ended " + human.Age(now, d.FreshUntil)
	}
	return "for " + human.Duration(d.FreshUntil.Sub(now))
}
