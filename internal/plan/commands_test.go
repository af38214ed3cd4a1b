// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/deployment"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// Commands of scripts. NAME[INDEX] is an instance: its newest allocation that
// was not told to stop; NAME[INDEX]@NODE is the one on that node, and NAME is
// all of the group. Other features add verbs of their own in
// commands_FEATURE_test.go, by putting them into verbs.
//
//	nodes N [cpu=MHZ] [memory=MB] [dc=NAME] [class=NAME] [pool=NAME] [driver=NAME,...]
//	        [device=VENDOR/TYPE/MODEL:COUNT] [KEY=VALUE...]   N more nodes; the rest is metadata
//	job NAME [type=TYPE] [dc=GLOB] [pool=NAME] [priority=N] [KEY=VALUE...]   register a job, evaluate, and print
//	  group NAME count=N [cpu=MHZ] [memory=MB] [driver=NAME] [port=N] [dynamic=N] [env=V] [tag=V] [check=PATH]
//	        [constraint=KEY:VALUE] [distinct=hosts] [affinity=KEY:VALUE] [spread=KEY]
//	        [max_parallel=N] [share=PERCENT] [progress=D] [auto_revert=true] [written=true]           update
//	        [canary=N] [auto_promote=true] [health_check=KIND]
//	        [attempts=N] [interval=D] [delay=D] [function=F] [max_delay=D] [immediate=N]              reschedule
//	        [recreate=true]                                                                           migrate
//	        [lost_after=D] [stop_on_client_after=D] [replace=BOOL] [reconcile=STRATEGY]               disconnect
//	register ...                register a job as job does, without an evaluation
//	use NAME                    the commands that follow are about this job
//	evaluate                    evaluate and print
//	dry                         print what an evaluation would do, by group
//	start|healthy|unhealthy|restart|fail|finish INSTANCE...|all   what the nodes report, then evaluate and print;
//	                            restart is in place, by the restart policy
//	gone                        the nodes report that whatever was told to stop has ended; then evaluate
//	down|up|disconnect|reconnect|ineligible|eligible NODE...  then evaluate and print
//	change NODE KEY=VALUE...    other metadata; then evaluate
//	drain NODE [deadline=D]     the node is to be emptied; then evaluate
//	migrate INSTANCE...         the drain's turn has come for them; then evaluate
//	undrain NODE                the drain ends; then evaluate
//	remove NODE...              the node is purged; then evaluate
//	stop INSTANCE...            a user stops allocations; then evaluate
//	stop-job, purge-job         then evaluate; "purge-job quietly" does not
//	pause, resume, fail-deployment
//	force-reschedule            a user wants failed instances tried again; then evaluate
//	collect-deployments         forget those that have ended
//	check                       ask whether the deployment has ended, and act on it
//	after DURATION              time passes; follow-up evaluations that are due run
//	tree                        print the plans
//	allocations                 print every allocation
//	attempts                    print the history of attempts of every live allocation
//	suits NODE                  print why the node may not run each group
func (w *world) run(text string) string {
	w.t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	words := strings.Fields(lines[0])
	verb, args := words[0], words[1:]
	if do := verbs[verb]; do != nil {
		return do(w, args, lines[1:])
	}
	if do := events[verb]; do != nil {
		do(w, args, lines[1:])
		return w.print(w.evaluation())
	}
	w.t.Fatalf("unknown command %q", lines[0])
	return ""
}

// A verb does what a command says, given its words and the lines that belong to
// it, and returns what it prints.
type verb func(w *world, args, lines []string) string

var verbs = map[string]verb{
	"nodes":       func(w *world, args, _ []string) string { w.nodes(args); return "" },
	"register":    func(w *world, args, lines []string) string { w.register(args, lines); return "" },
	"use":         func(w *world, args, _ []string) string { w.job = args[0]; return "" },
	"dry":         func(w *world, _, _ []string) string { return w.dry() },
	"pause":       func(w *world, _, _ []string) string { w.deployment(api.DeploymentPaused); return "" },
	"check":       func(w *world, _, _ []string) string { return w.check() },
	"after":       func(w *world, args, _ []string) string { return w.after(args[0]) },
	"waits-for":   func(w *world, _, _ []string) string { return cmp.Or(w.waitsFor, "no operator") + "\n" },
	"tree":        func(w *world, _, _ []string) string { return w.tree() },
	"suits":       func(w *world, args, _ []string) string { return w.suits(args[0]) },
	"attempts":    func(w *world, _, _ []string) string { return w.attempts() },
	"allocations": func(w *world, _, _ []string) string { return w.listing() },
}

// An event changes something; an evaluation follows, and is printed.
type event func(w *world, args, lines []string)

var events = map[string]event{
	"job":              func(w *world, args, lines []string) { w.register(args, lines) },
	"evaluate":         func(*world, []string, []string) {},
	"start":            func(w *world, args, _ []string) { w.reports("start", args) },
	"restart":          func(w *world, args, _ []string) { w.reports("restart", args) },
	"healthy":          func(w *world, args, _ []string) { w.reports("healthy", args) },
	"unhealthy":        func(w *world, args, _ []string) { w.reports("unhealthy", args) },
	"fail":             func(w *world, args, _ []string) { w.reports("fail", args) },
	"finish":           func(w *world, args, _ []string) { w.reports("finish", args) },
	"gone":             func(w *world, _, _ []string) { w.allGone() },
	"stop":             func(w *world, args, _ []string) { w.migrate(args) },
	"migrate":          func(w *world, args, _ []string) { w.migrate(args) },
	"stop-job":         func(w *world, _, _ []string) { w.deregister(false) },
	"resume":           func(w *world, _, _ []string) { w.deployment(api.DeploymentRunning) },
	"fail-deployment":  func(w *world, _, _ []string) { w.deployment(api.DeploymentFailed) },
	"force-reschedule": func(w *world, _, _ []string) { w.forceReschedule() },
	"collect-deployments": func(w *world, _, _ []string) {
		var ids []string
		for d := range w.snapshot().DeploymentsByJob(api.DefaultNamespace, w.job) {
			ids = append(ids, d.ID)
		}
		w.apply(&state.Collect{Deployments: ids})
	},
}

func init() {
	verbs["purge-job"] = func(w *world, args, _ []string) string {
		w.deregister(true)
		if len(args) > 0 {
			return ""
		}
		return w.print(w.evaluation())
	}
}

func (w *world) deregister(purge bool) {
	w.apply(&state.DeregisterJob{Namespace: api.DefaultNamespace, ID: w.job, Purge: purge, Time: w.now.UnixNano()})
}

func (w *world) migrate(names []string) {
	for _, a := range w.instances(names) {
		w.apply(&state.SetTransition{AllocationIDs: []string{a.ID}, Transition: api.DesiredTransition{Migrate: new(true)}})
	}
}

func (w *world) forceReschedule() {
	for _, a := range w.allocations() {
		if a.ClientStatus == api.AllocClientFailed && !a.IsServerTerminal() {
			w.apply(&state.SetTransition{AllocationIDs: []string{a.ID}, Transition: api.DesiredTransition{ForceReschedule: new(true)}})
		}
	}
}

func (w *world) register(args, groups []string) {
	job := &api.Job{ID: args[0], Name: args[0], Type: api.JobTypeService, Datacenters: []string{"*"}}
	for key, value := range pairs(args[1:]) {
		switch key {
		case "type":
			job.Type = value
		case "dc":
			job.Datacenters = []string{value}
		case "pool":
			job.NodePool = value
		case "priority":
			job.Priority, _ = strconv.Atoi(value)
		default:
			job.Meta = map[string]string{key: value}
		}
	}
	for _, line := range groups {
		words := strings.Fields(line)
		if words[0] == "group" {
			job.Groups = append(job.Groups, newGroup(words[1], pairs(words[2:])))
		} else {
			declare(job, words)
		}
	}
	job.Canonicalize()
	if err := job.Validate(); err != nil {
		w.t.Fatalf("job %s: %v", job.ID, err)
	}
	w.job = job.ID
	w.apply(&state.RegisterJob{Job: job})
}

// instances finds the allocations that the names mean.
func (w *world) instances(names []string) []*api.Allocation {
	w.t.Helper()
	var found []*api.Allocation
	for _, name := range names {
		var newest *api.Allocation
		name, at, _ := strings.Cut(name, "@")
		every := false
		for _, a := range w.allocations() {
			switch {
			case a.IsServerTerminal() || a.IsClientTerminal():
			case name == "all", name == a.Group:
				found = append(found, a)
				every = true
			case at != "" && a.NodeID != at:
			case isNamed(a, name):
				newest = a
			}
		}
		if newest != nil {
			found = append(found, newest)
		} else if name != "all" && !every {
			w.t.Fatalf("no live allocation %q", name)
		}
	}
	return found
}

// reports has nodes say something of instances.
func (w *world) reports(what string, names []string) {
	w.say(what, w.instances(names))
}

// say has nodes report of allocations.
func (w *world) say(what string, allocs []*api.Allocation) {
	for _, a := range allocs {
		w.report(a, func(u *api.Allocation) {
			health := what == "healthy"
			switch what {
			case "start", "restart":
				u.ClientStatus = api.AllocClientRunning
				u.TaskStates = w.running(a, what == "restart")
			case "healthy", "unhealthy":
				u.ClientStatus = api.AllocClientRunning
				u.TaskStates = w.running(a, false)
				u.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: &health, Timestamp: w.now}
			case "fail", "finish":
				u.ClientStatus = map[string]string{"fail": api.AllocClientFailed, "finish": api.AllocClientComplete}[what]
				u.TaskStates = map[string]*api.TaskState{}
				for _, name := range tasksOf(a) {
					if isWanted(a, name) {
						u.TaskStates[name] = &api.TaskState{
							State: api.TaskStateDead, Failed: what == "fail", FinishedAt: w.now, Launch: wantedRun(a, name),
						}
					}
				}
			}
		})
	}
}

// running is the state of tasks that run, since now if they did not before or are
// started again. Those that have an end have reached it.
func (w *world) running(a *api.Allocation, again bool) map[string]*api.TaskState {
	states := map[string]*api.TaskState{}
	for _, name := range tasksOf(a) {
		token := wantedRun(a, name)
		t := a.TaskStates[name]
		switch goal := a.Job.Group(a.Group).Task(name).Goal; {
		case t != nil && t.Launch == token && (t.State == api.TaskStateRunning && !again || t.IsSuccessful()):
			states[name] = t
		case !isWanted(a, name):
		case goal == api.GoalFinish || goal == api.GoalOnce:
			states[name] = &api.TaskState{State: api.TaskStateDead, StartedAt: w.now, FinishedAt: w.now, Launch: token}
		default:
			states[name] = &api.TaskState{State: api.TaskStateRunning, StartedAt: w.now, Launch: token}
		}
	}
	return states
}

func tasksOf(a *api.Allocation) (names []string) {
	for _, t := range a.Job.Group(a.Group).Tasks {
		names = append(names, t.Name)
	}
	return names
}

func (w *world) allGone() {
	for _, a := range w.allocations() {
		if a.IsServerTerminal() && !a.IsClientTerminal() {
			w.report(a, func(u *api.Allocation) { u.ClientStatus = api.AllocClientComplete })
		}
	}
}

func (w *world) deployment(status string) {
	d := w.snapshot().LatestDeployment(api.DefaultNamespace, w.job)
	w.apply(&state.UpdateDeployment{ID: d.ID, Status: status, Description: status, Time: w.now.UnixNano()})
}

func (w *world) check() string {
	d := w.snapshot().LatestDeployment(api.DefaultNamespace, w.job)
	if d == nil {
		return "no deployment\n"
	}
	if !d.IsActive() {
		return fmt.Sprintf("deployment of v%d has ended: %s\n", d.JobVersion, d.Status)
	}
	v := deployment.Check(w.snapshot(), w.newest(), d, w.now)
	if len(v.Promote) > 0 {
		w.promote(v.Promote)
		return fmt.Sprintf("promotes %s\n", strings.Join(v.Promote, ", "))
	}
	if v.Status == "" {
		if v.Wake.IsZero() {
			return "goes on\n"
		}
		return fmt.Sprintf("goes on, ask again in %s\n", v.Wake.Sub(w.now))
	}
	w.apply(&state.UpdateDeployment{ID: d.ID, Status: v.Status, Reason: v.Reason, Description: v.Reason.Text(), Time: w.now.UnixNano()})
	return fmt.Sprintf("%s: %s (revert: %t)\n", v.Status, v.Reason.Text(), v.AutoRevert)
}

func (w *world) after(duration string) string {
	d, err := time.ParseDuration(duration)
	if err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(d)
	var out strings.Builder
	due := slices.Collect(w.snapshot().EvaluationsByJob(api.DefaultNamespace, w.job))
	slices.SortFunc(due, func(a, b *api.Evaluation) int { return a.WaitUntil.Compare(b.WaitUntil) })
	for _, e := range due {
		if e.Status == api.EvalStatusPending && !e.WaitUntil.After(w.now) {
			out.WriteString(w.print(e))
		}
	}
	return out.String()
}

func (w *world) tree() string {
	var out strings.Builder
	for _, p := range w.plans() {
		out.WriteString(view.Draw(p))
	}
	return out.String()
}

func (w *world) listing() string {
	var out strings.Builder
	for _, a := range w.allocations() {
		fmt.Fprintf(&out, "%s %s %s", describe(a), a.DesiredStatus, a.ClientStatus)
		if a.DesiredDescription != "" {
			out.WriteString(": " + a.DesiredDescription)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

func (w *world) dry() string {
	r, _ := w.compute(w.evaluation())
	var out strings.Builder
	var names []string
	for name := range r.Updates {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		u := *r.Updates[name]
		fmt.Fprintf(&out, "%s:", name)
		for _, c := range []struct {
			what string
			n    uint64
		}{
			{"place", u.Place}, {"stop", u.Stop}, {"migrate", u.Migrate}, {"in place", u.InPlaceUpdate},
			{"replace", u.DestructiveUpdate}, {"reschedule now", u.RescheduleNow}, {"later", u.RescheduleLater}, {"ignore", u.Ignore},
		} {
			if c.n > 0 {
				fmt.Fprintf(&out, " %s %d", c.what, c.n)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// describe is an allocation for people: what, which version, where.
func describe(a *api.Allocation) string {
	_, name, _ := strings.Cut(a.Name, ".")
	if a.IsCanary() {
		name += " canary"
	}
	return fmt.Sprintf("%s v%d on %s", name, a.JobVersion(), a.NodeID)
}

// print evaluates, and prints what was decided.
func (w *world) print(eval *api.Evaluation) string {
	w.t.Helper()
	before := map[string]*api.Allocation{}
	for _, a := range w.allocations() {
		before[a.ID] = a
	}
	r, o := w.evaluate(eval)
	var out strings.Builder
	for _, u := range r.DeploymentUpdates {
		fmt.Fprintf(&out, "deployment %s: %s\n", u.Status, u.Description)
	}
	if r.Deployment != nil {
		fmt.Fprintf(&out, "deployment of v%d %s\n", r.Deployment.JobVersion, r.Deployment.Status)
	}
	for _, s := range slices.Concat(r.Stop, o.Stop) {
		fmt.Fprintf(&out, "stop %s: %s", describe(s.Alloc), s.Description)
		if s.ClientStatus != "" {
			fmt.Fprintf(&out, " (%s)", s.ClientStatus)
		}
		out.WriteByte('\n')
	}
	for _, a := range r.Update {
		was := before[a.ID]
		if a.JobVersion() != was.JobVersion() {
			fmt.Fprintf(&out, "update %s to v%d\n", describe(was), a.JobVersion())
		}
		if a.ClientStatus != was.ClientStatus {
			fmt.Fprintf(&out, "%s %s: %s\n", a.ClientStatus, describe(a), a.ClientDescription)
		}
		if a.FollowupEvalID != was.FollowupEvalID {
			fmt.Fprintf(&out, "later %s\n", describe(a))
		}
		w.printLaunches(&out, was, a)
	}
	for _, a := range o.Place {
		fmt.Fprintf(&out, "start %s", describe(a))
		if a.DeploymentID == "" {
			out.WriteString(", outside of a deployment")
		}
		w.printLaunches(&out, nil, a)
		out.WriteByte('\n')
	}
	preempts(&out, o.Preempt)
	w.printQueued(&out, o)
	for _, e := range r.FollowUps {
		fmt.Fprintf(&out, "evaluate again in %s\n", e.WaitUntil.Sub(w.now))
	}
	printRestart(&out, r)
	if r.IsEmpty() {
		out.WriteString("nothing to do\n")
	}
	return out.String()
}

func (w *world) printQueued(out *strings.Builder, o *placement.Outcome) {
	job := w.newest()
	if job == nil {
		return
	}
	for _, g := range job.Groups {
		if n := o.Queued[g.Name]; n > 0 {
			fmt.Fprintf(out, "queued: %d of %s", n, g.Name)
			if waiting := o.Waiting[g.Name]; waiting > 0 {
				fmt.Fprintf(out, ", %d waiting for room", waiting)
			}
			if m := o.Failed[g.Name]; m != nil {
				fmt.Fprintf(out, " (%d nodes evaluated, %d filtered%s, %d exhausted%s)",
					m.NodesEvaluated, m.NodesFiltered, reasons(m.ConstraintFiltered), m.NodesExhausted, reasons(m.DimensionExhausted))
			}
			out.WriteByte('\n')
		}
	}
}

func reasons(counts map[string]int) string {
	if len(counts) == 0 {
		return ""
	}
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	return " by " + strings.Join(names, ", ")
}
