// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plantree

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

// Statuses lists all statuses, in the order of a step's life.
var Statuses = []api.PlanStatus{
	api.PlanPending, api.PlanWaiting, api.PlanPrepared, api.PlanStarting, api.PlanStarted,
	api.PlanInProgress, api.PlanDelayed, api.PlanComplete, api.PlanError,
}

func IsStatus(s api.PlanStatus) bool {
	for _, known := range Statuses {
		if s == known {
			return true
		}
	}
	return false
}

func JoinStatuses(list []api.PlanStatus) string {
	var names []string
	for _, s := range list {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// Status colours a status by its meaning.
func Status(s term.Style, status api.PlanStatus) string {
	text := string(status)
	switch status {
	case api.PlanComplete:
		return s.Green(text)
	case api.PlanError:
		return s.Red(text)
	case api.PlanWaiting, api.PlanDelayed:
		return s.Yellow(text)
	case api.PlanPending:
		return s.Dim(text)
	}
	return s.Cyan(text)
}

// Progress formats the number of complete steps.
func Progress(completed, total int) string { return fmt.Sprintf("%d/%d", completed, total) }

// IsUnstarted reports whether a plan is custom and not started.
func IsUnstarted(pl *api.Plan) bool {
	return pl.IsCustom() && pl.Run == "" && pl.Status != api.PlanError
}

// IsUnderWay reports whether a plan is neither complete nor waiting for its start.
func IsUnderWay(pl *api.Plan) bool { return pl.Status != api.PlanComplete && !IsUnstarted(pl) }

// isQuiet reports whether a step is pending or complete without notes.
func isQuiet(s *api.Step) bool {
	return (s.Status == api.PlanComplete && s.Forced == nil || s.Status == api.PlanPending) && !s.Interrupted
}

// Decided describes a decision: "alice@laptop continued phase web, 2m ago: looks good".
func Decided(now time.Time, d *api.Decision) string {
	text := fmt.Sprintf("%s %s", cmp.Or(d.By, "unknown"), pastOf(d.Verb))
	switch {
	case d.Step != "":
		text += " " + d.Step
	case d.Phase != "":
		text += " phase " + d.Phase
	case d.Plan != "":
		text += " plan " + d.Plan
	default:
		text += " " + api.InstanceName(d.Group, d.Index)
		if len(d.Tasks) > 0 {
			text += ":[" + strings.Join(d.Tasks, ", ") + "]"
		}
	}
	if len(d.Parameters) > 0 {
		text += " with " + parametersInWords(d.Parameters)
	}
	return text + sinceAndWhy(now, d)
}

// decidedBy describes the operator, time and reason of a decision.
func decidedBy(now time.Time, d *api.Decision) string {
	return cmp.Or(d.By, "unknown") + sinceAndWhy(now, d)
}

func sinceAndWhy(now time.Time, d *api.Decision) string {
	text := ""
	switch {
	case d.Time == 0:
	case now.Sub(time.Unix(0, d.Time)) < time.Second:
		text = ", just now"
	default:
		text = ", " + human.NanosAge(now, d.Time)
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}

func pastOf(v api.Verb) string {
	switch v {
	case api.VerbStop:
		return "stopped"
	case api.VerbForceComplete:
		return "force-completed"
	case api.VerbContinue, api.VerbReplace, api.VerbPause, api.VerbResume:
		return strings.TrimSuffix(string(v), "e") + "ed"
	}
	return string(v) + "ed"
}

func parametersInWords(m map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, key+"="+human.ShellQuote(m[key]))
	}
	return strings.Join(parts, " ")
}

// NamespaceFlag returns the flag -namespace that commands for a plan's job need, or "".
func NamespaceFlag(pl *api.Plan) string {
	if pl.Namespace == "" || pl.Namespace == api.DefaultNamespace {
		return ""
	}
	return " -namespace " + human.ShellQuote(pl.Namespace)
}
