// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nelson

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A detail is a stack with its history and its neighbours in the graph.
type detail struct {
	deployment
	Expiration   int64         `json:"expiration"`
	Statuses     []statusEntry `json:"statuses"`
	Dependencies dependencies  `json:"dependencies"`
}

type statusEntry struct {
	Timestamp string `json:"timestamp"`
	Message   string `json:"message"`
	Status    string `json:"status"`
}

type dependencies struct {
	Inbound  []neighbour `json:"inbound"`
	Outbound []neighbour `json:"outbound"`
}

// A neighbour is an end of an edge of the graph.
type neighbour struct {
	GUID       string `json:"guid"`
	StackName  string `json:"stack_name"`
	DeployedAt int64  `json:"deployed_at"`
	Type       string `json:"type"`
	Weight     int    `json:"weight"`
	PortName   string `json:"port_name"`
}

const (
	callersPort = "default"
	timeFormat  = "2006-01-02T15:04:05.000Z"

	edgeDeclared = "declared"
	edgeExposed  = "exposed"
)

func getDeployment(q *request) error {
	s, err := q.stack()
	if err != nil {
		return err
	}
	snap := q.core.Store().Snapshot()
	d := detail{
		deployment: describeDeployment(places(snap), s), Expiration: millis(s.Expires),
		Statuses: statusesOf(snap, s), Dependencies: dependenciesOf(q.core.Graph(), s),
	}
	return q.json(http.StatusOK, d)
}

// statusesOf returns the statuses that a stack had, newest first.
func statusesOf(snap *state.Snapshot, s *api.StackStatus) []statusEntry {
	list := []statusEntry{}
	for r := range snap.Audit(s.Namespace, api.AuditStack, s.Name) {
		if slices.Contains(statuses, r.Action) {
			list = append(list, statusEntry{r.Time.UTC().Format(timeFormat), r.Reason, r.Action})
		}
	}
	slices.Reverse(list)
	return list
}

// statuses lists the statuses of stacks. Nelson has the same.
var statuses = []string{
	api.StackPending, api.StackDeploying, api.StackWarming, api.StackReady, api.StackDeprecated, api.StackGarbage, api.StackFailed, api.StackTerminated,
}

func dependenciesOf(g *api.StackGraph, s *api.StackStatus) dependencies {
	d := dependencies{Inbound: []neighbour{}, Outbound: []neighbour{}}
	byName := make(map[string]*api.StackStatus, len(g.Nodes))
	for _, n := range g.Nodes {
		byName[n.Namespace+" "+n.Name] = n
	}
	callers := make(map[string]*api.StackStatus, len(g.Nodes))
	for _, n := range g.Nodes {
		callers[n.Name] = n // names end with a random hash
	}
	for _, e := range g.Edges {
		to := byName[e.Namespace+" "+e.To]
		switch {
		case to == nil:
		case e.Kind == edgeDeclared && e.From == s.Name:
			d.Outbound = append(d.Outbound, stackNeighbour(to, e.Share))
		case to.Name != s.Name || to.Namespace != s.Namespace:
		case e.Kind == edgeDeclared && callers[e.From] != nil:
			d.Inbound = append(d.Inbound, stackNeighbour(callers[e.From], e.Share))
		case e.Kind == edgeExposed:
			lb := hostOf(to, e.From)
			d.Inbound = append(d.Inbound, neighbour{lb.guid(), e.From, millis(to.DeployedAt), "loadbalancer", percent(e.Share), callersPort})
		}
	}
	return d
}

func stackNeighbour(s *api.StackStatus, share float64) neighbour {
	return neighbour{stackGUID(s.Stack), s.Name, millis(s.DeployedAt), "unit", percent(share), callersPort}
}

// A runtime is the state of a stack's instances.
type runtime struct {
	CurrentStatus string      `json:"current_status"`
	ExpiresAt     int64       `json:"expires_at"`
	Scheduler     counts      `json:"scheduler"`
	ConsulHealth  []healthRow `json:"consul_health"`
}

type counts struct {
	Running   int `json:"running"`
	Pending   int `json:"pending"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
}

type healthRow struct {
	CheckID string `json:"check_id"`
	Node    string `json:"node"`
	Status  string `json:"status"`
	Name    string `json:"name"`
}

func getRuntime(q *request) error {
	s, err := q.stack()
	if err != nil {
		return err
	}
	snap := q.core.Store().Snapshot()
	body := runtime{CurrentStatus: s.Shown, ExpiresAt: millis(s.Expires), ConsulHealth: []healthRow{}}
	if summary := snap.JobSummary(s.Namespace, s.Name); summary != nil {
		for _, g := range summary.Summary {
			body.Scheduler.Running += g.Running
			body.Scheduler.Pending += g.Queued + g.Starting
			body.Scheduler.Completed += g.Complete
			body.Scheduler.Failed += g.Failed + g.Lost
		}
	}
	for a := range snap.AllocationsByJob(s.Namespace, s.Name) {
		if a.IsTerminal() {
			continue
		}
		row := healthRow{CheckID: api.ShortID(a.ID), Node: a.NodeName, Status: "critical", Name: a.Name}
		if a.IsRoutable() {
			row.Status = "passing"
		}
		body.ConsulHealth = append(body.ConsulHealth, row)
	}
	slices.SortFunc(body.ConsulHealth, func(a, b healthRow) int { return strings.Compare(a.Name+a.CheckID, b.Name+b.CheckID) })
	return q.json(http.StatusOK, body)
}

// getLog answers with the audit records of a stack as lines, from an offset on.
func getLog(q *request) error {
	s, err := q.stack()
	if err != nil {
		return err
	}
	offset := 0
	if text := q.query.Get("offset"); text != "" {
		if offset, err = strconv.Atoi(text); err != nil || offset < 0 {
			return failf(http.StatusBadRequest, "offset %q: must be a number of lines, from 0", api.Printable(text, 32))
		}
	}
	lines := []string{}
	for r := range q.core.Store().Snapshot().Audit(s.Namespace, api.AuditStack, s.Name) {
		line := fmt.Sprintf("%s %s: %s", r.Time.UTC().Format(time.RFC3339), r.Action, r.Reason)
		if r.By != "" {
			line += " (" + r.By + ")"
		}
		lines = append(lines, line)
	}
	return q.json(http.StatusOK, struct {
		Content []string `json:"content"`
		Offset  int      `json:"offset"`
	}{lines[min(offset, len(lines)):], len(lines)})
}
