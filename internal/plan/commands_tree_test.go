// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// Commands about trees, and lines of jobs that declare them:
//
//	job NAME ...
//	  group NAME ...
//	    task NAME [goal=GOAL] [env=V] [essential=BOOL]     instead of the task main
//	  plan NAME [strategy=S]
//	    phase NAME [group=G] [strategy=S] [max_parallel=N] [stagger=D] [after=PHASE,...]
//	      step [name=NAME] [index=N] [tasks=TASK,...] [after=STEP;...]
//	decide VERB PLAN [phase=PHASE] [by=WHO] [why=WORD] [KEY=VALUE...] [step=STEP]   an operator decides, then evaluate;
//	                            the step's name is the rest of the line
//	task INSTANCE TASK start|finish|fail     the node says how one task fares in the run that is wanted of it, then evaluate
//	launched INSTANCE...|all    the node says that all tasks that are to run do, and are well, since its launches changed
//	plans                       print the statuses of all plans
//	decisions                   print what operators decided
//	restart-server              everything is written down, forgotten, and read again; prints nothing
func init() {
	verbs["decide"] = func(w *world, args, _ []string) string { return w.decide(args) }
	verbs["plans"] = func(w *world, _, _ []string) string { return w.statuses() }
	verbs["decisions"] = func(w *world, _, _ []string) string { return w.decisions() }
	verbs["restart-server"] = func(w *world, _, _ []string) string { w.restartServer(); return "" }
	events["task"] = func(w *world, args, _ []string) { w.task(args[0], args[1], args[2]) }
	events["launched"] = func(w *world, args, _ []string) { w.launched(args) }
}

// decide has an operator decide something, and evaluates.
func (w *world) decide(args []string) string {
	w.t.Helper()
	req := &api.PlanRequest{By: "op"}
	for i, word := range args[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "phase":
			req.Phase = value
		case "by":
			req.By = value
		case "why":
			req.Reason = value
		case "step":
			req.Step = strings.Join(append([]string{value}, args[2+i+1:]...), " ")
		default:
			if req.Step == "" {
				if req.Parameters == nil {
					req.Parameters = map[string]string{}
				}
				req.Parameters[key] = value
			}
		}
	}
	if err := w.decided(args[1], api.Verb(args[0]), req); err != nil {
		return refused(w.t, err)
	}
	return w.print(w.evaluation())
}

// decided stores what an operator decides, unless that makes no sense.
func (w *world) decided(name string, verb api.Verb, req *api.PlanRequest) error {
	w.t.Helper()
	d, err := operator.Decide(w.snapshot(), w.newest(), name, verb, req, w.now)
	if err != nil {
		return err
	}
	cmd := &state.Decide{Decision: d, Time: w.now.UnixNano()}
	if all := w.snapshot().Decisions(api.DefaultNamespace, w.job); len(all) > 0 {
		cmd.After = all[len(all)-1].ID
	}
	latest := w.snapshot().LatestDeployment(api.DefaultNamespace, w.job)
	if latest != nil && latest.IsActive() && d.Plan == api.PlanDeploy && d.Phase == "" {
		switch verb {
		case api.VerbInterrupt:
			cmd.DeploymentUpdate = &state.DeploymentUpdate{ID: latest.ID, Status: api.DeploymentPaused}
		case api.VerbContinue, api.VerbRestart:
			cmd.DeploymentUpdate = &state.DeploymentUpdate{ID: latest.ID, Status: api.DeploymentRunning}
		}
	}
	if status, ok := operator.RestartStatus(verb); ok && d.Plan == api.PlanRestart && d.Phase == "" {
		cmd.UpdateRestart = &state.UpdateRestart{ID: d.Run, Status: status, Description: "by op", Time: w.now.UnixNano()}
	}
	w.apply(cmd)
	return nil
}

// declare reads a line of a job that is not about a group.
func declare(job *api.Job, words []string) {
	options := pairs(words[1:])
	list := func(key, separator string) []string {
		if options[key] == "" {
			return nil
		}
		return strings.Split(options[key], separator)
	}
	name := ""
	if len(words) > 1 && !strings.Contains(words[1], "=") {
		name = words[1]
	}
	switch words[0] {
	case "plan":
		job.Plans = append(job.Plans, &api.PlanSpec{Name: name, Strategy: options["strategy"]})
	case "phase":
		ph := &api.PhaseSpec{
			Name: name, Group: options["group"], Strategy: options["strategy"], MaxParallel: options["max_parallel"], After: list("after", ","),
		}
		if stagger, err := time.ParseDuration(options["stagger"]); err == nil {
			ph.Stagger = &stagger
		}
		last := job.Plans[len(job.Plans)-1]
		last.Phases = append(last.Phases, ph)
	case "step":
		st := &api.StepSpec{Name: options["name"], Tasks: list("tasks", ","), After: list("after", ";")}
		if index, err := strconv.Atoi(options["index"]); err == nil {
			st.Index = &index
		}
		phases := job.Plans[len(job.Plans)-1].Phases
		last := phases[len(phases)-1]
		last.Steps = append(last.Steps, st)
	case "task":
		g := job.Groups[len(job.Groups)-1]
		t := *g.Tasks[0]
		t.Name, t.Goal = name, options["goal"]
		if options["env"] != "" {
			t.Env = map[string]string{"V": options["env"]}
		}
		if options["essential"] != "" {
			t.Essential = new(options["essential"] == "true")
		}
		if g.Tasks[0].Name == "main" {
			g.Tasks = nil
		}
		g.Tasks = append(g.Tasks, &t)
		g.EphemeralDisk = &api.EphemeralDisk{SizeMB: new(100 * len(g.Tasks))}
	}
}

// task has the node say how one task fares in the run that is wanted of it.
func (w *world) task(instance, name, what string) {
	w.t.Helper()
	for _, a := range w.instances([]string{instance}) {
		w.report(a, func(u *api.Allocation) {
			u.TaskStates = maps.Clone(a.TaskStates)
			if u.TaskStates == nil {
				u.TaskStates = map[string]*api.TaskState{}
			}
			is := &api.TaskState{State: api.TaskStateRunning, StartedAt: w.now, Launch: wantedRun(a, name)}
			if what != "start" {
				is.State, is.Failed, is.FinishedAt = api.TaskStateDead, what == "fail", w.now
			}
			u.TaskStates[name] = is
			if u.ClientStatus == api.AllocClientPending {
				u.ClientStatus = api.AllocClientRunning
			}
		})
	}
}

// wantedRun is the token of the run that is wanted of a task.
func wantedRun(a *api.Allocation, name string) string {
	if a.Launches == nil || a.Launches.Tasks[name] == nil {
		return ""
	}
	return a.Launches.Tasks[name].Token
}

// isWanted reports whether the task is to run now.
func isWanted(a *api.Allocation, name string) bool {
	if a.Launches == nil || a.Launches.Tasks[name] == nil {
		return true
	}
	l := a.Launches.Tasks[name]
	return l.Token != "" && !l.Hold && !l.Done
}

// launched has nodes say that allocations are well since their launches changed.
func (w *world) launched(names []string) {
	for _, a := range w.instances(names) {
		if a.Launches == nil {
			continue
		}
		w.report(a, func(u *api.Allocation) {
			u.ClientStatus = api.AllocClientRunning
			u.TaskStates = w.running(a, false)
			u.LaunchStatus = &api.LaunchStatus{ID: a.Launches.ID, Healthy: new(true), Timestamp: w.now}
		})
	}
}

func (w *world) statuses() string {
	v := view.Derive(w.snapshot(), w.key(), w.newest(), w.now)
	defer v.Release()
	var out strings.Builder
	for _, p := range v.List() {
		fmt.Fprintf(&out, "%s %s, %d of %d steps", p.Name, p.Status, p.Completed, p.Total)
		if p.Interrupted {
			out.WriteString(", interrupted")
		}
		if p.Message != "" {
			out.WriteString(": " + p.Message)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func (w *world) decisions() string {
	var out strings.Builder
	for _, d := range w.snapshot().Decisions(api.DefaultNamespace, w.job) {
		fmt.Fprintf(&out, "%s by %s: %s", clock(d.Time), d.By, d.Verb)
		for _, word := range []string{d.Plan, d.Phase, d.Step, d.Reason} {
			if word != "" {
				out.WriteString(" " + word)
			}
		}
		fmt.Fprintf(&out, " (v%d)\n", d.JobVersion)
	}
	return out.String()
}

func clock(nanoseconds int64) string { return time.Unix(0, nanoseconds).UTC().Format("15:04:05") }

// restartServer writes the whole store down, and goes on with one that reads it.
func (w *world) restartServer() {
	w.t.Helper()
	var b bytes.Buffer
	if _, err := w.snapshot().WriteTo(&b); err != nil {
		w.t.Fatal(err)
	}
	store, err := state.Restore(&b)
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = store
	w.feed = w.store.Subscribe()
	w.fleet = placement.NewFleet(w.store.Snapshot())
}

// printLaunches tells what an allocation's tasks are to do, as far as that is new.
func (w *world) printLaunches(out *strings.Builder, was, is *api.Allocation) {
	if is.Launches == nil || was != nil && was.Launches != nil && was.Launches.ID == is.Launches.ID {
		return
	}
	var later, demand, done, runs, held []string
	for _, name := range slices.Sorted(maps.Keys(is.Launches.Tasks)) {
		l := is.Launches.Tasks[name]
		if was != nil && was.Launches != nil && was.Launches.Tasks[name] != nil && was.Launches.Tasks[name].Token == l.Token && was.Launches.Tasks[name].Hold == l.Hold {
			continue
		}
		switch {
		case l.Done:
			done = append(done, name)
		case l.Hold && was == nil:
			held = append(held, name)
		case l.Hold:
			out.WriteString("hold " + describe(is) + ": " + name + "\n")
		case l.Await:
			later = append(later, name)
		case l.Token == "":
			demand = append(demand, name)
		default:
			runs = append(runs, name)
		}
	}
	if was != nil && len(runs) > 0 {
		fmt.Fprintf(out, "launch %s: %s\n", describe(is), strings.Join(runs, ", "))
		return
	}
	if len(later) > 0 {
		fmt.Fprintf(out, ", %s later", strings.Join(later, ", "))
	}
	if len(demand) > 0 {
		fmt.Fprintf(out, ", %s on demand", strings.Join(demand, ", "))
	}
	if len(held) > 0 {
		fmt.Fprintf(out, ", %s held", strings.Join(held, ", "))
	}
	if len(done) > 0 {
		fmt.Fprintf(out, ", %s done", strings.Join(done, ", "))
	}
}
