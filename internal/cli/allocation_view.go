// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// allocations writes a list of allocations.
func (p *page) allocations(list []*api.AllocationListStub, wide bool) {
	heading := []string{"ID", "Name", "Node", "Version", "Desired", "Status", "Health", "Address", "Created", "Changed"}
	if wide {
		heading = append(heading, "Evaluation")
	}
	var rows [][]string
	for _, a := range list {
		id, node := api.ShortID(a.ID), cmp.Or(a.NodeName, api.ShortID(a.NodeID))
		if wide {
			id, node = a.ID, a.NodeID
		}
		row := []string{id, a.Name, node, strconv.FormatUint(a.JobVersion, 10), a.DesiredStatus,
			p.style.status(a.ClientStatus), p.style.status(health(a.DeploymentStatus)), stubAddresses(a),
			nanosAge(p.now, a.CreateTime), nanosAge(p.now, a.ModifyTime)}
		if wide {
			row = append(row, a.EvalID)
		}
		rows = append(rows, row)
	}
	p.tableLess(heading, rows, "Created", "Desired", "Version")
}

// health is an allocation's part in its deployment, in a word.
func health(s *api.AllocDeploymentStatus) string {
	switch {
	case s == nil || s.Healthy == nil:
		return "-"
	case *s.Healthy:
		return "healthy"
	}
	return "unhealthy"
}

// stubAddresses are where a listed allocation's ports are reached.
func stubAddresses(a *api.AllocationListStub) string {
	if a.AllocatedResources == nil || a.ClientStatus != api.AllocClientRunning {
		return "-"
	}
	var list []string
	for _, port := range a.AllocatedResources.Shared.Ports {
		list = append(list, hostPort(port))
	}
	return dash(strings.Join(list, ","))
}

// allocation writes one allocation: what it is, its tasks with what happened
// to them, its ports, resources and checks.
func (p *page) allocation(s *allocationStatus, wide bool) {
	a := s.Allocation
	id := func(s string) string {
		if wide {
			return s
		}
		return api.ShortID(s)
	}
	desired := a.DesiredStatus
	if a.DesiredDescription != "" {
		desired += " (" + a.DesiredDescription + ")"
	}
	status := p.style.status(a.ClientStatus)
	if a.ClientDescription != "" && !strings.EqualFold(a.ClientDescription, a.ClientStatus) {
		status += " (" + a.ClientDescription + ")"
	}
	p.fields(
		field{"ID", id(a.ID)},
		field{"Name", a.Name},
		field{"Namespace", unlessEqual(a.Namespace, api.DefaultNamespace)},
		field{"Job", a.JobID + " version " + strconv.FormatUint(a.JobVersion(), 10)},
		field{"Group", a.Group},
		field{"Node", strings.TrimSpace(id(a.NodeID) + " " + a.NodeName)},
		field{"Evaluation", id(a.EvalID)},
		field{"Deployment", id(a.DeploymentID)},
		field{"Health", p.style.status(unlessEqual(health(a.DeploymentStatus), "-"))},
		field{"Desired", desired},
		field{"Status", status},
		field{"Crashed", p.crashed(a.Crashes)},
		field{"Tried again", p.triedAgain(a.Crashes)},
		field{"Serving", p.serving(a)},
		field{"Replaces", id(a.PreviousAllocation)},
		field{"Replaced by", id(a.NextAllocation)},
		field{"Preempted by", id(a.PreemptedByAllocation)},
		field{"Preempted", preemptedIDs(a, id)},
		field{"Next attempt", id(a.FollowupEvalID)},
		field{"Created", when(p.now, a.CreateTime)},
		field{"Changed", when(p.now, a.ModifyTime)},
	)
	p.attempts(a, id)
	p.ports(a)
	p.checks(s.Checks)
	for _, name := range taskOrder(a) {
		p.task(a, name, s.Stats)
	}
	if wide && a.Metrics != nil {
		p.section("Placement")
		p.placementMetrics(a.Metrics)
	}
}

// serving says whether the instance is up and traffic may come to it, and why
// not; "" of what nobody asks that.
func (p *page) serving(a *api.Allocation) string {
	s := a.Serving
	if s == nil || a.IsClientTerminal() && !a.IsSuspect() {
		return ""
	}
	text := "not up"
	switch {
	case a.IsRoutable():
		text = "up, routable"
	case a.IsUp():
		text = "up, not routable"
	}
	if s.Since > 0 {
		text += " since " + when(p.now, s.Since)
	}
	if reason := s.Reason; reason != "" {
		text += ": " + reason
	}
	return text
}

// preemptedIDs names what the allocation took its room from.
func preemptedIDs(a *api.Allocation, id func(string) string) string {
	ids := make([]string, 0, len(a.PreemptedAllocations))
	for _, p := range a.PreemptedAllocations {
		ids = append(ids, id(p))
	}
	return strings.Join(ids, ", ")
}

// attempts lists the failures that led to the allocation, as far as they are
// kept, the last one first.
func (p *page) attempts(a *api.Allocation, id func(string) string) {
	if a.RescheduleTracker == nil || len(a.RescheduleTracker.Events) == 0 {
		return
	}
	p.section("Failed before")
	var rows [][]string
	for _, e := range slices.Backward(a.RescheduleTracker.Events) {
		waited := "at once"
		if e.Delay > 0 {
			waited = "after " + e.Delay.String()
		}
		rows = append(rows, []string{id(e.PrevAllocID), id(e.PrevNodeID), waited, age(p.now, time.Unix(0, e.RescheduleTime))})
	}
	p.table([]string{"Allocation", "Node", "Tried again", "When"}, rows)
}

func (p *page) ports(a *api.Allocation) {
	if len(ports(a)) == 0 {
		return
	}
	p.section("Ports")
	var rows [][]string
	for _, port := range ports(a) {
		to := "-"
		if port.To > 0 && port.To != port.Value {
			to = strconv.Itoa(port.To)
		}
		rows = append(rows, []string{port.Label, hostPort(port), to})
	}
	p.table([]string{"Label", "Address", "To"}, rows)
}

func (p *page) checks(checks map[string]*api.CheckStatus) {
	if len(checks) == 0 {
		return
	}
	p.section("Checks")
	var rows [][]string
	list := slices.SortedFunc(maps.Values(checks), func(a, b *api.CheckStatus) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Task, b.Task), strings.Compare(a.Check, b.Check), strings.Compare(a.ID, b.ID))
	})
	for _, c := range list {
		looked := "-"
		if c.Timestamp > 0 {
			looked = age(p.now, time.Unix(c.Timestamp, 0))
		}
		rows = append(rows, []string{dash(c.Service), dash(cmp.Or(c.Task, c.Group)), c.Check, dash(c.Kind), p.style.status(c.Status),
			looked, firstLine(c.Output)})
	}
	p.table([]string{"Service", "Of", "Check", "Kind", "Status", "Looked", "Output"}, rows)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// taskOrder lists an allocation's tasks as the job declares them; those that
// the job does not know come last.
func taskOrder(a *api.Allocation) []string {
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
func (p *page) task(a *api.Allocation, name string, stats *api.AllocationStats) {
	state := a.TaskStates[name]
	title := fmt.Sprintf("Task %q", name)
	if kind := taskKind(a, name); kind != "" {
		title += " (" + kind + ")"
	}
	p.section(title)
	if state == nil {
		p.fields(field{"State", p.style.status(api.TaskStatePending)}, field{"Resources", taskResources(a, name)})
		return
	}
	p.fields(
		field{"State", p.taskStateInWords(state)},
		field{"Started", whenTime(p.now, state.StartedAt)},
		field{"Finished", whenTime(p.now, state.FinishedAt)},
		field{"Restarts", restarts(p.now, state)},
		field{"Resources", taskResources(a, name)},
		field{"In use", inUse(a, name, stats)},
	)
	p.result(state.Result)
	if len(state.Events) == 0 {
		return
	}
	p.WriteByte('\n')
	var rows [][]string
	for _, e := range state.Events {
		rows = append(rows, []string{time.Unix(0, e.Time).In(p.now.Location()).Format(time.RFC3339), e.Type, eventInWords(e)})
	}
	p.table([]string{"Time", "Event", "What happened"}, rows)
}

// result writes what a task left as its result.
func (p *page) result(text string) {
	if text == "" {
		return
	}
	p.WriteByte('\n')
	p.line("Result")
	for line := range strings.Lines(text) {
		p.line("  %s", strings.TrimRight(line, "\r\n"))
	}
}

func (p *page) taskStateInWords(s *api.TaskState) string {
	switch {
	case s.State == api.TaskStateDead && s.Failed:
		return p.style.red("dead (failed)")
	case s.State == api.TaskStateDead:
		return "dead (successful)"
	}
	return p.style.status(s.State)
}

func restarts(now time.Time, s *api.TaskState) string {
	if s.Restarts == 0 {
		return ""
	}
	return fmt.Sprintf("%d, the last %s", s.Restarts, age(now, s.LastRestart))
}

func whenTime(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return when(now, t.UnixNano())
}

// taskKind says what a task is to its group.
func taskKind(a *api.Allocation, name string) string {
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

// taskResources is what a task holds on its node.
func taskResources(a *api.Allocation, name string) string {
	if a.AllocatedResources == nil || a.AllocatedResources.Tasks[name] == nil {
		return ""
	}
	t := a.AllocatedResources.Tasks[name]
	text := fmt.Sprintf("%d MHz, %s", t.CPU.CPUShares, megabytes(t.Memory.MemoryMB))
	if t.Memory.MemoryMaxMB > t.Memory.MemoryMB {
		text += " (up to " + megabytes(t.Memory.MemoryMaxMB) + ")"
	}
	if cores := t.CPU.ReservedCores; len(cores) > 0 {
		text += ", cores " + api.FormatCores(cores)
	}
	for _, d := range t.Devices {
		text += fmt.Sprintf(", %s/%s/%s %s", d.Vendor, d.Type, d.Name, strings.Join(d.DeviceIDs, ","))
	}
	return text
}

// eventInWords is what an event says for people.
func eventInWords(e *api.TaskEvent) string {
	return cmp.Or(e.DisplayMessage, e.Message, e.DriverError, e.SetupError, e.KillReason, e.RestartReason)
}

// placementMetrics writes how an allocation got its node.
func (p *page) placementMetrics(m *api.PlacementMetrics) {
	p.line("%s looked at, %d excluded, %d full, in %s", count(m.NodesEvaluated, "node", "nodes"),
		m.NodesFiltered, m.NodesExhausted, m.AllocationTime)
	for _, line := range explainPlacement(m) {
		p.line("  * %s", line)
	}
	if len(m.ScoreMetaData) == 0 {
		return
	}
	var rows [][]string
	for _, s := range m.ScoreMetaData {
		var parts []string
		for _, scorer := range slices.Sorted(maps.Keys(s.Scores)) {
			parts = append(parts, fmt.Sprintf("%s %.3g", scorer, s.Scores[scorer]))
		}
		rows = append(rows, []string{api.ShortID(s.NodeID), fmt.Sprintf("%.3g", s.NormScore), strings.Join(parts, ", ")})
	}
	p.table([]string{"Node", "Score", "Of which"}, rows)
}
