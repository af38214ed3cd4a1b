// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A activeStep is a step that is not complete, and its plan.
type activeStep struct {
	plan string
	step *step
}

// idle are the statuses of steps that somebody or something else is waited for.
var idle = setOf(Pending, Waiting)

// working finds the plan that works on each instance: the first in the order of
// their priority that does something, or is about to; else the first that waits.
func (v *View) working() map[place]activeStep {
	works := make(map[place]activeStep)
	for _, t := range v.trees {
		for _, p := range t.phases {
			for i := range p.steps {
				st := &p.steps[i]
				if st.on == nil || st.status == Complete || t.run == "" && isCustom(v.job, t.name) {
					continue
				}
				if w, ok := works[st.on.place()]; !ok || only(w.step.shown())&idle != 0 && only(st.shown())&idle == 0 {
					works[st.on.place()] = activeStep{t.name, st}
				}
			}
		}
	}
	return works
}

// isCustom reports whether the job declares the plan for operators to start.
func isCustom(job *api.Job, name string) bool {
	return job != nil && name != api.PlanDeploy && slices.ContainsFunc(job.Plans, func(p *api.PlanSpec) bool { return p.Name == name })
}

// DecideInstance makes the decision that an operator takes about an instance of
// the job: restart, replace, pause or resume. What cannot be decided is an error
// that lists what there is.
func DecideInstance(r Reader, job *api.Job, name string, verb api.Verb, req *api.InstanceRequest, now time.Time) (*api.Decision, error) {
	v := Derive(r, job.Key(), job, now)
	defer v.Release()
	if req == nil {
		req = &api.InstanceRequest{}
	}
	in, err := findInstance(v.facts, name)
	if err != nil {
		return nil, err
	}
	if err := allowsTasks(in, verb, req.Tasks); err != nil {
		return nil, err
	}
	if err := allowsVerb(in, v.ordersOn(in), verb, req.Tasks); err != nil {
		return nil, err
	}
	d := &api.Decision{
		Namespace: job.Namespace, JobID: job.ID, JobCreateIndex: job.CreateIndex, JobVersion: job.Version,
		Verb: verb, Group: in.group.name, Index: in.index, Node: in.node, Tasks: req.Tasks,
		By: orUnknown(req.By), Reason: req.Reason, Time: now.UnixNano(),
	}
	if a := in.alloc; a != nil {
		d.Allocation = a.ID
	} else if in.last != nil {
		d.Allocation = in.last.ID
	}
	d.ID = deriveID("decision", d.Namespace, d.JobID, name, string(d.Verb), strconv.FormatInt(d.Time, 10), v.decisions.newest)
	return d, nil
}

// findInstance finds an instance by its name. Of a job that runs on every node, a
// node may be named by the short form of its id, where that is clear.
func findInstance(s *facts, name string) (*instance, error) {
	var names, full []string
	var found []*instance
	for _, g := range s.groups {
		for i := range g.instances {
			in := &g.instances[i]
			own := instanceName(g.name, in.index, in.node)
			if in.node != "" && g.name+"@"+in.node == name || len(s.groups) == 1 && in.node == "" && strconv.Itoa(in.index) == name {
				return in, nil
			}
			if own == name {
				found, full = append(found, in), append(full, g.name+"@"+in.node)
			}
			names = append(names, own)
		}
	}
	switch len(found) {
	case 0:
		return nil, noSuch("job "+strconv.Quote(s.key.ID)+" has no instance "+strconv.Quote(name), "instances", names)
	case 1:
		return found[0], nil
	}
	e := api.Errorf(api.CodeInvalid, "instance %q is ambiguous: name its node in full", name)
	e.Detail = shorten(full)
	return nil, e
}

// allowsTasks checks that the tasks are there, and can be named.
func allowsTasks(in *instance, verb api.Verb, tasks []string) error {
	names := taskNames(in.group.def)
	for _, task := range tasks {
		if !slices.Contains(names, task) {
			return noSuch("group "+strconv.Quote(in.group.name)+" has no task "+strconv.Quote(task), "tasks", names)
		}
	}
	if verb == api.VerbReplace && len(tasks) > 0 {
		return api.Errorf(api.CodeInvalid, "an instance is replaced as a whole: leave the tasks out, or restart them")
	}
	return nil
}

// allowsVerb checks that the verb makes sense now.
func allowsVerb(in *instance, orders orders, verb api.Verb, tasks []string) error {
	name := instanceName(in.group.name, in.index, in.node)
	about := tasks
	if len(about) == 0 {
		about = taskNames(in.group.def)
	}
	held := 0
	for _, task := range about {
		if orders.pausedBy(task) != nil {
			held++
		}
	}
	alive := in.alloc != nil && (in.state == placed || in.state == running || in.state == unknown)
	switch verb {
	case api.VerbRestart:
		switch {
		case !alive:
			return api.Errorf(api.CodeConflict, "instance %q does not run: there is nothing to restart in place; what works on it is in plan recovery", name)
		case held == len(about):
			return api.Errorf(api.CodeConflict, "instance %q is paused: resume it", name)
		}
		g := in.alloc.Job.Group(in.group.name)
		if g == nil || !slices.ContainsFunc(g.Tasks, func(t *api.Task) bool { return slices.Contains(about, t.Name) && goesOn(in.alloc, g, t) }) {
			return api.Errorf(api.CodeConflict, "no task of instance %q keeps running: those that finish are not run again by a restart", name)
		}
	case api.VerbReplace:
		switch {
		case in.node != "":
			return api.Errorf(api.CodeInvalid, "instance %q belongs to its node: restart it, or drain the node", name)
		case in.alloc == nil && in.last == nil:
			return api.Errorf(api.CodeConflict, "instance %q was never placed: there is nothing to replace", name)
		}
	case api.VerbPause:
		if held == len(about) {
			return api.Errorf(api.CodeConflict, "instance %q is paused already: %s", name, describeDecision("paused", orders.pausedBy(about[0])))
		}
	case api.VerbResume:
		if held == 0 {
			return api.Errorf(api.CodeConflict, "instance %q is not paused: there is nothing to resume", name)
		}
	default:
		return api.Errorf(api.CodeInvalid, "%q is no verb of instances: there are restart, replace, pause and resume", verb)
	}
	return nil
}
