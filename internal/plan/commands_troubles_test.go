// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// Commands about what goes wrong:
//
//	crashes INSTANCE... KIND [next=D] [code=N]   the nodes say that they crash, and are tried again there
//	templates-wait INSTANCE... TEXT  the nodes say that a template of each waits before the start
//	secrets-wait INSTANCE... TEXT    the nodes say that the task of each waits for a secret before the start
//	checks-fail INSTANCE... ANSWER   the nodes say that check "http" of service "web" fails; running meanwhile
//	checks-pass INSTANCE...          and that it passes
//	no-room                          store an evaluation that waits with what could not be placed
//	troubles [INSTANCE|vN]           print what goes wrong now
func init() {
	verbs["troubles"] = func(w *world, args, _ []string) string { return w.troubles(args) }
	verbs["crashes"] = func(w *world, args, _ []string) string { w.crashes(args); return "" }
	verbs["templates-wait"] = func(w *world, args, _ []string) string {
		last := len(args) - 1
		for _, a := range w.instances(args[:last]) {
			w.report(a, func(u *api.Allocation) {
				waits := []*api.TemplateState{{Destination: "local/ready"}, {Destination: "local/conf", Waiting: args[last]}}
				u.ClientStatus = api.AllocClientPending
				u.TaskStates = map[string]*api.TaskState{"main": {State: api.TaskStatePending, Templates: waits}}
			})
		}
		return ""
	}
	verbs["secrets-wait"] = func(w *world, args, _ []string) string {
		last := len(args) - 1
		for _, a := range w.instances(args[:last]) {
			w.report(a, func(u *api.Allocation) {
				u.ClientStatus = api.AllocClientPending
				u.TaskStates = map[string]*api.TaskState{"main": {State: api.TaskStatePending, Waiting: args[last]}}
			})
		}
		return ""
	}
	verbs["checks-fail"] = func(w *world, args, _ []string) string {
		last := len(args) - 1
		w.serving(args[:last], &api.Serving{Up: true, Failing: []*api.CheckFailure{
			{Kind: api.TroubleCheckFailed, Service: "web", Check: "http", Answer: args[last], StatusCode: 500, Since: w.now.UnixNano()},
		}})
		return ""
	}
	verbs["no-room"] = func(w *world, _, _ []string) string {
		e := w.evaluation()
		_, o := w.compute(e)
		e.Status, e.FailedGroups = api.EvalStatusBlocked, o.Failed
		w.apply(&state.PutEvaluations{Evaluations: []*api.Evaluation{e}})
		return ""
	}
	verbs["checks-pass"] = func(w *world, args, _ []string) string {
		w.serving(args, &api.Serving{Up: true, Routable: true})
		return ""
	}
}

func (w *world) serving(names []string, s *api.Serving) {
	s.Since = w.now.UnixNano()
	for _, a := range w.instances(names) {
		w.report(a, func(u *api.Allocation) {
			u.ClientStatus, u.TaskStates, u.Serving = api.AllocClientRunning, w.running(a, false), s
		})
	}
}

func (w *world) crashes(args []string) {
	var names []string
	c := api.Crashes{At: w.now.UnixNano(), Task: "main", ExitCode: 1}
	next := time.Duration(0)
	for _, word := range args {
		switch key, value, set := strings.Cut(word, "="); {
		case key == "next":
			next, _ = time.ParseDuration(value)
		case key == "code":
			fmt.Sscan(value, &c.ExitCode)
		case !set && strings.Contains(word, "["):
			names = append(names, word)
		default:
			c.Kind, c.Reason = api.TroubleKind(word), fmt.Sprintf("task %q: %s", "main", word)
		}
	}
	if next > 0 {
		c.Next = w.now.Add(next).UnixNano()
	}
	for _, a := range w.instances(names) {
		w.report(a, func(u *api.Allocation) {
			now := c
			now.Count = 1
			if a.Crashes != nil {
				now.Count = a.Crashes.Count + 1
			}
			u.ClientStatus, u.Crashes = api.AllocClientPending, &now
			u.TaskStates = map[string]*api.TaskState{"main": {State: api.TaskStatePending}}
		})
	}
}

func (w *world) troubles(args []string) string {
	of := view.TroubleFilter{}
	if len(args) > 0 {
		var version uint64
		if n, _ := fmt.Sscanf(args[0], "v%d", &version); n == 1 {
			of.Version = &version
		} else {
			of.Instance = args[0]
		}
	}
	var b strings.Builder
	for _, t := range view.Troubles(w.snapshot(), w.key(), w.newest(), of, w.now) {
		fmt.Fprintf(&b, "%s v%d %s", t.Kind, t.JobVersion, t)
		if t.NodeName != "" {
			b.WriteString(", on " + t.NodeName)
		}
		if t.Count > 0 {
			fmt.Fprintf(&b, ", crash %d", t.Count)
		}
		switch {
		case t.Final:
			b.WriteString(", for good")
		case !t.NextAttempt.IsZero():
			fmt.Fprintf(&b, ", again in %s", t.NextAttempt.Sub(w.now))
		}
		for _, o := range t.Obstacles {
			fmt.Fprintf(&b, "; %s: %s on %d nodes", o.Filter, o.Reason, o.Nodes)
		}
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return "nothing goes wrong\n"
	}
	return b.String()
}
