// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
	"github.com/reeve-run/reeve/jobspec"
)

// Verbs about jobs that start others, and about what is forgotten.
//
//	submit               register a job file that runs nothing itself
//	clock DURATION       time passes while a leader watches the schedules
//	silence DURATION     time passes, and nobody leads
//	look                 a leader comes: it acts on what is due
//	dispatch JOB [KEY=VALUE...] [payload=TEXT] [token=TEXT]
//	ended JOB            all that the job runs finishes
//	children JOB         print the jobs that a job started
//	collect              sweep, and print what is forgotten
//	collect-everything   the same, however short ago it ended
func init() {
	verbs["submit"] = func(w *world, _, lines []string) string { return w.submit(strings.Join(lines, "\n")) }
	verbs["clock"] = func(w *world, args, _ []string) string { return w.clock(w.duration(args[0])) }
	verbs["silence"] = func(w *world, args, _ []string) string { w.now = w.now.Add(w.duration(args[0])); return "" }
	verbs["look"] = func(w *world, _, _ []string) string { text, _ := w.look(); return text }
	verbs["dispatch"] = func(w *world, args, _ []string) string { return w.dispatch(args[0], pairs(args[1:])) }
	verbs["ended"] = func(w *world, args, _ []string) string { w.ended(args[0]); return "" }
	verbs["children"] = func(w *world, args, _ []string) string { return w.children(args[0]) }
	verbs["collect"] = func(w *world, _, _ []string) string { return w.collect(control.DefaultThresholds) }
	verbs["collect-everything"] = func(w *world, _, _ []string) string { return w.collect(control.Thresholds{}) }
}

func (w *world) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func (w *world) submit(text string) string {
	job, err := jobspec.Parse(jobspec.Source{Name: "job.hcl", Text: []byte(text)}, jobspec.Options{})
	if err != nil {
		return err.Error() + "\n"
	}
	job.Canonicalize()
	if err := job.Validate(); err != nil {
		return strings.Join(err.(*api.Error).Detail, "\n") + "\n"
	}
	w.job, job.SubmitTime = job.ID, w.now.UnixNano()
	w.apply(&state.RegisterJob{Job: job})
	return ""
}

// clock lets time pass from one due time to the next.
func (w *world) clock(d time.Duration) string {
	var out strings.Builder
	for end := w.now.Add(d); ; {
		text, next := w.look()
		out.WriteString(text)
		if next.IsZero() || next.After(end) {
			w.now = end
			return out.String()
		}
		w.now = next
	}
}

// look has the controller of schedules act, and says when it will again.
func (w *world) look() (string, time.Time) {
	var out strings.Builder
	var next time.Time
	c := control.NewPeriodic()
	for _, key := range c.All(w.snapshot()) {
		cmds, wake := c.Act(w.snapshot(), key, w.now)
		for _, cmd := range cmds {
			out.WriteString(w.launch(cmd.(*state.LaunchJob)))
		}
		if next.IsZero() || !wake.IsZero() && wake.Before(next) {
			next = wake
		}
	}
	return out.String(), next
}

// launch starts a child, and works its evaluation out.
func (w *world) launch(c *state.LaunchJob) string {
	at := w.now.UTC().Format("Jan 2 15:04")
	if c.Skip {
		w.apply(c)
		return fmt.Sprintf("%s: %s is due and passed over: the last has not ended\n", at, c.ParentID)
	}
	w.apply(c)
	before := w.job
	w.job = c.ID
	text := fmt.Sprintf("%s: %s\n  %s", at, c.ID, strings.ReplaceAll(strings.TrimSpace(w.print(c.Evaluation)), "\n", "\n  "))
	w.job = before
	end := c.Evaluation.Copy()
	end.Status, end.ModifyTime = api.EvalStatusComplete, w.now.UnixNano()
	w.apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{end}})
	return text + "\n"
}

func (w *world) dispatch(id string, options map[string]string) string {
	job := w.snapshot().Job(api.DefaultNamespace, id)
	req := &api.DispatchJobRequest{Meta: options, Payload: []byte(options["payload"]), IdempotencyToken: options["token"]}
	delete(options, "payload")
	delete(options, "token")
	if err := job.CheckDispatch(req); err != nil {
		var e = err.(*api.Error)
		return strings.Join(append([]string{e.Message}, e.Detail...), "\n  ") + "\n"
	}
	if child := w.snapshot().Dispatched(api.DefaultNamespace, id, req.IdempotencyToken); child != nil {
		return child.ID + ", as before\n"
	}
	eval := w.id("eval")
	cmd := control.Launch(job, api.DispatchChildID(id, "", eval[:8], w.now), eval, api.TriggerJobDispatch, w.now)
	cmd.Meta, cmd.Payload, cmd.IdempotencyToken = req.Meta, req.Payload, req.IdempotencyToken
	return w.launch(cmd)
}

func (w *world) ended(id string) {
	for a := range w.snapshot().AllocationsByJob(api.DefaultNamespace, id) {
		if !a.IsTerminal() {
			w.say("finish", []*api.Allocation{a})
		}
	}
}

func (w *world) children(id string) string {
	var out strings.Builder
	for j := range w.snapshot().JobsPrefix(api.DefaultNamespace, id+"/") {
		fmt.Fprintf(&out, "%s %s", j.ID, j.Status)
		for _, key := range slices.Sorted(maps.Keys(j.Meta)) {
			fmt.Fprintf(&out, " %s=%s", key, j.Meta[key])
		}
		if len(j.Payload) > 0 {
			fmt.Fprintf(&out, " payload %q", j.Payload)
		}
		out.WriteByte('\n')
	}
	if n := w.snapshot().ChildrenCount(api.DefaultNamespace, id); out.Len() == 0 {
		fmt.Fprintf(&out, "none; %s counts %d\n", id, n.Pending+n.Running+n.Dead)
	}
	return out.String()
}

func (w *world) collect(t control.Thresholds) string {
	var out strings.Builder
	evals := 0
	var at control.Position
	for swept := false; !swept; {
		var cmd *state.Collect
		if cmd, at, swept = control.Collect(w.snapshot(), w.now, t, at); cmd == nil {
			continue
		}
		for _, key := range cmd.Jobs {
			fmt.Fprintf(&out, "forget job %s\n", key.ID)
		}
		for _, id := range cmd.Allocations {
			fmt.Fprintf(&out, "forget %s of %s\n", describe(w.snapshot().Allocation(id)), w.snapshot().Allocation(id).JobID)
		}
		for _, id := range cmd.Nodes {
			fmt.Fprintf(&out, "forget node %s\n", id)
		}
		evals += len(cmd.Evaluations) + len(cmd.Deployments)
		w.apply(cmd)
	}
	if evals > 0 {
		fmt.Fprintf(&out, "forget %d evaluations and deployments\n", evals)
	}
	if out.Len() == 0 {
		return "nothing to forget\n"
	}
	return out.String()
}
