// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"net/http"
	"runtime/pprof"
	"slices"

	"github.com/reeve-run/reeve/api"
)

type debugPlansBody struct {
	SchedulerState  string          `json:"schedulerState"`
	ActivePlans     []string        `json:"activePlans"`
	Plans           []debugPlan     `json:"plans"`
	ServiceTopology []debugTopology `json:"serviceTopology"`
}

type debugPlan struct {
	Name           string       `json:"name"`
	Status         string       `json:"status"`
	Strategy       string       `json:"strategy"`
	TotalSteps     int          `json:"totalSteps"`
	CompletedSteps int          `json:"completedSteps"`
	Phases         []debugPhase `json:"phases"`
}

type debugPhase struct {
	Name     string      `json:"name"`
	Status   string      `json:"status"`
	Strategy string      `json:"strategy"`
	Steps    []debugStep `json:"steps"`
}

type debugStep struct {
	Name   string   `json:"name"`
	Status string   `json:"status"`
	Errors []string `json:"errors"`
}

type debugTopology struct {
	Name     string          `json:"name"`
	Type     string          `json:"type"`
	Children []debugTopology `json:"children,omitempty"`
}

func debugPlans(q *request) error {
	plan, phase, step := q.query.Get("plan"), q.query.Get("phase"), q.query.Get("step")
	switch {
	case step != "" && (plan == "" || phase == ""):
		return q.json(http.StatusOK, map[string]string{"invalid-input": "Step specified without parent Phase and Plan values."})
	case phase != "" && plan == "":
		return q.json(http.StatusOK, map[string]string{"invalid-input": "Phase specified without parent Plan."})
	}
	h, _, err := q.health()
	if err != nil {
		return err
	}
	plans, _, err := q.core.JobPlans(q.r.Context(), q.job.Namespace, q.job.ID)
	if err != nil {
		return err
	}
	body := debugPlansBody{SchedulerState: h.name, ActivePlans: []string{}, Plans: []debugPlan{}}
	for _, p := range plans {
		if isRunning(p.Status) || p.Status == api.PlanPending || p.Status == api.PlanDelayed {
			body.ActivePlans = append(body.ActivePlans, p.Name)
		}
		if plan != "" && p.Name != plan && p.ID != plan {
			continue
		}
		tree, err := q.plan(p.Name)
		if err != nil {
			return err
		}
		body.Plans = append(body.Plans, debugPlanOf(tree, phase, step))
	}
	if body.ServiceTopology, err = q.topology(); err != nil {
		return err
	}
	return q.json(http.StatusOK, body)
}

// debugPlanOf converts a plan, or only its named phase and step.
func debugPlanOf(p *api.Plan, phase, step string) debugPlan {
	body := debugPlan{
		Name: p.Name, Status: string(p.Status), Strategy: p.Strategy,
		TotalSteps: p.Total, CompletedSteps: p.Completed, Phases: []debugPhase{},
	}
	for _, ph := range p.Phases {
		if phase != "" && ph.Name != phase && ph.ID != phase {
			continue
		}
		shown := debugPhase{Name: ph.Name, Status: string(ph.Status), Strategy: ph.Strategy, Steps: []debugStep{}}
		for _, st := range ph.Steps {
			if step == "" || st.Name == step || st.ID == step {
				shown.Steps = append(shown.Steps, debugStep{st.Name, string(st.Status), orEmpty(st.Errors)})
			}
		}
		body.Phases = append(body.Phases, shown)
	}
	return body
}

// topology returns the tree of pod types, pods and tasks.
func (q *request) topology() ([]debugTopology, error) {
	pods, err := q.pods()
	all := []debugTopology{}
	for _, p := range pods {
		if n := len(all); n == 0 || all[n-1].Name != p.Group {
			all = append(all, debugTopology{Name: p.Group, Type: "pod"})
		}
		instance := debugTopology{Name: p.Name, Type: "podInstance"}
		for _, t := range p.tasks() {
			instance.Children = append(instance.Children, debugTopology{Name: p.taskName(t.Name), Type: "task"})
		}
		last := &all[len(all)-1]
		last.Children = append(last.Children, instance)
	}
	return all, err
}

type debugTask struct {
	Pod    string `json:"pod"`
	Task   string `json:"task"`
	ID     string `json:"id"`
	Status string `json:"status"`
	Node   string `json:"node"`
}

func debugTasks(q *request) error {
	pods, err := q.pods()
	if err != nil {
		return err
	}
	body := []debugTask{}
	for _, p := range pods {
		for _, t := range p.tasks() {
			body = append(body, debugTask{p.Name, p.taskName(t.Name), p.taskID(t.Name), p.taskStatus(t.Name), p.allocation.NodeName})
		}
	}
	return q.json(http.StatusOK, body)
}

type debugReservation struct {
	Pod       string         `json:"pod"`
	Task      string         `json:"task"`
	Resources []taskResource `json:"resources"`
}

// debugReservations lists, by node, the resources that the service's pods hold.
func debugReservations(q *request) error {
	pods, err := q.pods()
	if err != nil {
		return err
	}
	body := map[string][]debugReservation{}
	for _, p := range pods {
		if p.allocation == nil || !p.allocation.HoldsResources() {
			continue
		}
		for _, t := range p.tasks() {
			body[p.allocation.NodeName] = append(body[p.allocation.NodeName], debugReservation{p.Name, p.taskName(t.Name), p.resources(t.Name)})
		}
	}
	return q.json(http.StatusOK, body)
}

// debugThreads lists the stacks of the server's goroutines, equal ones once.
func debugThreads(q *request) error {
	var text bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&text, 1); err != nil {
		return err
	}
	q.text(http.StatusOK, text.String())
	return nil
}

type debugOutcome struct {
	Timestamp   string `json:"timestamp"`
	Pod         string `json:"pod-instance-name"`
	Outcome     string `json:"outcome"`
	Explanation string `json:"explanation"`
	Offer       string `json:"offer"`
}

// outcomesShown is the maximum number of placements in an answer.
const outcomesShown = 100

// debugOffers lists the nodes of placed pods, and the obstacles of unplaced ones, the
// newest last. Reeve has no offers: a placement represents the accepted one.
func debugOffers(q *request) error {
	type dated struct {
		debugOutcome
		at int64
	}
	var all []dated
	for a := range q.v.AllocationsByJob(q.job.Namespace, q.job.ID) {
		all = append(all, dated{debugOutcome{
			Pod: api.InstanceName(a.Group, a.Index()), Outcome: "pass",
			Explanation: "placed on " + a.NodeName + " as allocation " + api.ShortID(a.ID), Offer: a.NodeID,
		}, a.CreateTime})
	}
	for e := range q.v.EvaluationsByJob(q.job.Namespace, q.job.ID) {
		for group, m := range e.FailedGroups {
			all = append(all, dated{debugOutcome{Pod: group, Outcome: "fail", Explanation: explain(m)}, e.ModifyTime})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return 0
	})
	all = all[max(0, len(all)-outcomesShown):]
	outcomes := []debugOutcome{}
	for _, o := range all {
		o.Timestamp = timestamp(o.at)
		outcomes = append(outcomes, o.debugOutcome)
	}
	return q.json(http.StatusOK, map[string]any{"offers": map[string]any{"outcomes": outcomes}})
}
