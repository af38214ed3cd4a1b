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

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// TaskOrder lists an allocation's tasks in the order of the job, then unknown tasks.
func TaskOrder(a *api.Allocation) []string {
	var names []string
	seen := map[string]bool{}
	if a.Job != nil {
		if g := a.Job.Group(a.Group); g != nil {
			for _, t := range g.Tasks {
				names, seen[t.Name] = append(names, t.Name), true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		if !seen[name] {
			names = append(names, name)
		}
	}
	return names
}

// task writes one task's state, resources and events, the newest event last.
func task(p *term.Page, a *api.Allocation, name string, stats *api.AllocationStats) {
	state := a.TaskStates[name]
	title := fmt.Sprintf("Task %q", name)
	if kind := TaskKind(a, name); kind != "" {
		title += " (" + kind + ")"
	}
	p.Section(title)
	if state == nil {
		p.Fields(term.Field{"State", p.Style.Status(api.TaskStatePending)}, term.Field{"Resources", taskResources(a, name)})
		return
	}
	p.Fields(
		term.Field{"State", taskStateInWords(p, state)},
		term.Field{"Started", whenTime(p.Now, state.StartedAt)},
		term.Field{"Finished", whenTime(p.Now, state.FinishedAt)},
		term.Field{"Restarts", restarts(p.Now, state)},
		term.Field{"Image", pinnedImages(a, name)},
		term.Field{"Resources", taskResources(a, name)},
		term.Field{"In use", inUse(a, name, stats)},
	)
	result(p, state.Result)
	templateTable(p, state.Templates)
	if len(state.Events) == 0 {
		return
	}
	p.WriteByte('\n')
	var rows [][]string
	for _, e := range state.Events {
		rows = append(rows, []string{time.Unix(0, e.Time).In(p.Now.Location()).Format(time.RFC3339), e.Type, EventInWords(e)})
	}
	p.Table([]string{"Time", "Event", "Description"}, rows)
}

// result writes the result of a task.
func result(p *term.Page, text string) {
	if text == "" {
		return
	}
	p.WriteByte('\n')
	p.Line("Result")
	for line := range strings.Lines(text) {
		p.Line("  %s", strings.TrimRight(line, "\r\n"))
	}
}

func taskStateInWords(p *term.Page, s *api.TaskState) string {
	switch {
	case s.State == api.TaskStateDead && s.Failed:
		return p.Style.Red("dead (failed)")
	case s.State == api.TaskStateDead:
		return "dead (successful)"
	}
	return p.Style.Status(s.State)
}

func restarts(now time.Time, s *api.TaskState) string {
	if s.Restarts == 0 {
		return ""
	}
	return fmt.Sprintf("%d, last %s", s.Restarts, human.Age(now, s.LastRestart))
}

func whenTime(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return human.When(now, t.UnixNano())
}

// TaskKind returns the role of a task in its group.
func TaskKind(a *api.Allocation, name string) string {
	if a.Job == nil {
		return ""
	}
	g := a.Job.Group(a.Group)
	if g == nil {
		return ""
	}
	t := g.Task(name)
	switch {
	case t == nil || t.IsMain():
		return ""
	case t.IsSidecar():
		return t.Lifecycle.Hook + " sidecar"
	}
	return t.Lifecycle.Hook
}

// secretsOf returns the size that the task requests for its directory of secrets.
func secretsOf(a *api.Allocation, name string) int {
	if a.Job == nil {
		return 0
	}
	if g := a.Job.Group(a.Group); g != nil {
		if t := g.Task(name); t != nil {
			return t.SecretsMB()
		}
	}
	return 0
}

// taskResources describes the resources that a task holds on its node.
func taskResources(a *api.Allocation, name string) string {
	if a.AllocatedResources == nil || a.AllocatedResources.Tasks[name] == nil {
		return ""
	}
	t := a.AllocatedResources.Tasks[name]
	text := fmt.Sprintf("%d MHz, %s", t.CPU.CPUShares, human.Megabytes(t.Memory.MemoryMB))
	if t.Memory.MemoryMaxMB > t.Memory.MemoryMB {
		text += " (up to " + human.Megabytes(t.Memory.MemoryMaxMB) + ")"
	}
	if mb := secretsOf(a, name); mb > 0 {
		text += ", of which " + human.Megabytes(int64(mb)) + " for secrets"
	}
	if cores := t.CPU.ReservedCores; len(cores) > 0 {
		text += ", cores " + api.FormatCores(cores)
	}
	for _, d := range t.Devices {
		text += fmt.Sprintf(", %s/%s/%s %s", d.Vendor, d.Type, d.Name, strings.Join(d.DeviceIDs, ","))
	}
	return text
}

// EventInWords returns the description of an event.
func EventInWords(e *api.TaskEvent) string {
	return cmp.Or(e.DisplayMessage, e.Message, e.DriverError, e.SetupError, e.KillReason, e.RestartReason)
}
