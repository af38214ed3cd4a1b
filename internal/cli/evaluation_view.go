// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

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
)

// evaluations writes a list of evaluations.
func (p *page) evaluations(list []*api.Evaluation) {
	var rows [][]string
	for _, e := range list {
		rows = append(rows, []string{api.ShortID(e.ID), dash(e.JobID), strconv.Itoa(e.Priority), triggerInWords(e.TriggeredBy),
			p.style.status(e.Status), placedInWords(e), nanosAge(p.now, e.CreateTime)})
	}
	p.table([]string{"ID", "Job", "Priority", "Because", "Status", "Placed", "Created"}, rows)
}

// placedInWords says whether an evaluation placed all that was wanted.
func placedInWords(e *api.Evaluation) string {
	switch {
	case len(e.FailedGroups) > 0:
		return "not all"
	case e.Status == api.EvalStatusComplete:
		return "all"
	}
	return "-"
}

// triggerInWords says what made an evaluation.
func triggerInWords(trigger string) string {
	words, ok := map[string]string{
		api.TriggerJobRegister:          "the job was registered",
		api.TriggerJobDeregister:        "the job was stopped",
		api.TriggerJobScale:             "the job was scaled",
		api.TriggerPeriodicJob:          "its time came",
		api.TriggerJobDispatch:          "the job was dispatched",
		api.TriggerNodeUpdate:           "a node changed",
		api.TriggerNodeDrain:            "a node is being drained",
		api.TriggerAllocFailure:         "an allocation failed",
		api.TriggerAllocStop:            "an allocation was stopped by hand",
		api.TriggerAllocReconnect:       "a node came back",
		api.TriggerMaxDisconnect:        "a node out of reach is given up",
		api.TriggerReschedule:           "a failed allocation's next attempt is due",
		api.TriggerDeploymentWatcher:    "the deployment goes on",
		api.TriggerRestart:              "the job is being restarted",
		api.TriggerQueuedAllocs:         "instances wait for a place",
		api.TriggerMaxPlacementAttempts: "too many placements were refused",
		api.TriggerPreemption:           "a job of higher priority took its place",
		api.TriggerFailedFollowUp:       "an earlier attempt failed",
	}[trigger]
	if !ok {
		return trigger
	}
	return words
}

// evaluation writes one evaluation: why it exists, how it ended, and what
// could not be placed. Of a blocked one, waits says what would help it.
func (p *page) evaluation(e *api.Evaluation, placed []*api.AllocationListStub, waits *api.JobExplanation, wide bool) {
	id := api.ShortID
	if wide {
		id = func(s string) string { return s }
	}
	p.fields(
		field{"ID", id(e.ID)},
		field{"Job", e.JobID},
		field{"Namespace", unlessEqual(e.Namespace, api.DefaultNamespace)},
		field{"Type", e.Type},
		field{"Because", triggerInWords(e.TriggeredBy)},
		field{"Node", id(e.NodeID)},
		field{"Deployment", id(e.DeploymentID)},
		field{"Priority", strconv.Itoa(e.Priority)},
		field{"Status", p.style.status(e.Status)},
		field{"Description", e.StatusDescription},
		field{"Not before", waitUntil(p.now, e.WaitUntil)},
		field{"Follows", id(e.PreviousEval)},
		field{"Next", id(e.NextEval)},
		field{"Blocked", blockedEval(e, id)},
		field{"Created", when(p.now, e.CreateTime)},
		field{"Changed", when(p.now, e.ModifyTime)},
	)
	if len(e.FailedGroups) > 0 {
		p.section("Could not be placed")
		p.placementFailures(e.FailedGroups)
	}
	if len(placed) > 0 {
		p.section("Placed")
		p.allocations(placed, wide)
	}
	if e.Annotations != nil && len(e.Annotations.DesiredUpdates) > 0 {
		p.section("Decided")
		p.desiredUpdates(e.Annotations.DesiredUpdates)
	}
	if len(e.RelatedEvals) > 0 {
		p.section("Related")
		var rows [][]string
		for _, r := range e.RelatedEvals {
			rows = append(rows, []string{id(r.ID), triggerInWords(r.TriggeredBy), p.style.status(r.Status), nanosAge(p.now, r.CreateTime)})
		}
		p.table([]string{"ID", "Because", "Status", "Created"}, rows)
	}
	if e.Status == api.EvalStatusBlocked {
		p.WriteByte('\n')
		p.line("%s", blockedInWords(e))
		if waits != nil && len(waits.Unblock) > 0 {
			p.line("It would go on with any of these:")
			for _, text := range waits.Unblock {
				p.line("  * %s", text)
			}
			p.line("\"reeve job explain %s\" tells more.", e.JobID)
		}
	}
}

func waitUntil(now, t time.Time) string {
	if t.IsZero() || !t.After(now) {
		return ""
	}
	return t.In(now.Location()).Format(time.RFC3339) + " (in " + shortDuration(t.Sub(now)) + ")"
}

func blockedEval(e *api.Evaluation, id func(string) string) string {
	if e.BlockedEval == "" {
		return ""
	}
	return id(e.BlockedEval) + " waits with what could not be placed"
}

// blockedInWords says what a blocked evaluation waits for.
func blockedInWords(e *api.Evaluation) string {
	if e.EscapedComputedClass || len(e.ClassEligibility) == 0 {
		return "It waits for any node to change or to have room."
	}
	eligible := 0
	for _, ok := range e.ClassEligibility {
		if ok {
			eligible++
		}
	}
	if eligible == 0 {
		return "It waits for a node of another class than those that were looked at."
	}
	return fmt.Sprintf("It waits for room on a node of %s, or for a node of a class not seen yet.",
		count(eligible, "eligible class", "eligible classes"))
}

// desiredUpdates writes what an evaluation would do to each group.
func (p *page) desiredUpdates(updates map[string]*api.DesiredUpdates) {
	for _, group := range slices.Sorted(maps.Keys(updates)) {
		p.line("%s: %s", group, cmp.Or(desiredInWords(updates[group]), "nothing changes"))
	}
}

// desiredInWords counts what would happen to a group's instances.
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

// newestFirst sorts evaluations by their creation.
func newestFirst(list []*api.Evaluation) {
	sort.SliceStable(list, func(i, j int) bool { return list[i].CreateIndex > list[j].CreateIndex })
}
