// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/tree"
	"github.com/reeve-run/reeve/internal/plan/view"
)

// Decide returns an operator's decision about a plan of the job, or about a phase or step
// of the plan. If the object does not exist, or its status does not permit the verb, the
// error lists the existing objects or the permitted ones.
func Decide(r facts.Reader, job *api.Job, plan string, verb api.Verb, req *api.PlanRequest, now time.Time) (*api.Decision, error) {
	v := view.Derive(r, job.Key(), job, now)
	defer v.Release()
	if req == nil {
		req = &api.PlanRequest{}
	}
	c := &decisionTarget{view: v, verb: verb, req: req}
	if err := c.find(plan); err != nil {
		return nil, err
	}
	if err := c.allows(); err != nil {
		return nil, err
	}
	return c.decision(now), nil
}

// A decisionTarget is what a decision is about.
type decisionTarget struct {
	view  *view.View
	verb  api.Verb
	req   *api.PlanRequest
	tree  *tree.Tree
	phase *tree.Phase // nil: all of the plan
	step  *tree.Step  // nil: all of the phase
	// canaries are the phases of which the next canary is released.
	canaries []*tree.Phase
}

// find resolves the names or ids of the plan, phase and step.
func (c *decisionTarget) find(plan string) error {
	for _, t := range c.view.Trees {
		if t.Name == plan || c.view.PlanID(t) == plan || t.Name == api.PlanDeploy && plan == api.PlanUpdate {
			c.tree = t
		}
	}
	if c.tree == nil {
		return noSuch("job "+strconv.Quote(c.view.Key.ID)+" has no plan "+strconv.Quote(plan)+" now", "plans", c.planNames())
	}
	if c.req.Phase != "" {
		if err := c.findPhase(); err != nil {
			return err
		}
	}
	if c.req.Step != "" {
		return c.findStep()
	}
	return nil
}

func (c *decisionTarget) findPhase() error {
	var found []*tree.Phase
	var names []string
	for _, p := range c.tree.Phases {
		if c.view.PhaseID(c.tree, p) == c.req.Phase || p.Name == c.req.Phase || p.Node != nil && p.Node.Name == c.req.Phase {
			found = append(found, p)
		}
		names = append(names, p.Name)
	}
	switch len(found) {
	case 0:
		return noSuch("plan "+strconv.Quote(c.tree.Name)+" has no phase "+strconv.Quote(c.req.Phase), "phases", names)
	case 1:
		c.phase = found[0]
		return nil
	}
	e := api.Errorf(api.CodeInvalid, "phase %q is ambiguous: name it in full, or by its id", c.req.Phase)
	for _, p := range found {
		e.Detail = append(e.Detail, p.Name+", id "+c.view.PhaseID(c.tree, p))
	}
	e.Detail = shorten(e.Detail)
	return e
}

// findStep finds the step by its name, its id, or the name of its instance if
// no other step is meant by that.
func (c *decisionTarget) findStep() error {
	type found struct {
		phase *tree.Phase
		step  *tree.Step
	}
	var exact, byInstance []found
	var all []string
	for _, p := range c.tree.Phases {
		if c.phase != nil && p != c.phase {
			continue
		}
		for i := range p.Steps {
			st := &p.Steps[i]
			name := st.Name()
			switch c.req.Step {
			case name, st.Key(), c.view.StepID(c.tree, p, st):
				exact = append(exact, found{p, st})
			case instanceOf(name), instanceOf(name) + strings.TrimPrefix(st.Key(), name):
				byInstance = append(byInstance, found{p, st})
			}
			if len(all) <= maxListed {
				all = append(all, c.named(p, st))
			}
		}
	}
	if len(exact) == 0 {
		exact = byInstance
	}
	switch len(exact) {
	case 0:
		where := "plan " + strconv.Quote(c.tree.Name)
		if c.phase != nil {
			where = "phase " + strconv.Quote(c.phase.Name) + " of " + where
		}
		return noSuch(where+" has no step "+strconv.Quote(c.req.Step), "steps", all)
	case 1:
		c.phase, c.step = exact[0].phase, exact[0].step
		return nil
	}
	e := api.Errorf(api.CodeInvalid, "step %q is ambiguous: name its phase, or the step by its id", c.req.Step)
	for _, f := range exact {
		e.Detail = append(e.Detail, c.named(f.phase, f.step)+", id "+c.view.StepID(c.tree, f.phase, f.step))
	}
	e.Detail = shorten(e.Detail)
	return e
}

// named is the step as it is listed, with its phase where that is not clear.
func (c *decisionTarget) named(p *tree.Phase, st *tree.Step) string {
	if c.req.Phase != "" || len(c.tree.Phases) == 1 {
		return st.Key()
	}
	return p.Name + ": " + st.Key()
}

// instanceOf is what a step's name says before its tasks.
func instanceOf(name string) string {
	instance, _, _ := strings.Cut(name, ":[")
	return instance
}

func (c *decisionTarget) planNames() (names []string) {
	for _, t := range c.view.Trees {
		names = append(names, t.Name)
	}
	return names
}

// maxListed is how many names an error lists.
const maxListed = 20

func noSuch(message, what string, names []string) error {
	if len(names) == 0 {
		return api.Errorf(api.CodeNotFound, "%s; it has no %s", message, what)
	}
	e := api.Errorf(api.CodeNotFound, "%s; its %s are", message, what)
	e.Detail = shorten(names)
	return e
}

func shorten(names []string) []string {
	if len(names) > maxListed {
		return append(slices.Clone(names[:maxListed]), "and more")
	}
	return names
}

// isEnvName matches what may be the name of a parameter.
var isEnvName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// allows returns an error if the status does not permit the verb.
func (c *decisionTarget) allows() error {
	if c.verb != api.VerbStart && len(c.req.Parameters) > 0 {
		return api.Errorf(api.CodeInvalid, "%s takes no parameters: only the start of a custom plan does", c.verb)
	}
	if err := c.allowsHere(); err != nil {
		return err
	}
	switch c.verb {
	case api.VerbStart, api.VerbStop:
		return c.allowsCustom()
	case api.VerbContinue:
		return c.allowsContinue()
	case api.VerbInterrupt:
		return c.allowsInterrupt()
	case api.VerbRestart:
		return c.allowsRestart()
	case api.VerbForceComplete:
		if c.status() == tree.Complete {
			return c.refuse("there is nothing to force")
		}
		return nil
	}
	return api.Errorf(api.CodeInvalid, "%q is no verb of plans: use start, stop, continue, interrupt, restart or force-complete", c.verb)
}

// allowsHere checks that there is something in the plan that the verb could
// change.
func (c *decisionTarget) allowsHere() error {
	steers := c.verb == api.VerbInterrupt || c.verb == api.VerbRestart || c.verb == api.VerbForceComplete
	forces := c.verb == api.VerbForceComplete
	switch {
	case steers && c.isCustom() && c.tree.Run == "":
		return c.refuse("it does not run: start it first")
	case steers && c.tree.Name == api.PlanRestart && !c.view.Restart.IsActive():
		return c.refuse("the restart has ended: start another one")
	case forces && c.tree.Name == api.PlanRecovery:
		return api.Errorf(api.CodeInvalid, "plan %q starts missing instances again, and a forced instance would stay missing: interrupt the plan, pause the instance, or lower the group's count", c.tree.Name)
	case forces && c.tree.Name == api.PlanDrain:
		return api.Errorf(api.CodeInvalid, "plan %q is complete when its nodes are empty: end the drain, or give it a deadline", c.tree.Name)
	case forces && c.tree.Name == api.PlanUninstall && c.phase != nil && c.phase.Name == derive.PhaseDeregister:
		return c.refuse("it is complete when all allocations of the job have ended: force the steps of phase " + derive.PhaseKill)
	}
	return nil
}

// isCustom reports whether the job declares the plan for operators to start.
func (c *decisionTarget) isCustom() bool { return derive.IsCustom(c.view.Job, c.tree.Name) }

func (c *decisionTarget) allowsCustom() error {
	if c.tree.Name == api.PlanRestart && c.verb == api.VerbStop {
		return c.allowsCancel()
	}
	if !c.isCustom() {
		var names []string
		for _, p := range c.view.Job.Plans {
			if p.Name != api.PlanDeploy && p.Name != api.PlanUpdate {
				names = append(names, p.Name)
			}
		}
		e := api.Errorf(api.CodeInvalid, "plan %q starts by itself: %s applies only to custom plans that the job declares", c.tree.Name, c.verb)
		if e.Detail = names; len(names) == 0 {
			e.Message += ", and the job declares none"
		}
		return e
	}
	if c.phase != nil {
		return api.Errorf(api.CodeInvalid, "%s applies to a whole plan: omit phase and step", c.verb)
	}
	var wrong []string
	for name := range c.req.Parameters {
		if !isEnvName(name) {
			wrong = append(wrong, strconv.Quote(name))
		}
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		e := api.Errorf(api.CodeInvalid, "parameters become environment variables: their names are letters, digits and underscores, and do not begin with a digit")
		e.Detail = wrong
		return e
	}
	running := c.tree.Run != "" && c.status() != tree.Complete
	switch {
	case c.verb == api.VerbStart && running:
		return c.refuse("it runs already: stop it first, or continue it if it is interrupted")
	case c.verb == api.VerbStop && !running:
		return c.refuse("it does not run: there is nothing to stop")
	}
	return nil
}

// allowsCancel checks that there is a restart to cancel.
func (c *decisionTarget) allowsCancel() error {
	switch {
	case c.phase != nil:
		return api.Errorf(api.CodeInvalid, "%s applies to a whole plan: omit phase and step", c.verb)
	case !c.view.Restart.IsActive():
		return c.refuse("the restart has ended: there is nothing to stop")
	}
	return nil
}

// allowsContinue finds what there is to continue: what was asked for if it is
// interrupted, else the canaries in it that are waited for.
func (c *decisionTarget) allowsContinue() error {
	switch {
	case c.step != nil:
		if c.step.ExtraOrZero().Held != nil {
			return nil
		}
		if c.phase.Waits > 0 && c.phase.Next() == c.step {
			c.canaries, c.step = []*tree.Phase{c.phase}, nil
			return nil
		}
	case c.phase != nil:
		if c.phase.Held {
			return nil
		}
		if c.phase.Waits > 0 {
			c.canaries = []*tree.Phase{c.phase}
			return nil
		}
	case c.tree.Held:
		return nil
	default:
		for _, p := range c.tree.Phases {
			if p.Open && p.Waits > 0 && !p.Held {
				c.canaries = append(c.canaries, p)
			}
		}
		if len(c.canaries) > 0 {
			return nil
		}
	}
	e := c.refuse("no part of it waits for continue").(*api.Error)
	if held := c.heldNames(); len(held) > 0 {
		e.Message += "; these parts do"
		e.Detail = held
	}
	return e
}

// heldNames lists what in the plan waits for an operator.
func (c *decisionTarget) heldNames() (names []string) {
	if c.tree.Held {
		names = append(names, "plan "+c.tree.Name)
	}
	for _, p := range c.tree.Phases {
		if p.Held || p.Waits > 0 {
			names = append(names, "phase "+p.Name)
		}
		for i := range p.Steps {
			if st := &p.Steps[i]; st.ExtraOrZero().Held != nil && len(names) <= maxListed {
				names = append(names, "step "+st.Key()+" of phase "+p.Name)
			}
		}
	}
	return shorten(names)
}

func (c *decisionTarget) allowsInterrupt() error {
	is := c.status()
	switch {
	case is == tree.Complete:
		return c.refuse("there is nothing to interrupt")
	case c.step != nil && c.step.ExtraOrZero().Held != nil:
		return c.refuse("it is already " + decision.WhyHeld(c.step.ExtraOrZero().Held))
	case c.step != nil && (is == tree.Starting || is == tree.Started):
		return c.refuse("a step that has begun continues: interrupt a step before it begins")
	case c.step == nil && c.phase != nil && c.phase.HeldBy != nil:
		return c.refuse("it is already " + decision.WhyHeld(c.phase.HeldBy))
	case c.phase == nil && c.tree.Held && c.tree.HeldBy != nil:
		return c.refuse("it is already " + decision.WhyHeld(c.tree.HeldBy))
	case c.phase == nil && c.tree.Held && c.tree.Name == api.PlanRestart:
		return c.refuse("its restart is paused already")
	case c.phase == nil && c.tree.Held:
		return c.refuse("its deployment is paused already")
	}
	return nil
}

func (c *decisionTarget) allowsRestart() error {
	switch c.tree.Name {
	case api.PlanDecommission, api.PlanUninstall, api.PlanDrain:
		return api.Errorf(api.CodeInvalid, "plan %q stops each allocation only once: continue or interrupt the plan, or its phases and steps", c.tree.Name)
	case api.PlanRecovery:
		return api.Errorf(api.CodeInvalid, "plan %q tries again by itself: restart or replace the instance to try again now", c.tree.Name)
	case api.PlanRestart:
		return api.Errorf(api.CodeInvalid, "plan %q is the restart that runs: start another one when it has ended", c.tree.Name)
	}
	if c.tree.Name == api.PlanDeploy && c.isLeftOut() {
		return c.refuse("the deployment of version " + strconv.FormatUint(c.view.Job.Version, 10) + " has ended: run the job again once the cause is mended, or a version that works, or revert to one")
	}
	for _, p := range c.scope() {
		for i := range p.Steps {
			st := &p.Steps[i]
			if c.step != nil && st != c.step {
				continue
			}
			if st.Status != tree.Pending || st.ExtraOrZero().Held != nil || st.ExtraOrZero().Forced != nil {
				return nil
			}
		}
	}
	return c.refuse("no part of it has begun: restart it after it begins")
}

// isLeftOut reports whether it is about instances that a deployment that failed
// left at an older version.
func (c *decisionTarget) isLeftOut() bool {
	for _, p := range c.scope() {
		for i := range p.Steps {
			st := &p.Steps[i]
			if (c.step == nil || st == c.step) && (st.Why == derive.WhyKept || st.Why == derive.WhyUnstarted) {
				return true
			}
		}
	}
	return false
}

// scope are the phases that it is about.
func (c *decisionTarget) scope() []*tree.Phase {
	if c.phase != nil {
		return []*tree.Phase{c.phase}
	}
	return c.tree.Phases
}

// status is that of what the decision is about.
func (c *decisionTarget) status() tree.Status {
	switch {
	case c.step != nil:
		return c.step.Shown()
	case c.phase != nil:
		all := c.phase.Tally()
		return c.tree.StatusOf(c.phase, &all)
	}
	return c.tree.Status()
}

// refuse returns the error of a verb that the status does not permit.
func (c *decisionTarget) refuse(why string) error {
	what := "plan " + strconv.Quote(c.tree.Name)
	if c.phase != nil {
		what = "phase " + strconv.Quote(c.phase.Name) + " of " + what
	}
	if c.step != nil {
		what = "step " + strconv.Quote(c.step.Key()) + " of " + what
	}
	return api.Errorf(api.CodeConflict, "%s is %s: %s", what, c.status(), why)
}

// decision is what the operator decided, to be stored.
func (c *decisionTarget) decision(now time.Time) *api.Decision {
	d := &api.Decision{
		Namespace: c.view.Key.Namespace, JobID: c.view.Key.ID,
		JobCreateIndex: c.view.Job.CreateIndex, JobVersion: c.view.Job.Version,
		Verb: c.verb, Plan: c.tree.Name, Run: c.tree.Run, Parameters: c.req.Parameters,
		By: decision.OrUnknown(c.req.By), Reason: c.req.Reason, Time: now.UnixNano(),
	}
	about := c.step
	switch {
	case c.step != nil:
		d.Phase, d.Step = c.phase.Name, c.step.Key()
	case len(c.canaries) > 0:
		var names []string
		for _, p := range c.canaries {
			names = append(names, p.Name)
		}
		d.Phase = strings.Join(names, " ")
		if len(c.canaries) == 1 {
			about = c.canaries[0].Next()
		}
	case c.phase != nil:
		d.Phase = c.phase.Name
		if c.tree.Name == api.PlanRecovery {
			about = &c.phase.Steps[0] // they are all about one instance
		}
	}
	if about != nil && about.On != nil {
		d.Group, d.Index, d.Node, d.Tasks = about.On.Group.Name, about.On.Index, about.On.Node, about.TaskNames()
		d.Allocation = about.On.HolderID()
	}
	d.ID = ident.Derive("decision", d.Namespace, d.JobID, d.Plan, d.Phase, d.Step, string(d.Verb), strconv.FormatInt(d.Time, 10), c.view.Decisions.Newest)
	if c.verb == api.VerbStart {
		d.Run = d.ID
	}
	return d
}
