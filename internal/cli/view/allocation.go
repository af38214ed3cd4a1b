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

// Allocations writes a list of allocations.
func Allocations(p *term.Page, list []*api.AllocationListStub, wide bool) {
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
			p.Style.Status(a.ClientStatus), p.Style.Status(Health(a.DeploymentStatus)), StubAddresses(a),
			human.NanosAge(p.Now, a.CreateTime), human.NanosAge(p.Now, a.ModifyTime)}
		if wide {
			row = append(row, a.EvalID)
		}
		rows = append(rows, row)
	}
	p.TableLess(heading, rows, "Created", "Desired", "Version")
}

// Health returns the health of an allocation in its deployment, or "-".
func Health(s *api.AllocDeploymentStatus) string {
	switch {
	case s == nil || s.Healthy == nil:
		return "-"
	case *s.Healthy:
		return "healthy"
	}
	return "unhealthy"
}

// StubAddresses returns the addresses of a running allocation's ports.
func StubAddresses(a *api.AllocationListStub) string {
	if a.AllocatedResources == nil || a.ClientStatus != api.AllocClientRunning {
		return "-"
	}
	var list []string
	for _, port := range a.AllocatedResources.Shared.Ports {
		list = append(list, HostPort(port))
	}
	return human.Dash(strings.Join(list, ","))
}

// Allocation writes one allocation: its fields, failures, ports, checks and tasks.
func Allocation(p *term.Page, s *AllocationStatus, wide bool) {
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
	status := p.Style.Status(a.ClientStatus)
	if a.ClientDescription != "" && !strings.EqualFold(a.ClientDescription, a.ClientStatus) {
		status += " (" + a.ClientDescription + ")"
	}
	p.Fields(
		term.Field{"ID", id(a.ID)},
		term.Field{"Name", a.Name},
		term.Field{"Namespace", human.Unless(a.Namespace, api.DefaultNamespace)},
		term.Field{"Job", a.JobID + " version " + strconv.FormatUint(a.JobVersion(), 10)},
		term.Field{"Group", a.Group},
		term.Field{"Node", strings.TrimSpace(id(a.NodeID) + " " + a.NodeName)},
		term.Field{"Evaluation", id(a.EvalID)},
		term.Field{"Deployment", id(a.DeploymentID)},
		term.Field{"Health", p.Style.Status(human.Unless(Health(a.DeploymentStatus), "-"))},
		term.Field{"Desired", desired},
		term.Field{"Status", status},
		term.Field{"Crashed", crashed(p, a.Crashes)},
		term.Field{"Next attempt", triedAgain(p, a.Crashes)},
		term.Field{"Serving", serving(p, a)},
		term.Field{"Warm-up", warmUpOf(a)},
		term.Field{"Network", ownNetwork(a)},
		term.Field{"Replaces", id(a.PreviousAllocation)},
		term.Field{"Replaced by", id(a.NextAllocation)},
		term.Field{"Preempted by", id(a.PreemptedByAllocation)},
		term.Field{"Preempted", preemptedIDs(a, id)},
		term.Field{"Follow-up evaluation", id(a.FollowupEvalID)},
		term.Field{"Created", human.When(p.Now, a.CreateTime)},
		term.Field{"Changed", human.When(p.Now, a.ModifyTime)},
	)
	attempts(p, a, id)
	portTable(p, a)
	checkTable(p, s.Checks)
	for _, name := range TaskOrder(a) {
		task(p, a, name, s.Stats)
	}
	if wide && a.Metrics != nil {
		p.Section("Placement")
		placementMetrics(p, a.Metrics)
	}
}

// serving describes whether the instance is up and routable, with the reason; "" for
// ended allocations.
func serving(p *term.Page, a *api.Allocation) string {
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
		text += " since " + human.When(p.Now, s.Since)
	}
	if reason := s.Reason; reason != "" {
		text += ": " + reason
	}
	return text
}

// ownNetwork returns the addresses inside the instance's own network; "" without one, and at its end.
func ownNetwork(a *api.Allocation) string {
	n := a.NetworkStatus
	if n == nil || n.Address+n.AddressIPv6 == "" || a.IsClientTerminal() {
		return ""
	}
	return strings.TrimSpace(n.Address+" "+n.AddressIPv6) + " on " + n.InterfaceName
}

func warmUpOf(a *api.Allocation) string {
	if a.Serving == nil {
		return ""
	}
	return warmUp(a.Serving.Warm)
}

// warmUp describes the progress of a warm-up with the last failure; "" without one.
func warmUp(w *api.WarmProgress) string {
	text := w.String()
	if w != nil && w.Failure != "" {
		text += "; the last failure: " + w.Failure
	}
	return text
}

// preemptedIDs lists the allocations that the allocation preempted.
func preemptedIDs(a *api.Allocation, id func(string) string) string {
	ids := make([]string, 0, len(a.PreemptedAllocations))
	for _, p := range a.PreemptedAllocations {
		ids = append(ids, id(p))
	}
	return strings.Join(ids, ", ")
}

// attempts lists the recorded failures before the allocation, latest first.
func attempts(p *term.Page, a *api.Allocation, id func(string) string) {
	if a.RescheduleTracker == nil || len(a.RescheduleTracker.Events) == 0 {
		return
	}
	p.Section("Previous failures")
	var rows [][]string
	for _, e := range slices.Backward(a.RescheduleTracker.Events) {
		waited := "immediately"
		if e.Delay > 0 {
			waited = "after " + e.Delay.String()
		}
		rows = append(rows, []string{id(e.PrevAllocID), id(e.PrevNodeID), waited, human.Age(p.Now, time.Unix(0, e.RescheduleTime))})
	}
	p.Table([]string{"Allocation", "Node", "Retried", "When"}, rows)
}

func portTable(p *term.Page, a *api.Allocation) {
	if len(ports(a)) == 0 {
		return
	}
	p.Section("Ports")
	var rows [][]string
	for _, port := range ports(a) {
		to := "-"
		if port.To > 0 && port.To != port.Value {
			to = strconv.Itoa(port.To)
		}
		rows = append(rows, []string{port.Label, HostPort(port), to})
	}
	p.Table([]string{"Label", "Address", "To"}, rows)
}

func checkTable(p *term.Page, checks map[string]*api.CheckStatus) {
	if len(checks) == 0 {
		return
	}
	p.Section("Checks")
	var rows [][]string
	list := slices.SortedFunc(maps.Values(checks), func(a, b *api.CheckStatus) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), strings.Compare(a.Task, b.Task), strings.Compare(a.Check, b.Check), strings.Compare(a.ID, b.ID))
	})
	for _, c := range list {
		looked := "-"
		if c.Timestamp > 0 {
			looked = human.Age(p.Now, time.Unix(c.Timestamp, 0))
		}
		rows = append(rows, []string{human.Dash(c.Service), human.Dash(cmp.Or(c.Task, c.Group)), c.Check, human.Dash(c.Kind), p.Style.Status(c.Status),
			looked, firstLine(c.Output)})
	}
	p.Table([]string{"Service", "Of", "Check", "Kind", "Status", "Checked", "Output"}, rows)
}

// placementMetrics writes the evaluated nodes and scores of an allocation's placement.
func placementMetrics(p *term.Page, m *api.PlacementMetrics) {
	p.Line("%s evaluated, %d filtered, %d exhausted, in %s", human.Count(m.NodesEvaluated, "node", "nodes"),
		m.NodesFiltered, m.NodesExhausted, m.AllocationTime)
	for _, line := range explainPlacement(m) {
		p.Line("  * %s", line)
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
	p.Table([]string{"Node", "Score", "Parts"}, rows)
}

// SortAllocations sorts allocations by job and index, the newest of an index first.
func SortAllocations(list []*api.AllocationListStub) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.JobID != b.JobID || a.TaskGroup != b.TaskGroup {
			return a.JobID+"\x00"+a.TaskGroup < b.JobID+"\x00"+b.TaskGroup
		}
		if x, y := IndexOf(a), IndexOf(b); x != y {
			return x < y
		}
		return a.CreateIndex > b.CreateIndex
	})
}

// IndexOf returns the index of an allocation in its group.
func IndexOf(a *api.AllocationListStub) int { return (&api.Allocation{Name: a.Name}).Index() }

// AllocationsWithAddresses writes the allocations of a job with their addresses.
func AllocationsWithAddresses(p *term.Page, list []*api.AllocationListStub) {
	SortAllocations(list)
	var rows [][]string
	for _, a := range list {
		rows = append(rows, []string{api.ShortID(a.ID), a.Name, cmp.Or(a.NodeName, api.ShortID(a.NodeID)),
			p.Style.Status(a.ClientStatus), labelledAddresses(a)})
	}
	p.Table([]string{"Allocation", "Name", "Node", "Status", "Address"}, rows)
}

func labelledAddresses(a *api.AllocationListStub) string {
	if a.AllocatedResources == nil {
		return "-"
	}
	var list []string
	for _, port := range a.AllocatedResources.Shared.Ports {
		list = append(list, fmt.Sprintf("%s %s", port.Label, HostPort(port)))
	}
	return human.Dash(strings.Join(list, ", "))
}

// AllocationStatus is the object of "alloc status ALLOC".
type AllocationStatus struct {
	*api.Allocation
	Checks map[string]*api.CheckStatus `json:",omitempty"`
	Stats  *api.AllocationStats        `json:",omitempty"` // current usage of its tasks
}

// AllocationNext suggests the next command for an allocation.
func AllocationNext(p *term.Page, a *api.Allocation) {
	id := api.ShortID(a.ID)
	for _, task := range TaskOrder(a) {
		s := a.TaskStates[task]
		if s != nil && (s.Failed || s.Restarts > 0) {
			p.Next(fmt.Sprintf("Its output:  reeve alloc logs -stderr %s %s", id, task))
			return
		}
	}
	if a.NextAllocation != "" {
		p.Next(fmt.Sprintf("Its replacement:  reeve alloc status %s", api.ShortID(a.NextAllocation)))
	}
}

// ports returns the ports that an allocation owns on its node.
func ports(a *api.Allocation) []api.PortMapping {
	if a.AllocatedResources == nil {
		return nil
	}
	return a.AllocatedResources.Shared.Ports
}

// Addresses returns the addresses of an allocation's ports: label and host:port.
func Addresses(a *api.Allocation) []string {
	var list []string
	for _, p := range ports(a) {
		list = append(list, fmt.Sprintf("%s %s", p.Label, HostPort(p)))
	}
	return list
}

// HostPort returns the address of a port, as host:port.
func HostPort(p api.PortMapping) string {
	host := p.HostIP
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s:%d", host, p.Value)
}
