// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// childRuns is how long the children of periodic and parameterized stacks run.
const childRuns = 20 * time.Minute

// Commands of scripts. STACK is UNIT@VERSION; in another namespace than dev it is
// NAMESPACE:UNIT@VERSION. Commands print refusals.
//
//	fleet                        inventory 1.0.0 and shop 2.4.0, which depends on inventory@1.0, on two nodes in namespace dev
//	namespace NAME               create a namespace, for the units of the commands that follow
//	nodes N                      N more nodes
//	deploy UNIT VERSION [KEY=VALUE...]   several: a line each below the command; keys: see stackOf
//	race N UNIT VERSION [KEY=VALUE...]   deploy N times in parallel
//	until STACK STATE [within=D] wait for the state (10 minutes), and print it
//	after D                      time passes
//	stacks [UNIT]                state, share, expiry and verdict of the stacks that are not terminated
//	history STACK                the audit records of a stack
//	resolve UNIT@MAJOR.MINOR     the stacks that serve a caller in the namespace
//	catalog UNIT                 the shares that routers receive
//	shift UNIT                   the newest shift of the unit
//	shift UNIT|STACK to STACK | pause | resume | finish | reverse [now] | set SHARE
//	hold|unhold|extend|expire|rescue|stop STACK [for=D] [now=true]
//	deprecate|undeprecate UNIT VERSION, tag UNIT TAG VERSION
//	sweep                        sweep now
//	heal|break STACK             the instances take requests, or do not, also those that start later
//	running STACK                the number of instances that run
//	children STACK               the number of children that were started, and that run
//	dispatch UNIT[@MAJOR]        start a child of a parameterized unit
//	stale|fresh [DOMAIN]         end or begin the freshness of a domain
//	away|back NODE               a node falls silent, or connects again
//	down D                       the servers are down for a time; the nodes connect to the new ones
func (w *stackWorld) run(text string) string {
	w.t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	words := strings.Fields(lines[0])
	do := stackScriptVerbs[words[0]]
	if do == nil {
		w.t.Fatalf("unknown command %q", lines[0])
	}
	return shorten(do(w, words[1:], lines[1:]))
}

// A scriptVerb does what a command says, given its words and the lines that belong to it, and returns
// what it prints.
type scriptVerb func(w *stackWorld, args, lines []string) string

var stackScriptVerbs = map[string]scriptVerb{
	"fleet":     func(w *stackWorld, _, _ []string) string { return w.fleet() },
	"namespace": func(w *stackWorld, args, _ []string) string { return w.enter(args[0]) },
	"nodes":     func(w *stackWorld, args, _ []string) string { return w.addNodes(number(w, args[0])) },
	"deploy":    (*stackWorld).deployStacks,
	"race":      func(w *stackWorld, args, _ []string) string { return w.race(number(w, args[0]), args[1:]) },
	"until":     func(w *stackWorld, args, _ []string) string { return w.await(args) },
	"after":     func(w *stackWorld, args, _ []string) string { w.pass(duration(w, args[0])); return "" },
	"stacks":    func(w *stackWorld, args, _ []string) string { return w.printStacks(args) },
	"history":   func(w *stackWorld, args, _ []string) string { return w.printHistory(args[0]) },
	"resolve":   func(w *stackWorld, args, _ []string) string { return w.resolve(args[0]) },
	"catalog":   func(w *stackWorld, args, _ []string) string { return w.printCatalog(args[0]) },
	"shift":     func(w *stackWorld, args, _ []string) string { return w.shiftUnit(args) },
	"sweep":     func(w *stackWorld, _, _ []string) string { return w.sweepNow() },
	"heal":      func(w *stackWorld, args, _ []string) string { return w.serve(args[0], true) },
	"break":     func(w *stackWorld, args, _ []string) string { return w.serve(args[0], false) },
	"children":  func(w *stackWorld, args, _ []string) string { return w.printChildren(args[0]) },
	"dispatch":  func(w *stackWorld, args, _ []string) string { return w.dispatch(args[0]) },
	"stale": func(w *stackWorld, args, _ []string) string {
		_, err := w.EndFreshness(w.Context(), strings.Join(args, ""))
		return printed(err)
	},
	"fresh": func(w *stackWorld, args, _ []string) string {
		_, err := w.MarkDomain(w.Context(), strings.Join(args, ""), &api.DomainRequest{})
		return printed(err)
	},
	"away": func(w *stackWorld, args, _ []string) string { w.nodes[args[0]].kill(); return "" },
	"back": func(w *stackWorld, args, _ []string) string {
		w.connect(w.nodes[args[0]].node, w.instance)
		return ""
	},
	"down": func(w *stackWorld, args, _ []string) string {
		w.passDown(duration(w, args[0]))
		return ""
	},
	"running": func(w *stackWorld, args, _ []string) string {
		n := 0
		s := w.find(args[0])
		for a := range w.Store().Snapshot().AllocationsByJob(s.Namespace, s.Name) {
			if a.ClientStatus == api.AllocClientRunning {
				n++
			}
		}
		return fmt.Sprintln(n)
	},
}

func init() {
	for _, verb := range server.StackVerbs() {
		stackScriptVerbs[verb] = func(w *stackWorld, args, _ []string) string { return w.verb(verb, args) }
	}
	for _, verb := range []string{"deprecate", "undeprecate", "tag"} {
		stackScriptVerbs[verb] = func(w *stackWorld, args, _ []string) string {
			req := &api.UnitVerbRequest{By: "ann", Version: args[len(args)-1]}
			if verb == "tag" {
				req.Tag = args[1]
			}
			_, err := w.UnitVerb(w.Context(), w.namespace, args[0], verb, req)
			return printed(err)
		}
	}
}

func (w *stackWorld) fleet() string {
	w.enter("dev")
	w.addNodes(2)
	w.deployStacks([]string{"inventory", "1.0.0"}, nil)
	w.await([]string{"inventory@1.0.0", api.StackReady})
	w.deployStacks([]string{"shop", "2.4.0", "depends=inventory@1.0"}, nil)
	w.await([]string{"shop@2.4.0", api.StackReady})
	w.sweepNow()
	return w.printStacks(nil)
}

func (w *stackWorld) enter(namespace string) string {
	w.namespace = namespace
	if w.Store().Snapshot().Namespace(namespace) != nil {
		return ""
	}
	_, err := w.PutNamespace(w.Context(), &api.Namespace{Name: namespace}, nil)
	return printed(err)
}

func (w *stackWorld) addNodes(n int) string {
	for range n {
		w.addNode(fmt.Sprintf("n%d", len(w.nodes)+1), w.instance)
	}
	return ""
}

func (w *stackWorld) deployStacks(args, lines []string) string {
	if len(args) > 0 {
		lines = append([]string{strings.Join(args, " ")}, lines...)
	}
	req := &api.DeployStacksRequest{By: "ann"}
	for _, line := range lines {
		req.Jobs = append(req.Jobs, w.stackOf(strings.Fields(line)))
	}
	res, err := w.DeployStacks(w.Context(), req, w.namespace)
	if err != nil {
		return printed(err)
	}
	var out strings.Builder
	for _, name := range res.Order {
		fmt.Fprintln(&out, name)
	}
	for i, s := range res.Stacks {
		if res.Existing[i] {
			fmt.Fprintf(&out, "%s is deployed already\n", s.Name)
		}
	}
	return out.String()
}

// race deploys a stack several times in parallel.
func (w *stackWorld) race(n int, args []string) string {
	names := make([]string, n)
	var deploys sync.WaitGroup
	for i := range names {
		deploys.Go(func() {
			res, err := w.DeployStacks(w.Context(), &api.DeployStacksRequest{Jobs: []*api.Job{w.stackOf(args)}, By: "ann"}, w.namespace)
			if err != nil {
				w.t.Errorf("deploy %v: %v", args, err)
				return
			}
			names[i] = res.Stacks[0].Name
		})
	}
	deploys.Wait()
	slices.Sort(names)
	return fmt.Sprintf("%d answers, %d stacks\n", n, len(slices.Compact(names)))
}

// await waits until a stack has a state, as users see it.
func (w *stackWorld) await(args []string) string {
	w.t.Helper()
	limit := 10 * time.Minute
	for _, arg := range args[2:] {
		if d, ok := strings.CutPrefix(arg, "within="); ok {
			limit = duration(w, d)
		}
	}
	var shown string
	w.within(limit, strings.Join(args, " "), func(snap *state.Snapshot) bool {
		s := w.findIn(snap, args[0])
		shown = control.LifecycleIndex(snap, nil).StatusOf(s)
		return shown == args[1]
	})
	w.pass(time.Millisecond) // what follows from the change
	return fmt.Sprintf("%s %s\n", args[0], shown)
}

func (w *stackWorld) verb(verb string, args []string) string {
	req := &api.StackVerbRequest{By: "ann"}
	for _, arg := range args[1:] {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "for":
			req.For = duration(w, value)
		case "now":
			req.Now = true
		default:
			w.t.Fatalf("%s: unknown key %q", verb, key)
		}
	}
	s := w.find(args[0])
	_, err := w.StackVerb(w.Context(), s.Namespace, s.Name, verb, req)
	return printed(err)
}

func (w *stackWorld) shiftUnit(args []string) string {
	unit, _, _ := strings.Cut(args[0], "@")
	if len(args) == 1 {
		return w.printShift(unit)
	}
	if args[1] == "to" {
		_, err := w.StartShift(w.Context(), w.namespace, unit, &api.ShiftRequest{To: args[2], By: "ann"})
		if err != nil {
			return printed(err)
		}
		return w.printShift(unit)
	}
	name, req := args[0], &api.ShiftVerbRequest{By: "ann"}
	if s := w.newestShift(unit); s != nil && name == unit {
		name = s.ID // also after its end
	}
	for _, arg := range args[2:] {
		if arg == "now" {
			req.Now = true
			continue
		}
		share, err := strconv.ParseFloat(strings.TrimSuffix(arg, "%"), 64)
		if err != nil {
			w.t.Fatalf("share %q: %v", arg, err)
		}
		req.Share = ptr(share / 100)
	}
	if _, err := w.ShiftVerb(w.Context(), w.namespace, name, args[1], req); err != nil {
		return printed(err)
	}
	return w.printShift(unit)
}

// serve has the instances of a stack take requests or not.
func (w *stackWorld) serve(stack string, routable bool) string {
	w.mu.Lock()
	w.broken[stack] = !routable
	w.mu.Unlock()
	for s := range w.Store().Snapshot().Stacks("*") {
		if shortStack(s.Name) != stack {
			continue
		}
		for a := range w.Store().Snapshot().AllocationsByJob(s.Namespace, s.Name) {
			n := w.nodes[a.NodeID]
			if a.IsServerTerminal() || a.ClientStatus != api.AllocClientRunning || n == nil {
				continue
			}
			u := &api.Allocation{ID: a.ID, ClientStatus: a.ClientStatus, Serving: &api.Serving{Up: true, Routable: routable}}
			if _, err := w.UpdateAllocations(w.Context(), n.node.ID, []*api.Allocation{u}); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.pass(time.Millisecond)
	return ""
}

func (w *stackWorld) dispatch(unit string) string {
	res, err := w.DispatchJob(w.Context(), w.namespace, unit, &api.DispatchJobRequest{})
	if err != nil {
		return printed(err)
	}
	parent, _, _ := strings.Cut(res.DispatchedJobID, "/")
	return "a child of " + parent + "\n"
}

// find returns the newest stack of UNIT@VERSION or NAMESPACE:UNIT@VERSION.
func (w *stackWorld) find(name string) *api.Stack {
	w.t.Helper()
	return w.findIn(w.Store().Snapshot(), name)
}

func (w *stackWorld) findIn(snap *state.Snapshot, name string) *api.Stack {
	w.t.Helper()
	namespace, short, ok := strings.Cut(name, ":")
	if !ok {
		namespace, short = w.namespace, name
	}
	list := slices.Collect(snap.Stacks(namespace))
	var found *api.Stack
	for _, s := range list {
		if shortStack(s.Name) == short && (found == nil || s.DeployedAt.After(found.DeployedAt)) {
			found = s
		}
	}
	if found == nil {
		w.t.Fatalf("no stack %s in namespace %s", short, namespace)
	}
	return found
}

func number(w *stackWorld, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return n
}

func duration(w *stackWorld, text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}
