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

// planStatuses are all statuses, in the order of a step's life.
var planStatuses = []api.PlanStatus{
	api.PlanPending, api.PlanWaiting, api.PlanPrepared, api.PlanStarting, api.PlanStarted,
	api.PlanInProgress, api.PlanDelayed, api.PlanComplete, api.PlanError,
}

func isPlanStatus(s api.PlanStatus) bool {
	for _, known := range planStatuses {
		if s == known {
			return true
		}
	}
	return false
}

func joinStatuses(list []api.PlanStatus) string {
	var names []string
	for _, s := range list {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// planStatus colours a status by what it means.
func (s style) planStatus(status api.PlanStatus) string {
	text := string(status)
	switch status {
	case api.PlanComplete:
		return s.green(text)
	case api.PlanError:
		return s.red(text)
	case api.PlanWaiting, api.PlanDelayed:
		return s.yellow(text)
	case api.PlanPending:
		return s.dim(text)
	}
	return s.cyan(text)
}

// planProgress is how many steps are complete.
func planProgress(completed, total int) string { return fmt.Sprintf("%d/%d", completed, total) }

// isUnstarted reports whether a plan is a custom one that nobody has started.
func isUnstarted(pl *api.Plan) bool {
	return pl.IsCustom() && pl.Run == "" && pl.Status != api.PlanError
}

// isUnderWay reports whether there is something to follow: the plan is neither
// complete nor waiting for its start.
func isUnderWay(pl *api.Plan) bool { return pl.Status != api.PlanComplete && !isUnstarted(pl) }

// isQuiet reports whether nothing happens to a step, and nothing has to be said
// about it.
func isQuiet(s *api.Step) bool {
	return (s.Status == api.PlanComplete && s.Forced == nil || s.Status == api.PlanPending) && !s.Interrupted
}

// inState is how long something has been as it is.
func inState(now, since time.Time) string {
	if since.IsZero() || since.Unix() <= 0 {
		return "-"
	}
	return shortDuration(max(0, now.Sub(since)))
}

// decided is a decision in words: "alice@laptop continued phase web, 2m ago:
// looks good".
func decided(now time.Time, d *api.Decision) string {
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

// decidedBy says who decided, when and why.
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
		text = ", " + nanosAge(now, d.Time)
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
		parts = append(parts, key+"="+shellQuote(m[key]))
	}
	return strings.Join(parts, " ")
}

// namespaceFlag is what a command about a plan's job needs besides the job's
// id.
func namespaceFlag(pl *api.Plan) string {
	if pl.Namespace == "" || pl.Namespace == api.DefaultNamespace {
		return ""
	}
	return " -namespace " + shellQuote(pl.Namespace)
}
