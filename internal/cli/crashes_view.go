// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// crashed tells how often an instance crashed, and why at last.
func (p *page) crashed(c *api.Crashes) string {
	if c == nil {
		return ""
	}
	words := count(c.Count, "time", "times")
	if c.Total != c.Count {
		words += fmt.Sprintf(" (%d in all)", c.Total)
	}
	return p.style.red(words) + ", last " + nanosAge(p.now, c.At) + ": " + c.Reason
}

// triedAgain tells when the next attempt is made.
func (p *page) triedAgain(c *api.Crashes) string {
	if c == nil || c.Next == 0 {
		return ""
	}
	next := time.Unix(0, c.Next)
	at := next.In(p.now.Location()).Format(time.RFC3339)
	if wait := next.Sub(p.now); wait > 0 {
		return at + " (in " + shortDuration(wait) + ")"
	}
	return at + " (now)"
}

// crashes lists the instances that crashed, each as its last allocation counts
// them.
func (p *page) crashes(list []*api.AllocationListStub) {
	var rows [][]string
	for _, a := range list {
		c := a.Crashes
		if c == nil || a.NextAllocation != "" || a.DesiredStatus != api.AllocDesiredRun {
			continue
		}
		next := p.triedAgain(c)
		if next == "" {
			next = "-"
		}
		rows = append(rows, []string{api.ShortID(a.ID), a.Name, p.alarming(c.Count), strconv.Itoa(c.Total), nanosAge(p.now, c.At), next, c.Reason})
	}
	if len(rows) > 0 {
		p.section("Crashes")
		p.table([]string{"Allocation", "Name", "Crashes", "In all", "Last", "Tried again", "Reason"}, rows)
	}
}
