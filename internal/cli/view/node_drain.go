// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Drain writes the progress of a drain: its options, and the remaining allocations with
// their reasons to wait.
func Drain(p *term.Page, s *api.NodeDrainStatus, wide bool) {
	p.Section("Drain")
	p.Fields(
		term.Field{"Since", human.Age(p.Now, s.DrainStrategy.StartedAt)},
		term.Field{"Deadline", deadline(p, s.DrainStrategy)},
		term.Field{"System jobs", map[bool]string{true: "keep running", false: "stop last"}[s.DrainStrategy.IgnoreSystemJobs]},
		term.Field{"Why", drainReason(s.LastDrain)},
		term.Field{"Left", DrainCount(s)},
	)
	if len(s.Allocations) == 0 {
		return
	}
	p.Line("")
	var rows [][]string
	for _, a := range s.Allocations {
		id := api.ShortID(a.ID)
		if wide {
			id = a.ID
		}
		rows = append(rows, []string{id, a.Name, p.Style.Status(a.ClientStatus), a.State, Replacement(a, wide), a.Description})
	}
	p.Table([]string{"ID", "Name", "Status", "Drain", "Replacement", "Why"}, rows)
}

func deadline(p *term.Page, d *api.DrainStrategy) string {
	switch {
	case d.ForceDeadline.IsZero():
		return "none"
	case d.IsPast(p.Now):
		return "reached: all allocations stop"
	}
	return "in " + human.Duration(d.ForceDeadline.Sub(p.Now).Round(time.Second))
}

func drainReason(r *api.DrainRecord) string {
	if r == nil {
		return ""
	}
	var parts []string
	if m := r.Meta["message"]; m != "" {
		parts = append(parts, m)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Meta)) {
		if name != "message" {
			parts = append(parts, name+"="+r.Meta[name])
		}
	}
	return strings.Join(parts, ", ")
}

// DrainCount counts the remaining allocations of a node: "3 allocations left: 1 moving,
// 2 waiting".
func DrainCount(s *api.NodeDrainStatus) string {
	states := map[string]int{}
	for _, a := range s.Allocations {
		states[a.State]++
	}
	var parts []string
	for _, state := range []string{api.DrainStopping, api.DrainMoving, api.DrainWaiting} {
		if n := states[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	text := human.Count(len(s.Allocations), "allocation", "allocations")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if s.Gone > 0 {
		text += fmt.Sprintf("; %d ended", s.Gone)
	}
	if s.Ignored > 0 {
		text += fmt.Sprintf("; %d ignored", s.Ignored)
	}
	return text
}

// Replacement describes the replacement of an allocation.
func Replacement(a *api.DrainingAllocation, wide bool) string {
	r := a.Replacement
	if r == nil {
		return "-"
	}
	id := api.ShortID(r.ID)
	if wide {
		id = r.ID
	}
	text := fmt.Sprintf("%s on %s, %s", id, cmp.Or(r.NodeName, api.ShortID(r.NodeID)), r.ClientStatus)
	if r.Healthy != nil {
		text += map[bool]string{true: ", healthy", false: ", unhealthy"}[*r.Healthy]
	}
	return text
}

// LastDrain describes the end of a node's last drain.
func LastDrain(p *term.Page, r *api.DrainRecord) {
	if r == nil || r.Status == api.DrainStatusDraining {
		return
	}
	text := fmt.Sprintf("The last drain was %s %s after its start, %s", r.Status, human.Duration(r.UpdatedAt.Sub(r.StartedAt).Round(time.Second)), human.Age(p.Now, r.UpdatedAt))
	if why := drainReason(r); why != "" {
		text += " (" + why + ")"
	}
	p.Line("%s.", text)
}
