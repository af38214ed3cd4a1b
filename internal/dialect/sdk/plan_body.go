// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

type planBody struct {
	Phases   []phaseBody `json:"phases"`
	Errors   []string    `json:"errors"`
	Strategy string      `json:"strategy"`
	Status   string      `json:"status"`
}

type phaseBody struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Steps    []stepBody `json:"steps"`
	Strategy string     `json:"strategy"`
	Status   string     `json:"status"`
}

type stepBody struct {
	ID      string `json:"id"`
	Status  string `json:"status"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"` // cause of its status; an extension of the original
}

// planBodyOf converts a plan's tree. Paused holds the names of the instances of which an
// operator holds every task.
func planBodyOf(p *api.Plan, paused map[string]bool) planBody {
	body := planBody{Phases: []phaseBody{}, Errors: orEmpty(p.Errors), Strategy: p.Strategy, Status: string(p.Status)}
	for _, ph := range p.Phases {
		phase := phaseBody{ID: ph.ID, Name: ph.Name, Steps: []stepBody{}, Strategy: ph.Strategy, Status: string(ph.Status)}
		for _, st := range ph.Steps {
			phase.Steps = append(phase.Steps, stepBodyOf(st, paused))
		}
		body.Phases = append(body.Phases, phase)
	}
	return body
}

func stepBodyOf(st *api.Step, paused map[string]bool) stepBody {
	shown := string(st.Status)
	if paused[instanceOf(st)] {
		shown = pausedStatus(st.Status)
	}
	kind := "com.mesosphere.sdk.scheduler.plan.DeploymentStep"
	if st.Recovery != "" {
		kind = "com.mesosphere.sdk.scheduler.recovery.RecoveryStep"
	}
	message := fmt.Sprintf("%s: %s [%s] with status: %s", kind, st.Name, st.ID, st.Status)
	if shown != string(st.Status) {
		message += fmt.Sprintf(" (display:%s)", shown)
	}
	if st.Recovery != "" {
		message += " RecoveryType: " + st.Recovery
	}
	return stepBody{ID: st.ID, Status: shown, Name: st.Name, Message: message, Reason: st.Message}
}

// pausedStatus returns the displayed status of a step whose instance is paused.
func pausedStatus(s api.PlanStatus) string {
	switch s {
	case api.PlanComplete, api.PlanStarted:
		return "PAUSED"
	case api.PlanPrepared, api.PlanStarting:
		return "PAUSING"
	}
	return string(s)
}

func instanceOf(st *api.Step) string {
	if st.Group == "" {
		return ""
	}
	return api.InstanceName(st.Group, st.Index)
}

// pausedInstances returns the plan's instances of which an operator holds every task.
func (q *request) pausedInstances(p *api.Plan) (map[string]bool, error) {
	paused := map[string]bool{}
	if len(p.Phases) == 0 {
		return paused, nil
	}
	pods, err := q.pods()
	if api.CodeOf(err) == api.CodeNotFound {
		return paused, nil // it is uninstalled: it has no instances
	}
	for _, pod := range pods {
		if pod.isPaused() {
			paused[pod.Name] = true
		}
	}
	return paused, err
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
