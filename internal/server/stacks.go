// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// maxBatch bounds the stacks of one deployment.
const maxBatch = 100

// DeployStacks stores stacks that the leader then deploys. A version that a live stack already
// has with the same content is a success that names the stack.
func (s *Server) DeployStacks(ctx context.Context, req *api.DeployStacksRequest, namespace string) (*api.DeployStacksResponse, error) {
	return s.deployStacks(ctx, req, namespace, false)
}

// PlanStacks checks a deployment without storing it.
func (s *Server) PlanStacks(ctx context.Context, req *api.DeployStacksRequest, namespace string) (*api.DeployStacksResponse, error) {
	return s.deployStacks(ctx, req, namespace, true)
}

func (s *Server) deployStacks(ctx context.Context, req *api.DeployStacksRequest, namespace string, dry bool) (*api.DeployStacksResponse, error) {
	switch {
	case req == nil || len(req.Jobs)+len(req.From) == 0:
		return nil, api.Errorf(api.CodeInvalid, "the request holds no Jobs: send {\"Jobs\": [{...}]} or {\"From\": [\"UNIT@VERSION\"]}")
	case len(req.Jobs)+len(req.From) > maxBatch:
		return nil, api.Errorf(api.CodeInvalid, "%d stacks are more than %d: deploy them in several requests", len(req.Jobs)+len(req.From), maxBatch)
	}
	var new []*newStack
	for _, job := range req.Jobs {
		n, err := s.admitStack(job, namespace)
		if err != nil {
			return nil, s.refuseJobs(req.Jobs, namespace, err)
		}
		new = append(new, n)
	}
	for _, source := range req.From {
		n, err := s.admitSource(source, namespace)
		if err != nil {
			return nil, err
		}
		new = append(new, n)
	}
	return s.deployAdmitted(ctx, new, req, dry)
}

// deployAdmitted stores new stacks, unless one version occurs twice.
func (s *Server) deployAdmitted(ctx context.Context, new []*newStack, req *api.DeployStacksRequest, dry bool) (*api.DeployStacksResponse, error) {
	type version struct {
		namespace, unit string
		version         api.StackVersion
	}
	seen := make(map[version]bool)
	for _, n := range new {
		v := version{n.deploy.Namespace, n.deploy.Unit, n.deploy.Version}
		if seen[v] {
			return nil, api.Errorf(api.CodeInvalid, "unit %q: version %s occurs twice in the request; remove one of them", v.unit, v.version)
		}
		seen[v] = true
	}
	for attempt := 1; ; attempt++ {
		res, err := s.tryDeployStacks(ctx, new, req, dry)
		if api.CodeOf(err) != api.CodeConflict || attempt == changeAttempts || dry {
			return res, err
		}
	}
}

// A newStack is a stack that is to be deployed, with its job.
type newStack struct {
	job    *api.Job // as it is registered, under the unit's name
	digest string
	reason string // completes ReasonStackFromSubmission; "": the job was submitted with the request
	deploy lifecycle.Deployable
}

// admitStack returns a job as the stack that it describes, or what is wrong with it.
func (s *Server) admitStack(submitted *api.Job, namespace string) (*newStack, error) {
	if submitted != nil && submitted.Stack == nil {
		return nil, api.Errorf(api.CodeInvalid, "job %q has no stack block: add stack { version = \"1.0.0\" }, or run it with: reeve job run", submitted.ID)
	}
	job, err := admitJob(s.store.Snapshot(), submitted, namespace)
	if err != nil {
		return nil, err
	}
	if err := s.checkHosts(job); err != nil {
		return nil, err
	}
	if err := api.ValidateUnitName(job.ID); err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%v", err)
	}
	version, err := api.ParseStackVersion(job.Stack.Version)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "stack %q: %v", job.ID, err)
	}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encode job %q: %w", job.ID, err)
	}
	sum := sha256.Sum256(text)
	return &newStack{job: job, digest: hex.EncodeToString(sum[:]), deploy: lifecycle.Deployable{
		Namespace: job.Namespace, Unit: job.ID, Version: version, Spec: job.Stack, HasPort: job.StackShape() == api.ShapeService,
	}}, nil
}

func (s *Server) tryDeployStacks(ctx context.Context, list []*newStack, req *api.DeployStacksRequest, dry bool) (*api.DeployStacksResponse, error) {
	snap, now := s.store.Snapshot(), time.Now()
	res := &api.DeployStacksResponse{Existing: make([]bool, len(list))}
	names := make([]string, len(list))
	var deployables []lifecycle.Deployable
	var positions []int // in the list, of the deployables
	for i, n := range list {
		live := liveStack(snap, n.deploy)
		switch {
		case live != nil && !req.Redeploy && live.Digest == n.digest:
			names[i], res.Existing[i] = live.Name, true
			continue
		case live != nil && !req.Redeploy:
			return nil, api.Errorf(api.CodeConflict, "stack %s has version %s already, with other content: change the version, or deploy it again with -redeploy",
				live.Name, n.deploy.Version)
		}
		deployables, positions = append(deployables, n.deploy), append(positions, i)
		if warnings := n.job.Warnings(); len(warnings) > 0 {
			res.Warnings += strings.Join(warnings, "\n") + "\n"
		}
	}
	x, units := control.DeploymentIndex(snap, deployables)
	refusals, order := x.CheckDeployment(deployables)
	if len(refusals) > 0 {
		return nil, refuseDeployment(deployables, refusals)
	}
	cmd := &state.DeployStacks{Index: snap.LifecycleIndex(), Units: units}
	for _, i := range order {
		n := list[positions[i]]
		stack, job, err := n.build(now, req.By)
		if err != nil {
			return nil, err
		}
		if err := snap.CheckRoutes(job); err != nil {
			return nil, err
		}
		names[positions[i]] = stack.Name
		cmd.Stacks, cmd.Jobs = append(cmd.Stacks, stack), append(cmd.Jobs, job)
		res.Order = append(res.Order, stack.Name)
	}
	if dry {
		for i, n := range list {
			res.Stacks = append(res.Stacks, &api.StackStatus{Stack: &api.Stack{
				Name: names[i], Namespace: n.job.Namespace, Unit: n.job.ID, Version: n.deploy.Version, Spec: n.job.Stack, Shape: n.job.StackShape(),
			}})
		}
		return res, nil
	}
	if len(cmd.Stacks) > 0 {
		index, err := s.propose(ctx, cmd)
		if err != nil {
			return nil, err
		}
		res.Index = index
	}
	snap = s.store.Snapshot()
	for i, n := range list {
		stack := snap.Stack(n.job.Namespace, names[i])
		if stack == nil {
			continue
		}
		var x *lifecycle.Index
		if !res.Existing[i] {
			x = control.UnitIndex(snap, stack.Namespace, stack.Unit) // nothing outside of its unit uses it yet
		}
		res.Stacks = append(res.Stacks, stackStatus(snap, x, stack))
	}
	return res, nil
}

// liveStack returns the newest live stack of a version, or nil.
func liveStack(snap *state.Snapshot, d lifecycle.Deployable) (live *api.Stack) {
	for s := range snap.StacksOfUnit(d.Namespace, d.Unit) {
		if s.IsLive() && s.Version == d.Version && (live == nil || s.DeployedAt.After(live.DeployedAt)) {
			live = s
		}
	}
	return live
}

// refuseDeployment lists refusals, each with the part of the stack block that it is about. The
// refusals of several stacks begin with the unit.
func refuseDeployment(list []lifecycle.Deployable, refusals map[int][]lifecycle.Refusal) error {
	e := api.Errorf(api.CodeInvalid, "the deployment is refused")
	for i, d := range list {
		for _, r := range refusals[i] {
			text := "stack, " + r.Text
			switch {
			case r.Dependency >= 0:
				text = fmt.Sprintf("stack, depends %q: %s", d.Spec.Depends[r.Dependency].Unit, r.Text)
			case r.Exposure >= 0:
				text = fmt.Sprintf("stack, expose %d: %s", r.Exposure+1, r.Text)
			}
			if len(list) > 1 {
				text = fmt.Sprintf("unit %q, %s", d.Unit, text)
			}
			e.Detail = append(e.Detail, text)
		}
	}
	return e
}

// build returns a new stack and the job that it runs.
func (n *newStack) build(now time.Time, by string) (*api.Stack, *api.Job, error) {
	hash, err := stackHash()
	if err != nil {
		return nil, nil, err
	}
	waits := api.ReasonStackWaitsTurn
	if n.reason != "" {
		waits = api.ReasonStackFromSubmission
	}
	stack := &api.Stack{
		ID: api.NewID(), Name: api.StackName(n.job.ID, n.deploy.Version, hash), Namespace: n.job.Namespace, Unit: n.job.ID,
		Version: n.deploy.Version, Spec: n.job.Stack, Shape: n.job.StackShape(), Digest: n.digest,
		Status: api.StackPending, StatusReason: waits, StatusDescription: n.reason, StatusBy: by, StatusSince: now, DeployedAt: now,
	}
	job := n.job.Copy()
	if job.Name == job.ID {
		job.Name = stack.Name
	}
	job.ID = stack.Name
	expose(job)
	return stack, job, nil
}

// expose gives the group whose port callers use a route for each exposed host. The routes
// are shared by all stacks of the unit.
func expose(job *api.Job) {
	group, port, ok := job.StackPort()
	g := job.Group(group)
	if !ok || g == nil {
		return
	}
	for _, e := range job.Stack.Expose {
		g.Routes = append(g.Routes, api.StackRoute(e, port))
	}
}

// stackHash returns the random end of a stack's name.
func stackHash() (string, error) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	random := make([]byte, 8)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("name a stack: %w", err)
	}
	for i, b := range random {
		random[i] = letters[int(b)%len(letters)]
	}
	return string(random), nil
}

// A stackVerb computes the changed stack of an operator's verb.
type stackVerb func(s *api.Stack, req *api.StackVerbRequest, now time.Time) (*api.Stack, error)

var stackVerbs = map[string]stackVerb{
	"hold": func(s *api.Stack, req *api.StackVerbRequest, now time.Time) (*api.Stack, error) {
		var until time.Time
		if req.For != 0 {
			until = now.Add(req.For)
		}
		return lifecycle.Hold(s, cmp.Or(req.By, "unknown"), req.Reason, until, now)
	},
	"unhold": func(s *api.Stack, _ *api.StackVerbRequest, now time.Time) (*api.Stack, error) {
		return lifecycle.Unhold(s, now)
	},
	"extend": func(s *api.Stack, req *api.StackVerbRequest, now time.Time) (*api.Stack, error) {
		return lifecycle.Extend(s, req.For, now)
	},
	"expire": func(s *api.Stack, _ *api.StackVerbRequest, now time.Time) (*api.Stack, error) {
		return lifecycle.Expire(s, now)
	},
	"rescue": func(s *api.Stack, req *api.StackVerbRequest, now time.Time) (*api.Stack, error) {
		return lifecycle.Rescue(s, req.For, now)
	},
	"stop": func(s *api.Stack, req *api.StackVerbRequest, now time.Time) (*api.Stack, error) {
		return lifecycle.Stop(s, req.Now, now)
	},
}

// StackVerbs lists the verbs of StackVerb.
func StackVerbs() []string {
	return []string{"hold", "unhold", "extend", "expire", "rescue", "stop"}
}

// StackVerb changes one stack.
func (s *Server) StackVerb(ctx context.Context, namespace, name, verb string, req *api.StackVerbRequest) (*api.StackResponse, error) {
	change, ok := stackVerbs[verb]
	if !ok {
		return nil, api.Errorf(api.CodeInvalid, "unknown verb %q of a stack: use one of %s", verb, strings.Join(StackVerbs(), ", "))
	}
	if req == nil {
		req = &api.StackVerbRequest{}
	}
	for attempt := 1; ; attempt++ {
		before := s.store.Snapshot()
		old, err := findStack(before, namespace, name)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		next, err := change(old, req, now)
		if err != nil {
			return nil, err
		}
		if next.Status == old.Status {
			next.Order = &api.StackOrder{Verb: verb, By: cmp.Or(req.By, "unknown"), Reason: req.Reason, Time: now}
		} else {
			next.StatusBy = cmp.Or(req.By, "unknown")
			if req.Reason != "" {
				next.StatusDescription = req.Reason
			}
		}
		index, err := s.propose(ctx, state.PutStack(next))
		if api.CodeOf(err) == api.CodeConflict && attempt < changeAttempts {
			continue
		}
		if err != nil {
			return nil, err
		}
		snap := s.store.Snapshot()
		stored, err := findStack(snap, namespace, name)
		if err != nil {
			return nil, err
		}
		res := &api.StackResponse{Stack: stackStatus(snap, nil, stored), Index: index}
		if verb == "stop" {
			res.Warnings = movedCallers(before, snap, old, now)
		}
		return res, nil
	}
}

// A StackFilter selects stacks. Empty fields select all.
type StackFilter struct {
	Namespace string // "*": all
	Unit      string
	Version   string
	Statuses  []string // as users see them; none: all but terminated
}

// Stacks lists the stacks that a filter selects, by namespace, unit and version, and the index of their last change.
func Stacks(snap *state.Snapshot, f StackFilter) ([]*api.StackStatus, uint64) {
	var x *lifecycle.Index
	if f.Unit != "" {
		x = control.CallersIndex(snap, f.Unit)
	} else {
		x = control.LifecycleIndex(snap, nil)
	}
	list := make([]*api.StackStatus, 0)
	for stack := range snap.Stacks(f.Namespace) {
		if f.Unit != "" && stack.Unit != f.Unit || f.Version != "" && stack.Version.String() != f.Version {
			continue
		}
		status := stackStatus(snap, x, stack)
		if len(f.Statuses) == 0 && stack.Status == api.StackTerminated || len(f.Statuses) > 0 && !slices.Contains(f.Statuses, status.Shown) {
			continue
		}
		list = append(list, status)
	}
	slices.SortStableFunc(list, func(a, b *api.StackStatus) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Unit, b.Unit), b.Version.Compare(a.Version), b.DeployedAt.Compare(a.DeployedAt))
	})
	return list, snap.LifecycleIndex()
}

// Stack returns one stack by its name or id.
func Stack(snap *state.Snapshot, namespace, name string) (*api.StackStatus, uint64, error) {
	stack, err := findStack(snap, namespace, name)
	if err != nil {
		return nil, snap.LifecycleIndex(), err
	}
	return stackStatus(snap, nil, stack), snap.LifecycleIndex(), nil
}

// stackStatus derives the status of a stack from an index that knows its callers, nil: one of its own.
func stackStatus(snap *state.Snapshot, x *lifecycle.Index, s *api.Stack) *api.StackStatus {
	if x == nil {
		x = control.CallersIndex(snap, s.Unit)
	}
	status := &api.StackStatus{
		Stack: s, Shown: x.StatusOf(s), Share: x.ShareOf(s), Target: x.IsTarget(s), Callers: x.Callers(s), ShiftID: x.ShiftOf(s),
	}
	status.Standing = lifecycle.Standing(s, lastShiftOf(snap, s), status.Share)
	if s.Verdict != nil {
		status.Why = lifecycle.Explain(s.Verdict)
	}
	if job := snap.Job(s.Namespace, s.Name); job != nil {
		status.JobState, status.Trouble = job.Status, stackTrouble(snap, s, job)
	}
	if s.Spec != nil && s.Spec.Warm != nil {
		for a := range snap.AllocationsByJob(s.Namespace, s.Name) {
			if !a.IsTerminal() && a.Serving != nil {
				status.Warm = status.Warm.Plus(a.Serving.Warm)
			}
		}
	}
	return status
}

// HostShare returns the part of the traffic of an exposed host that a job receives, and whether
// the job is a stack.
func HostShare(snap *state.Snapshot, namespace, job, host string) (share float64, isStack bool) {
	s := snap.Stack(namespace, job)
	if s == nil {
		return 0, false
	}
	return control.UnitIndex(snap, namespace, s.Unit).HostShareOf(s, host), true
}

// StackGraph returns the stacks of a namespace that are not terminated, and what uses them.
func StackGraph(snap *state.Snapshot, namespace string) (*api.StackGraph, uint64) {
	list, index := Stacks(snap, StackFilter{Namespace: namespace})
	g := &api.StackGraph{Nodes: list, Edges: []api.StackEdge{}}
	for _, e := range control.LifecycleIndex(snap, nil).Edges(time.Now()) {
		if namespace == "*" || e.To.Namespace == namespace {
			g.Edges = append(g.Edges, api.StackEdge{From: e.From, Namespace: e.To.Namespace, To: e.To.ID, Want: e.Want, Share: e.Share, Kind: e.Kind})
		}
	}
	return g, index
}

// SweepStacks sweeps all stacks now. A dry run decides without changing anything.
func (s *Server) SweepStacks(ctx context.Context, dry bool) (*api.SweepResponse, error) {
	snap, now := s.store.Snapshot(), time.Now()
	res := &api.SweepResponse{DryRun: dry, Decisions: []api.SweepDecision{}}
	for _, d := range control.SweepResult(snap, s.cfg.SweepInterval, s.observedUses, now).Decisions {
		action := map[lifecycle.Action]string{lifecycle.Fail: api.StackFailed, lifecycle.Mark: api.StackGarbage, lifecycle.Remove: "removed"}[d.Action]
		res.Decisions = append(res.Decisions, api.SweepDecision{
			Namespace: d.Stack.Namespace, Stack: d.Stack.Name, Verdict: d.Verdict, Why: lifecycle.Explain(&d.Verdict), Action: action,
		})
	}
	if dry {
		return res, nil
	}
	index, err := s.propose(ctx, control.Sweep(snap, s.cfg.SweepInterval, s.observedUses, now))
	res.Index = index
	return res, err
}
