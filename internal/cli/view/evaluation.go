// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Evaluations writes a list of evaluations.
func Evaluations(p *term.Page, list []*api.Evaluation) {
	var rows [][]string
	for _, e := range list {
		rows = append(rows, []string{api.ShortID(e.ID), human.Dash(e.JobID), strconv.Itoa(e.Priority), triggerInWords(e.TriggeredBy),
			p.Style.Status(e.Status), placedInWords(e), human.NanosAge(p.Now, e.CreateTime)})
	}
	p.Table([]string{"ID", "Job", "Priority", "Because", "Status", "Placed", "Created"}, rows)
}

// placedInWords describes whether an evaluation placed all instances.
func placedInWords(e *api.Evaluation) string {
	switch {
	case len(e.FailedGroups) > 0:
		return "not all"
	case e.Status == api.EvalStatusComplete:
		return "all"
	}
	return "-"
}

// triggerInWords describes the trigger of an evaluation.
func triggerInWords(trigger string) string {
	words, ok := map[string]string{
		api.TriggerJobRegister:          "the job was registered",
		api.TriggerJobDeregister:        "the job was stopped",
		api.TriggerJobScale:             "the job was scaled",
		api.TriggerPeriodicJob:          "a periodic start was due",
		api.TriggerJobDispatch:          "the job was dispatched",
		api.TriggerNodeUpdate:           "a node changed",
		api.TriggerNodeDrain:            "a node drains",
		api.TriggerAllocFailure:         "an allocation failed",
		api.TriggerAllocStop:            "an operator stopped an allocation",
		api.TriggerAllocReconnect:       "a node reconnected",
		api.TriggerMaxDisconnect:        "a disconnected node was given up",
		api.TriggerReschedule:           "the next attempt of a failed allocation was due",
		api.TriggerDeploymentWatcher:    "the deployment progressed",
		api.TriggerRestart:              "the job restarts",
		api.TriggerQueuedAllocs:         "instances could not be placed",
		api.TriggerMaxPlacementAttempts: "too many placements were rejected",
		api.TriggerPreemption:           "a job of higher priority preempted it",
		api.TriggerFailedFollowUp:       "an earlier evaluation failed",
	}[trigger]
	if !ok {
		return trigger
	}
	return words
}

// Evaluation writes one evaluation: its trigger, result and failures. For a blocked
// evaluation, waits contains possible solutions.
func Evaluation(p *term.Page, e *api.Evaluation, placed []*api.AllocationListStub, waits *api.JobExplanation, wide bool) {
	id := api.ShortID
	if wide {
		id = func(s string) string { return s }
	}
	p.Fields(
		term.Field{"ID", id(e.ID)},
		term.Field{"Job", e.JobID},
		term.Field{"Namespace", human.Unless(e.Namespace, api.DefaultNamespace)},
		term.Field{"Type", e.Type},
		term.Field{"Because", triggerInWords(e.TriggeredBy)},
		term.Field{"Node", id(e.NodeID)},
		term.Field{"Deployment", id(e.DeploymentID)},
		term.Field{"Priority", strconv.Itoa(e.Priority)},
		term.Field{"Status", p.Style.Status(e.Status)},
		term.Field{"Description", e.StatusDescription},
		term.Field{"Not before", waitUntil(p.Now, e.WaitUntil)},
		term.Field{"Follows", id(e.PreviousEval)},
		term.Field{"Next", id(e.NextEval)},
		term.Field{"Blocked", blockedEval(e, id)},
		term.Field{"Created", human.When(p.Now, e.CreateTime)},
		term.Field{"Changed", human.When(p.Now, e.ModifyTime)},
	)
	if len(e.FailedGroups) > 0 {
		p.Section("Not placed")
		PlacementFailures(p, e.FailedGroups)
	}
	if len(placed) > 0 {
		p.Section("Placed")
		Allocations(p, placed, wide)
	}
	if e.Annotations != nil && len(e.Annotations.DesiredUpdates) > 0 {
		p.Section("Decided")
		desiredUpdates(p, e.Annotations.DesiredUpdates)
	}
	if len(e.RelatedEvals) > 0 {
		p.Section("Related")
		var rows [][]string
		for _, r := range e.RelatedEvals {
			rows = append(rows, []string{id(r.ID), triggerInWords(r.TriggeredBy), p.Style.Status(r.Status), human.NanosAge(p.Now, r.CreateTime)})
		}
		p.Table([]string{"ID", "Because", "Status", "Created"}, rows)
	}
	if e.Status == api.EvalStatusBlocked {
		p.WriteByte('\n')
		p.Line("%s", blockedInWords(e))
		if waits != nil && len(waits.Unblock) > 0 {
			p.Line("Any of these changes would unblock it:")
			for _, text := range waits.Unblock {
				p.Line("  * %s", text)
			}
			p.Line("\"reeve job explain %s\" shows details.", JobArgs(e.Namespace, e.JobID))
		}
	}
}

func waitUntil(now, t time.Time) string {
	if t.IsZero() || !t.After(now) {
		return ""
	}
	return t.In(now.Location()).Format(time.RFC3339) + " (in " + human.Duration(t.Sub(now)) + ")"
}

func blockedEval(e *api.Evaluation, id func(string) string) string {
	if e.BlockedEval == "" {
		return ""
	}
	return id(e.BlockedEval) + " waits for resources"
}

// blockedInWords describes the changes that unblock an evaluation.
func blockedInWords(e *api.Evaluation) string {
	if e.QuotaLimitReached != "" && !e.EscapedComputedClass && len(e.ClassEligibility) == 0 {
		return fmt.Sprintf("It waits for less usage or higher limits of quota %q.", e.QuotaLimitReached)
	}
	if e.EscapedComputedClass || len(e.ClassEligibility) == 0 {
		return "It waits for a change of any node."
	}
	eligible := 0
	for _, ok := range e.ClassEligibility {
		if ok {
			eligible++
		}
	}
	if eligible == 0 {
		return "It waits for a node of another class."
	}
	return fmt.Sprintf("It waits for resources on a node of %s, or for a node of a new class.",
		human.Count(eligible, "eligible class", "eligible classes"))
}

// desiredUpdates writes the changes of an evaluation to each group.
func desiredUpdates(p *term.Page, updates map[string]*api.DesiredUpdates) {
	for _, group := range slices.Sorted(maps.Keys(updates)) {
		p.Line("%s: %s", group, cmp.Or(desiredInWords(updates[group]), "no changes"))
	}
}

// desiredInWords counts the changes to the instances of a group.
func desiredInWords(u *api.DesiredUpdates) string {
	if u == nil {
		return ""
	}
	var parts []string
	for _, part := range []struct {
		n    uint64
		word string
	}{
		{u.Place, "start"}, {u.Canary, "start as canary"}, {u.DestructiveUpdate, "replace"}, {u.InPlaceUpdate, "update in place"},
		{u.Migrate, "move"}, {u.Stop, "stop"}, {u.Preemptions, "preempt"}, {u.Reconnect, "reconnect"},
		{u.Disconnect, "disconnect"}, {u.RescheduleNow, "replace after failure"},
		{u.RescheduleLater, "replace after failure, later"}, {u.Ignore, "keep"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.word, part.n))
		}
	}
	return strings.Join(parts, ", ")
}

// NewestFirst sorts evaluations by creation, newest first.
func NewestFirst(list []*api.Evaluation) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].CreateIndex > list[j].CreateIndex })
}
