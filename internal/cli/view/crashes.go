// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// crashed describes the crashes of an instance, with the last reason.
func crashed(p *term.Page, c *api.Crashes) string {
	if c == nil {
		return ""
	}
	words := human.Count(c.Count, "time", "times")
	if c.Total != c.Count {
		words += fmt.Sprintf(" (%d in total)", c.Total)
	}
	return p.Style.Red(words) + ", last " + human.NanosAge(p.Now, c.At) + ": " + c.Reason
}

// triedAgain returns the time of the next attempt.
func triedAgain(p *term.Page, c *api.Crashes) string {
	if c == nil || c.Next == 0 {
		return ""
	}
	next := time.Unix(0, c.Next)
	at := next.In(p.Now.Location()).Format(time.RFC3339)
	if wait := next.Sub(p.Now); wait > 0 {
		return at + " (in " + human.Duration(wait) + ")"
	}
	return at + " (now)"
}

// crashes lists crashed instances, by their last allocations.
func crashes(p *term.Page, list []*api.AllocationListStub) {
	var rows [][]string
	for _, a := range list {
		c := a.Crashes
		if c == nil || a.NextAllocation != "" || a.DesiredStatus != api.AllocDesiredRun {
			continue
		}
		next := triedAgain(p, c)
		if next == "" {
			next = "-"
		}
		rows = append(rows, []string{api.ShortID(a.ID), a.Name, alarming(p, c.Count), strconv.Itoa(c.Total), human.NanosAge(p.Now, c.At), next, c.Reason})
	}
	if len(rows) > 0 {
		p.Section("Crashes")
		p.Table([]string{"Allocation", "Name", "Crashes", "Total", "Last", "Next attempt", "Reason"}, rows)
	}
}
