// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"cmp"

	"github.com/reeve-run/reeve/api"
)

// sortKeys are the names of the orders of each view. The first one is the default.
var sortKeys = [views][]string{
	ViewServers: {"name", "role", "behind", "evaluations"},
	ViewJobs:    {"problems", "id", "status", "submitted"},
	ViewNodes:   {"problems", "name", "status", "datacenter"},
}

// order returns the name of the order of the current view, or "".
func (m *Model) order() string {
	if keys := sortKeys[m.View]; len(keys) > 0 {
		return keys[m.sorts[m.View]]
	}
	return ""
}

func (m *Model) servers(items []*api.ServerStatus) []*api.ServerStatus {
	order := m.order()
	return sorted(m, items, func(a, b *api.ServerStatus) int {
		primary := 0
		switch order {
		case "role":
			primary = cmp.Compare(serverRank(a), serverRank(b))
		case "behind":
			primary = cmp.Compare(b.Trailing, a.Trailing)
		case "evaluations":
			primary = cmp.Compare(b.Evaluations, a.Evaluations)
		}
		return cmp.Or(primary, cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

func serverRank(s *api.ServerStatus) int {
	switch {
	case s.Leader:
		return 0
	case s.Voter:
		return 1
	}
	return 2
}

func (m *Model) jobs(items []*api.JobListStub) []*api.JobListStub {
	order := m.order()
	return sorted(m, items, func(a, b *api.JobListStub) int {
		primary := 0
		switch order {
		case "problems":
			primary = cmp.Compare(jobProblems(b), jobProblems(a))
		case "status":
			primary = cmp.Compare(a.Status, b.Status)
		case "submitted":
			primary = cmp.Compare(b.SubmitTime, a.SubmitTime)
		}
		return cmp.Or(primary, cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.ID, b.ID))
	})
}

// jobProblems counts the instances of a job that need attention.
func jobProblems(j *api.JobListStub) int {
	if j.JobSummary == nil {
		return 0
	}
	n := 0
	for _, g := range j.JobSummary.Summary {
		n += g.Queued + g.Unknown + g.Crashing + g.Failing
	}
	return n
}

func (m *Model) nodes(items []*api.NodeListStub) []*api.NodeListStub {
	order := m.order()
	return sorted(m, items, func(a, b *api.NodeListStub) int {
		primary := 0
		switch order {
		case "problems":
			primary = cmp.Compare(nodeRank(a), nodeRank(b))
		case "status":
			primary = cmp.Compare(a.Status, b.Status)
		case "datacenter":
			primary = cmp.Compare(a.Datacenter, b.Datacenter)
		}
		return cmp.Or(primary, cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
}

// nodeRank orders nodes by how much they need attention.
func nodeRank(n *api.NodeListStub) int {
	switch {
	case n.Status == api.NodeStatusDown:
		return 0
	case n.SilentSince != 0 || n.Status == api.NodeStatusDisconnected:
		return 1
	case n.Status != api.NodeStatusReady:
		return 2
	case n.Drain:
		return 3
	case n.SchedulingEligibility != api.NodeEligible:
		return 4
	}
	return 5
}
