// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// mostPlans bounds the plans of one status that a page lists.
const mostPlans = 5

// AttentionToPlans lists plans that wait for a person.
func AttentionToPlans(plans []*api.Plan, status api.PlanStatus) (list []*api.Attention) {
	for i, pl := range plans {
		if i == mostPlans {
			return append(list, &api.Attention{
				Kind:    api.AttentionPlan,
				Message: human.Count(len(plans)-i, "more plan has", "more plans have") + " status " + string(status),
				Next:    "reeve plan list -status " + string(status),
			})
		}
		a := &api.Attention{
			Kind:    api.AttentionPlan,
			Message: fmt.Sprintf("Plan %s of job %s waits for an operator", pl.Name, pl.JobID),
			Next:    "reeve plan show " + JobArgs(pl.Namespace, pl.JobID) + " " + pl.Name,
		}
		if status == api.PlanError {
			a.Message = fmt.Sprintf("Plan %s of job %s failed", pl.Name, pl.JobID)
		}
		if commands := plantree.Next(pl); len(commands) > 0 {
			a.Next = commands[0]
		}
		list = append(list, a)
	}
	return list
}

// AttentionToSnapshots lists servers whose schedule saves no snapshots.
func AttentionToSnapshots(schedules []*api.SnapshotSchedule) (list []*api.Attention) {
	for _, s := range schedules {
		if s.Enabled && s.Failure != "" {
			list = append(list, &api.Attention{
				Kind: api.AttentionSnapshot, Since: s.FailedSince,
				Message: fmt.Sprintf("Server %s saves no snapshots: %s", s.Name, s.Failure), Next: "Check " + s.Directory + " on that machine",
			})
		}
	}
	return list
}

// newestSnapshot describes the newest file of the schedules. It is empty for a server that is
// alone and has no schedule.
func newestSnapshot(s *ClusterStatus, now time.Time) string {
	var newest *api.SnapshotSchedule
	scheduled := false
	for _, of := range s.Snapshots {
		scheduled = scheduled || of.Enabled
		if of.Last != nil && (newest == nil || of.Last.Time.After(newest.Last.Time)) {
			newest = of
		}
	}
	switch {
	case newest != nil:
		return fmt.Sprintf("%s, %s on %s", human.Age(now, newest.Last.Time), human.Bytes(newest.Last.Bytes), newest.Name)
	case scheduled:
		return "none yet"
	case len(s.Members) > 1:
		return "no schedule: see docs/operations.md"
	}
	return ""
}

// attention writes what waits for a person.
func attention(p *term.Page, list []*api.Attention) {
	if len(list) == 0 {
		return
	}
	p.Section("Attention")
	for _, a := range list {
		text := a.Message
		switch {
		case a.Since.IsZero():
		case a.Count > 1:
			text += fmt.Sprintf(" (%d times, last %s)", a.Count, human.Age(p.Now, a.Since))
		default:
			text += " (" + human.Age(p.Now, a.Since) + ")"
		}
		p.Line("%s", p.Style.Red(text))
		if a.Next != "" {
			p.Line("  %s", p.Style.Dim(a.Next))
		}
	}
}

// serversInWords counts the servers, or lists their addresses if nothing else is known.
func serversInWords(s *ClusterStatus) string {
	if len(s.Members) < 2 {
		return strings.Join(s.Servers, ", ")
	}
	healthy, voters, known := 0, 0, 0
	for _, m := range s.Members {
		if m.Status == api.ServerLeft {
			continue
		}
		known++
		if m.Healthy {
			healthy++
			if m.Voter {
				voters++
			}
		}
	}
	all := 0
	for _, m := range s.Members {
		if m.Voter {
			all++
		}
	}
	spare := max(0, voters-(all/2+1))
	return fmt.Sprintf("%d of %d healthy, %d may fail", healthy, known, spare)
}
