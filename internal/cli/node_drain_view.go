// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// drain writes how far a drain is: its terms, what is left, and what each
// allocation waits for.
func (p *page) drain(s *api.NodeDrainStatus, wide bool) {
	p.section("Drain")
	p.fields(
		field{"Since", age(p.now, s.DrainStrategy.StartedAt)},
		field{"Deadline", p.deadline(s.DrainStrategy)},
		field{"System jobs", map[bool]string{true: "left alone", false: "stopped last"}[s.DrainStrategy.IgnoreSystemJobs]},
		field{"Why", drainReason(s.LastDrain)},
		field{"Left", drainCount(s)},
	)
	if len(s.Allocations) == 0 {
		return
	}
	p.line("")
	var rows [][]string
	for _, a := range s.Allocations {
		id := api.ShortID(a.ID)
		if wide {
			id = a.ID
		}
		rows = append(rows, []string{id, a.Name, p.style.status(a.ClientStatus), a.State, replacement(a, wide), a.Description})
	}
	p.table([]string{"ID", "Name", "Status", "Drain", "Replacement", "Why"}, rows)
}

func (p *page) deadline(d *api.DrainStrategy) string {
	switch {
	case d.ForceDeadline.IsZero():
		return "none"
	case d.IsPast(p.now):
		return "over: everything is being stopped"
	}
	return "in " + shortDuration(d.ForceDeadline.Sub(p.now).Round(time.Second))
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

// drainCount tells what is left on a node: "3 allocations left: 1 moving, 2
// waiting".
func drainCount(s *api.NodeDrainStatus) string {
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
	text := count(len(s.Allocations), "allocation", "allocations")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if s.Gone > 0 {
		text += fmt.Sprintf("; %d gone", s.Gone)
	}
	if s.Ignored > 0 {
		text += fmt.Sprintf("; %d stay", s.Ignored)
	}
	return text
}

// replacement tells where an allocation goes on.
func replacement(a *api.DrainingAllocation, wide bool) string {
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

// lastDrain tells how a node's last drain ended.
func (p *page) lastDrain(r *api.DrainRecord) {
	if r == nil || r.Status == api.DrainStatusDraining {
		return
	}
	text := fmt.Sprintf("The last drain was %s %s after it began, %s", r.Status, shortDuration(r.UpdatedAt.Sub(r.StartedAt).Round(time.Second)), age(p.now, r.UpdatedAt))
	if why := drainReason(r); why != "" {
		text += " (" + why + ")"
	}
	p.line("%s.", text)
}
