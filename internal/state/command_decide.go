// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// Decide stores an operator's decision about a job's plans or instances, with its
// immediate effects.
type Decide struct {
	Decision *api.Decision
	// After is the id of the job's newest decision at the time of the operator's choice; ""
	// without decisions. A later decision may have changed which choices are sensible.
	After            string
	Evaluation       *api.Evaluation   // nil: none
	DeploymentUpdate *DeploymentUpdate // nil: none
	UpdateRestart    *UpdateRestart    // nil: none
	// Shift and Stack are stored with the decision, unless they were changed since they
	// were read; nil: none.
	Shift *api.Shift
	Stack *api.Stack
	Time  int64 // Unix nanoseconds
}

// Name implements Command.
func (c *Decide) Name() string { return "Decide" }

func (c *Decide) apply(t *txn) error {
	d := c.Decision
	if d == nil || d.ID == "" || d.Verb == "" {
		return api.Errorf(api.CodeInvalid, "a decision needs an ID and a verb")
	}
	job := t.Job(d.Namespace, d.JobID)
	switch {
	case job == nil:
		return t.JobNotFound(d.Namespace, d.JobID)
	case t.Decision(d.ID) != nil:
		return api.Errorf(api.CodeConflict, "decision %s is stored already", api.ShortID(d.ID))
	case job.CreateIndex != d.JobCreateIndex || job.Version != d.JobVersion:
		return api.Errorf(api.CodeConflict, "job %q was changed meanwhile: it is at version %d, and %q was decided about version %d; check its plans and try again", d.JobID, job.Version, d.Verb, d.JobVersion)
	case c.After != newestDecision(t.Decisions(d.Namespace, d.JobID)):
		return api.Errorf(api.CodeConflict, "something else was decided about job %q meanwhile: check its plans and try again", d.JobID)
	}
	if err := t.checkRun(d); err != nil {
		return err
	}
	if u := c.DeploymentUpdate; u != nil {
		if current := t.Deployment(u.ID); current == nil || !current.IsActive() {
			return api.Errorf(api.CodeConflict, "deployment %s of job %q ended meanwhile", api.ShortID(u.ID), d.JobID)
		}
	}
	if c.UpdateRestart != nil {
		if err := c.UpdateRestart.check(t); err != nil {
			return err
		}
	}
	put, err := c.checkStack(t)
	if err != nil {
		return err
	}
	t.putDecision(d)
	for _, do := range put {
		do(t)
	}
	if c.UpdateRestart != nil {
		c.UpdateRestart.do(t)
	}
	if c.DeploymentUpdate != nil {
		t.updateDeployment(*c.DeploymentUpdate, c.Time)
	}
	t.putJobEvaluation(c.Evaluation, job.JobModifyIndex)
	return nil
}

// checkStack returns the functions that put the stack and the shift, or an error if one of them
// cannot be put.
func (c *Decide) checkStack(t *txn) (put []func(*txn), _ error) {
	if c.Shift != nil {
		shift := putShift(c.Shift)
		if err := shift.check(t); err != nil {
			return nil, err
		}
		put = append(put, shift.do)
	}
	if c.Stack != nil {
		stack := putStack(c.Stack)
		if err := stack.check(t); err != nil {
			return nil, err
		}
		put = append(put, func(t *txn) {
			c.auditStack(t)
			stack.do(t)
		})
	}
	return put, nil
}

// auditStack records the operator whose decision holds the stack, ends its hold, or removes it.
func (c *Decide) auditStack(t *txn) {
	s, d := c.Stack, c.Decision
	action := "unheld"
	switch {
	case s.Removing:
		action = "removed"
	case s.Hold != nil:
		action = "held"
	}
	t.audit(&api.AuditRecord{
		Time: unixNano(c.Time), Namespace: s.Namespace, Kind: api.AuditStack, Object: s.Name, Unit: s.Unit, Action: action, By: d.By, Reason: d.Reason,
	})
}

// writes returns the objects that the command writes besides the decision.
func (c *Decide) writes() (objects []Object) {
	if c.Shift != nil {
		objects = append(objects, putShift(c.Shift).writes()...)
	}
	if c.Stack != nil {
		objects = append(objects, putStack(c.Stack).writes()...)
	}
	return objects
}

// checkRun rejects a decision about a run of a plan that is no longer the latest run.
func (t *txn) checkRun(d *api.Decision) error {
	latest := d.Run
	switch {
	case d.Run == "":
	case d.Plan == api.PlanDeploy:
		if l := t.LatestDeployment(d.Namespace, d.JobID); l != nil {
			latest = l.ID
		}
	case d.Plan == api.PlanRestart:
		if l := t.LatestRestart(d.Namespace, d.JobID); l != nil {
			latest = l.ID
		}
	}
	if latest != d.Run {
		return api.Errorf(api.CodeConflict, "plan %q of job %q has started again in the meantime: check it and try again", d.Plan, d.JobID)
	}
	return nil
}

// newestDecision returns the id of the last decision, or "".
func newestDecision(all []*api.Decision) string {
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].ID
}
