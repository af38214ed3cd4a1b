// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"slices"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/view"
)

// DecideInstance returns an operator's decision about an instance of the job: restart,
// replace, pause or resume. If the instance does not exist, the error lists those that do.
func DecideInstance(r facts.Reader, job *api.Job, name string, verb api.Verb, req *api.InstanceRequest, now time.Time) (*api.Decision, error) {
	v := view.Derive(r, job.Key(), job, now)
	defer v.Release()
	if req == nil {
		req = &api.InstanceRequest{}
	}
	in, err := findInstance(v.Facts, name)
	if err != nil {
		return nil, err
	}
	if err := allowsTasks(in, verb, req.Tasks); err != nil {
		return nil, err
	}
	if err := allowsVerb(in, v.OrdersOn(in), verb, req.Tasks); err != nil {
		return nil, err
	}
	d := &api.Decision{
		Namespace: job.Namespace, JobID: job.ID, JobCreateIndex: job.CreateIndex, JobVersion: job.Version,
		Verb: verb, Group: in.Group.Name, Index: in.Index, Node: in.Node, Tasks: req.Tasks,
		By: decision.OrUnknown(req.By), Reason: req.Reason, Time: now.UnixNano(),
	}
	if a := in.Alloc; a != nil {
		d.Allocation = a.ID
	} else if in.Last != nil {
		d.Allocation = in.Last.ID
	}
	d.ID = ident.Derive("decision", d.Namespace, d.JobID, name, string(d.Verb), strconv.FormatInt(d.Time, 10), v.Decisions.Newest)
	return d, nil
}

// findInstance finds an instance by its name. Of a job that runs on every node, a
// node may be named by the short form of its id, where that is clear.
func findInstance(s *facts.Facts, name string) (*facts.Instance, error) {
	var names, full []string
	var found []*facts.Instance
	for _, g := range s.Groups {
		for i := range g.Instances {
			in := &g.Instances[i]
			own := facts.InstanceName(g.Name, in.Index, in.Node)
			if in.Node != "" && g.Name+"@"+in.Node == name || len(s.Groups) == 1 && in.Node == "" && strconv.Itoa(in.Index) == name {
				return in, nil
			}
			if own == name {
				found, full = append(found, in), append(full, g.Name+"@"+in.Node)
			}
			names = append(names, own)
		}
	}
	switch len(found) {
	case 0:
		return nil, noSuch("job "+strconv.Quote(s.Key.ID)+" has no instance "+strconv.Quote(name), "instances", names)
	case 1:
		return found[0], nil
	}
	e := api.Errorf(api.CodeInvalid, "instance %q is ambiguous: name its node in full", name)
	e.Detail = shorten(full)
	return nil, e
}

// allowsTasks checks that the tasks are there, and can be named.
func allowsTasks(in *facts.Instance, verb api.Verb, tasks []string) error {
	names := facts.TaskNames(in.Group.Def)
	for _, task := range tasks {
		if !slices.Contains(names, task) {
			return noSuch("group "+strconv.Quote(in.Group.Name)+" has no task "+strconv.Quote(task), "tasks", names)
		}
	}
	if verb == api.VerbReplace && len(tasks) > 0 {
		return api.Errorf(api.CodeInvalid, "replace applies to a whole instance: omit the tasks, or restart them")
	}
	return nil
}

// allowsVerb checks that the verb makes sense now.
func allowsVerb(in *facts.Instance, orders decision.Orders, verb api.Verb, tasks []string) error {
	name := facts.InstanceName(in.Group.Name, in.Index, in.Node)
	about := tasks
	if len(about) == 0 {
		about = facts.TaskNames(in.Group.Def)
	}
	held := 0
	for _, task := range about {
		if orders.PausedBy(task) != nil {
			held++
		}
	}
	alive := in.Alloc != nil && (in.State == facts.Placed || in.State == facts.Running || in.State == facts.Unknown)
	switch verb {
	case api.VerbRestart:
		switch {
		case !alive:
			return api.Errorf(api.CodeConflict, "instance %q does not run, so it cannot be restarted in place: see plan recovery for its next start", name)
		case held == len(about):
			return api.Errorf(api.CodeConflict, "instance %q is paused: resume it", name)
		}
		g := in.Alloc.Job.Group(in.Group.Name)
		if g == nil || !slices.ContainsFunc(g.Tasks, func(t *api.Task) bool { return slices.Contains(about, t.Name) && launch.KeepsRunning(in.Alloc, g, t) }) {
			return api.Errorf(api.CodeConflict, "no task of instance %q keeps running: a restart does not repeat tasks that finish", name)
		}
	case api.VerbReplace:
		switch {
		case in.Node != "":
			return api.Errorf(api.CodeInvalid, "instance %q belongs to its node: restart it, or drain the node", name)
		case in.Alloc == nil && in.Last == nil:
			return api.Errorf(api.CodeConflict, "instance %q was never placed: there is nothing to replace", name)
		}
	case api.VerbPause:
		if held == len(about) {
			return api.Errorf(api.CodeConflict, "instance %q is paused already: %s", name, decision.Describe("paused", orders.PausedBy(about[0])))
		}
	case api.VerbResume:
		if held == 0 {
			return api.Errorf(api.CodeConflict, "instance %q is not paused: there is nothing to resume", name)
		}
	default:
		return api.Errorf(api.CodeInvalid, "%q is no verb of instances: use restart, replace, pause or resume", verb)
	}
	return nil
}
