// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/ident"
)

// A Change is an operator's decision with the object that it changes.
type Change struct {
	Decision *api.Decision
	Shift    *api.Shift // nil: unchanged
	Stack    *api.Stack // nil: unchanged
}

// Decide makes the decision that an operator takes about a plan for which IsOwn holds, or about a phase
// or step of it. A verb that does not apply is an error that lists the possible ones.
func (l *Life) Decide(p *api.Plan, verb api.Verb, req *api.PlanRequest) (*Change, error) {
	if req == nil {
		req = &api.PlanRequest{}
	}
	if len(req.Parameters) > 0 {
		return nil, api.Errorf(api.CodeInvalid, "plan %q of a stack takes no parameters", p.Name)
	}
	t := &target{Life: l, plan: p, verb: verb, by: decision.OrUnknown(req.By), reason: req.Reason}
	if err := t.find(req); err != nil {
		return nil, err
	}
	c := &Change{}
	var err error
	switch p.Name {
	case api.PlanShift:
		c.Shift, err = t.changeShift()
	case api.PlanUninstall:
		c.Stack, err = t.changeGrace()
	case api.PlanWarming:
		err = t.refuse("it follows the health of the stack's instances; possible: reeve stack hold, reeve stack stop")
	default:
		err = t.refuse("the stack's job is not registered yet; possible: reeve stack hold, reeve stack stop")
	}
	if err != nil {
		return nil, err
	}
	c.Decision = t.decision()
	return c, nil
}

// A target is the plan, phase or step of a verb.
type target struct {
	*Life
	plan       *api.Plan
	phase      *api.Phase // nil: the whole plan
	step       *api.Step  // nil: the whole phase
	verb       api.Verb
	by, reason string
}

// find resolves the names or ids of the phase and step.
func (t *target) find(req *api.PlanRequest) error {
	var phases, steps []string
	for _, ph := range t.plan.Phases {
		phases = append(phases, ph.Name)
		if req.Phase == ph.Name || req.Phase == ph.ID {
			t.phase = ph
		}
	}
	if req.Phase != "" && t.phase == nil {
		return noSuch("phase", req.Phase, "plan "+strconv.Quote(t.plan.Name), phases)
	}
	if req.Step == "" {
		return nil
	}
	for _, ph := range t.plan.Phases {
		if t.phase != nil && ph != t.phase {
			continue
		}
		for _, st := range ph.Steps {
			if req.Step == st.Name || req.Step == st.ID {
				t.phase, t.step = ph, st
				return nil
			}
			steps = append(steps, ph.Name+": "+st.Name)
		}
	}
	return noSuch("step", req.Step, "plan "+strconv.Quote(t.plan.Name), steps)
}

// maxListed bounds the names that an error lists.
const maxListed = 20

func noSuch(what, name, of string, names []string) error {
	e := api.Errorf(api.CodeNotFound, "%s has no %s %q; there are", of, what, name)
	if e.Detail = names; len(names) > maxListed {
		e.Detail = append(slices.Clone(names[:maxListed]), "and more")
	}
	return e
}

// status returns the status of the target.
func (t *target) status() api.PlanStatus {
	switch {
	case t.step != nil:
		return t.step.Status
	case t.phase != nil:
		return t.phase.Status
	}
	return t.plan.Status
}

// refuse returns an error that names the target with its status, and the possible verbs.
func (t *target) refuse(why string) error {
	what := "plan " + strconv.Quote(t.plan.Name)
	if t.phase != nil {
		what = "phase " + strconv.Quote(t.phase.Name) + " of " + what
	}
	if t.step != nil {
		what = "step " + strconv.Quote(t.step.Name) + " of " + what
	}
	return api.Errorf(api.CodeConflict, "cannot %s %s, which is %s: %s", t.verb, what, t.status(), why)
}

// refuseVerb returns the error of a verb that the plan's state does not allow.
func (t *target) refuseVerb(possible []string) error {
	if len(possible) == 0 {
		return t.refuse("no verb applies now")
	}
	return t.refuse("possible: " + strings.Join(possible, ", "))
}

// sentence returns the reason of a change of a stored object.
func (t *target) sentence() string {
	if t.reason == "" {
		return t.by
	}
	return t.by + ": " + t.reason
}

// decision returns the decision to store.
func (t *target) decision() *api.Decision {
	d := &api.Decision{
		Namespace: t.plan.Namespace, JobID: t.plan.JobID,
		Verb: t.verb, Plan: t.plan.Name, Run: t.plan.Run, By: t.by, Reason: t.reason, Time: t.Now.UnixNano(),
	}
	if t.Job != nil {
		d.JobCreateIndex, d.JobVersion = t.Job.CreateIndex, t.Job.Version
	}
	switch {
	case t.phase != nil:
		d.Phase = t.phase.Name
	case t.plan.Name == api.PlanUninstall:
		d.Phase = phaseGrace // so that it does not hold or force the phases after the grace
	}
	newest := ""
	if n := len(t.Decisions); n > 0 {
		newest = t.Decisions[n-1].ID
	}
	if t.step != nil {
		d.Step = t.step.Name
	}
	d.ID = ident.Derive("decision", d.Namespace, d.JobID, d.Plan, d.Phase, d.Step, string(d.Verb), strconv.FormatInt(d.Time, 10), newest)
	return d
}
