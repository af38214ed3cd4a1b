// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
)

// Commands of scripts about the plans of stacks.
//
//	plans STACK                  the plans of a stack, as lists show them
//	plan STACK PLAN              the tree of a plan, with its decisions
//	decide VERB STACK PLAN [PHASE [STEP]]   apply a verb to a plan, phase or step; ~ stands for a space in a name
func init() {
	stackScriptVerbs["plans"] = func(w *stackWorld, args, _ []string) string { return w.printPlans(args[0]) }
	stackScriptVerbs["plan"] = func(w *stackWorld, args, _ []string) string { return w.printPlan(args[0], args[1]) }
	stackScriptVerbs["decide"] = func(w *stackWorld, args, _ []string) string { return w.decidePlan(args) }
}

func (w *stackWorld) printPlans(name string) string {
	s := w.find(name)
	list, _, err := w.JobPlans(w.Context(), s.Namespace, s.Name)
	if err != nil {
		return printed(err)
	}
	var out strings.Builder
	for _, p := range list {
		fmt.Fprintln(&out, strings.TrimSpace(fmt.Sprintf("%s %s %d/%d %s", p.Name, p.Status, p.Completed, p.Total, p.Message)))
	}
	return out.String()
}

// allocationEnd matches the random parts of a step that stops an allocation: its id and node.
var allocationEnd = regexp.MustCompile(`(kill-\w+-\d+)-[0-9a-f]{8}( on \w+)?`)

func (w *stackWorld) printPlan(name, plan string) string {
	s := w.find(name)
	p, _, err := w.JobPlan(w.Context(), s.Namespace, s.Name, plan)
	if err != nil {
		return printed(err)
	}
	var out strings.Builder
	out.WriteString(view.Draw(p))
	for _, d := range p.Decisions {
		fmt.Fprintln(&out, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s by %s", d.Verb, d.Phase, d.Step, d.By)), " "))
	}
	return allocationEnd.ReplaceAllString(out.String(), "$1")
}

func (w *stackWorld) decidePlan(args []string) string {
	s := w.find(args[1])
	req := &api.PlanRequest{By: "ann"}
	for i, part := range []*string{&req.Phase, &req.Step} {
		if len(args) > i+3 {
			*part = strings.ReplaceAll(args[i+3], "~", " ")
		}
	}
	if _, err := w.PlanVerb(w.Context(), s.Namespace, s.Name, args[2], api.Verb(args[0]), req); err != nil {
		return printed(err)
	}
	w.pass(0) // the controllers act on the decision
	return w.printPlan(args[1], args[2])
}
