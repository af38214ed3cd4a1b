// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// Commands about restarts, instances, and removing jobs:
//
//	job-restart [batch=N] [wait=D] [gate=true] [max=N] [on_error=X] [groups=G,...] [tasks=T,...]   an operator asks for a
//	                            rolling restart, then evaluate
//	renders INSTANCE...|all VALUE    the nodes report a newer rendering of local/conf with a value, which waits for a
//	                            rolling restart; "-": none any longer
//	follow-templates            start the restart that templates ask for, if one is due, then evaluate
//	pause-restart, resume-restart, cancel-restart    then evaluate
//	restart-of                  print how the newest restart stands
//	instance VERB NAME [tasks=T,...] [why=WORD]      restart, replace, pause or resume an instance, then evaluate
//	instances                   print all instances
//	up-again INSTANCE...|all    the node says that what is to run does, since its launches changed; then evaluate
//	unwell INSTANCE...|all      and that it is not well
//	held INSTANCE...|all        the node says that what is held has ended; then evaluate
//	exits INSTANCE TASK CODE    the node says that one task failed with that exit code, then evaluate
//	uninstall                   the job is to be purged, then evaluate
//	has-ended INSTANCE@NODE...      the node says that what was told to stop has ended, then evaluate
func init() {
	verbs["job-restart"] = func(w *world, args, _ []string) string { return w.startRestart(pairs(args)) }
	verbs["restart-of"] = func(w *world, _, _ []string) string { return w.restartOf() }
	verbs["renders"] = func(w *world, args, _ []string) string { w.renders(args[:len(args)-1], args[len(args)-1]); return "" }
	verbs["follow-templates"] = func(w *world, _, _ []string) string { return w.followTemplates() }
	verbs["instance"] = func(w *world, args, _ []string) string { return w.instanceVerb(args[0], args[1], pairs(args[2:])) }
	verbs["instances"] = func(w *world, _, _ []string) string { return w.listInstances() }
	events["pause-restart"] = func(w *world, _, _ []string) { w.changeRestart(api.RestartPaused) }
	events["resume-restart"] = func(w *world, _, _ []string) { w.changeRestart(api.RestartRunning) }
	events["cancel-restart"] = func(w *world, _, _ []string) { w.changeRestart(api.RestartCancelled) }
	events["up-again"] = func(w *world, args, _ []string) { w.upAgain(args, true) }
	events["unwell"] = func(w *world, args, _ []string) { w.upAgain(args, false) }
	events["held"] = func(w *world, args, _ []string) { w.held(args) }
	events["exits"] = func(w *world, args, _ []string) { w.exits(args[0], args[1], args[2]) }
	events["uninstall"] = func(w *world, _, _ []string) { w.deregister(true) }
	events["has-ended"] = func(w *world, args, _ []string) { w.hasEnded(args) }
}

// refused prints an error that an operator gets.
func refused(t tester, err error) string {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) {
		t.Fatalf("not an error for operators: %v", err)
	}
	return "refused: " + strings.Join(append([]string{e.Message}, e.Detail...), "\n  ") + "\n"
}

func listOf(value string) []string {
	if value == "" {
		return nil
	}
	return strings.Split(value, ",")
}

func (w *world) startRestart(options map[string]string) string {
	w.t.Helper()
	req := &api.JobRestartRequest{
		HealthGate: options["gate"] == "true", OnError: options["on_error"],
		Groups: listOf(options["groups"]), Tasks: listOf(options["tasks"]), By: "op",
	}
	req.BatchSize, _ = strconv.Atoi(options["batch"])
	req.MaxUnhealthy, _ = strconv.Atoi(options["max"])
	req.BatchWait, _ = time.ParseDuration(options["wait"])
	j, err := operator.NewRestart(w.snapshot(), w.newest(), req, w.now)
	if err != nil {
		return refused(w.t, err)
	}
	w.apply(&state.PutRestart{Restart: j})
	return w.print(w.evaluation())
}

func (w *world) renders(names []string, value string) {
	w.t.Helper()
	if value == "-" {
		value = ""
	}
	for _, a := range w.instances(names) {
		w.report(a, func(u *api.Allocation) {
			states := map[string]*api.TaskState{}
			for name, s := range a.TaskStates {
				c := *s
				c.Templates = []*api.TemplateState{{Destination: "local/conf", Pending: value}}
				states[name] = &c
			}
			u.TaskStates = states
		})
	}
}

func (w *world) followTemplates() string {
	w.t.Helper()
	j, wake := operator.NewTemplateRestart(w.snapshot(), w.newest(), w.now)
	switch {
	case j != nil:
		w.apply(&state.PutRestart{Restart: j})
		return fmt.Sprintf("restart of group %s, %d at a time, by %s: %s\n", strings.Join(j.Groups, ", "), j.BatchSize, j.By, j.Reason) + w.print(w.evaluation())
	case !wake.IsZero():
		return fmt.Sprintf("due in %s\n", wake.Sub(w.now))
	}
	return "none is due\n"
}

func (w *world) changeRestart(status string) {
	w.t.Helper()
	j := w.snapshot().LatestRestart(api.DefaultNamespace, w.job)
	cmd := &state.UpdateRestart{ID: j.ID, Status: status, Time: w.now.UnixNano()}
	switch status {
	case api.RestartPaused:
		cmd.Reason, cmd.Description = api.ReasonRestartPaused, "Paused by op"
	case api.RestartRunning:
		cmd.Reason, cmd.Description = api.ReasonRestartRunning, api.ReasonRestartRunning.Text()
	case api.RestartCancelled:
		cmd.Reason, cmd.Description = api.ReasonRestartCancelled, "Cancelled by op"
	}
	w.apply(cmd)
}

func (w *world) restartOf() string {
	j := w.snapshot().LatestRestart(api.DefaultNamespace, w.job)
	if j == nil {
		return "there is none\n"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s\n", j.Status, j.StatusDescription)
	for _, id := range j.RestartedAllocs {
		if a := w.snapshot().Allocation(id); a != nil {
			fmt.Fprintf(&out, "restarted %s", describe(a))
			if slices.Contains(j.UnhealthyAllocs, id) {
				out.WriteString(", and it did not become healthy again")
			}
			out.WriteByte('\n')
		}
	}
	if !j.NextBatch.IsZero() {
		fmt.Fprintf(&out, "next batch in %s\n", j.NextBatch.Sub(w.now))
	}
	return out.String()
}

func (w *world) instanceVerb(verb, name string, options map[string]string) string {
	w.t.Helper()
	d, err := operator.DecideInstance(w.snapshot(), w.newest(), name, api.Verb(verb),
		&api.InstanceRequest{Tasks: listOf(options["tasks"]), By: "op", Reason: options["why"]}, w.now)
	if err != nil {
		return refused(w.t, err)
	}
	cmd := &state.Decide{Decision: d, Time: w.now.UnixNano()}
	if all := w.snapshot().Decisions(api.DefaultNamespace, w.job); len(all) > 0 {
		cmd.After = all[len(all)-1].ID
	}
	w.apply(cmd)
	return w.print(w.evaluation())
}

func (w *world) listInstances() string {
	var out strings.Builder
	for _, in := range view.Instances(w.snapshot(), w.key(), w.newest(), w.now) {
		fmt.Fprintf(&out, "%s %s v%d", in.Name, in.State, in.JobVersion)
		if in.NodeID != "" {
			out.WriteString(" on " + in.NodeID)
		}
		if in.Paused {
			out.WriteString(", paused")
			if in.Routable {
				out.WriteString(", gets traffic")
			}
		}
		if in.Plan != "" {
			fmt.Fprintf(&out, ", %s: %s", in.Plan, in.Step)
		}
		if in.Message != "" {
			out.WriteString(": " + in.Message)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func (w *world) upAgain(names []string, healthy bool) {
	for _, a := range w.instances(names) {
		w.report(a, func(u *api.Allocation) {
			u.ClientStatus = api.AllocClientRunning
			u.TaskStates = w.running(a, false)
			if a.Launches != nil {
				u.LaunchStatus = &api.LaunchStatus{ID: a.Launches.ID, Healthy: &healthy, Timestamp: w.now}
			}
		})
	}
}

func (w *world) held(names []string) {
	for _, a := range w.instances(names) {
		w.report(a, func(u *api.Allocation) {
			u.TaskStates = w.running(a, false)
			for _, name := range tasksOf(a) {
				if a.Launches != nil && a.Launches.Tasks[name] != nil && a.Launches.Tasks[name].Hold {
					u.TaskStates[name] = &api.TaskState{State: api.TaskStatePending, Launch: wantedRun(a, name)}
				}
			}
		})
	}
}

func (w *world) exits(instance, task, code string) {
	w.t.Helper()
	w.task(instance, task, "fail")
	number, err := strconv.Atoi(code)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, a := range w.instances([]string{instance}) {
		w.report(a, func(u *api.Allocation) {
			u.TaskStates = a.TaskStates
			is := *a.TaskStates[task]
			is.Events = []*api.TaskEvent{{Type: api.EventTerminated, ExitCode: number}}
			is.StartedAt = w.now
			u.TaskStates[task] = &is
		})
	}
}

func (w *world) hasEnded(names []string) {
	for _, name := range names {
		name, at, _ := strings.Cut(name, "@")
		for _, a := range w.allocations() {
			if a.IsServerTerminal() && !a.IsClientTerminal() && a.NodeID == at && strings.HasSuffix(a.Name, "."+name) {
				w.report(a, func(u *api.Allocation) { u.ClientStatus = api.AllocClientComplete })
			}
		}
	}
}

// printRestart tells what became of the job's restart, and of a job that is gone.
func printRestart(out *strings.Builder, r *plan.Result) {
	if r.Restart != nil && r.Restart.Status != api.RestartRunning {
		fmt.Fprintf(out, "restart %s: %s\n", r.Restart.Status, r.Restart.StatusDescription)
	}
	if r.Deregister {
		out.WriteString("forget the job\n")
	}
}
