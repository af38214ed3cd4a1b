// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/server/worker"
	"github.com/reeve-run/reeve/internal/state"
)

// TestCollectingChangesNothingThatMatters lets random jobs live on a small
// fleet and collects garbage in between, with thresholds down to nothing. What
// would be decided about any job, whatever has not ended, and how jobs stand is
// the same before and after; and what is not needed goes.
func TestCollectingChangesNothingThatMatters(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := newLife(r)
		for range rapid.IntRange(5, 60).Draw(r, "steps") {
			l.step()
			if rapid.IntRange(0, 3).Draw(r, "collect") == 0 {
				l.collect()
			}
		}
		l.collect()
	})
}

// life is a cluster that a random history happens to.
type life struct {
	*rapid.T
	store *state.Store
	now   time.Time
	evals int
}

func newLife(r *rapid.T) *life {
	l := &life{T: r, store: state.New(), now: t0}
	for i := range lifeNodes {
		l.node(i, false)
	}
	return l
}

const lifeNodes = 3

// node has a node come, back or anew, or go down. It has room for two instances.
func (l *life) node(i int, down bool) {
	id := fmt.Sprintf("node-%d", i)
	var evals []*api.Evaluation
	if web := l.store.Snapshot().Job("default", "web"); web != nil {
		evals = append(evals, l.eval(web, api.TriggerNodeUpdate))
	}
	if !down {
		l.apply(&state.RegisterNode{Node: &api.Node{
			ID: id, Name: fmt.Sprintf("n%d", i), Datacenter: "dc1", NodePool: "default", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
			StatusUpdatedAt: l.now.Unix(),
			Resources:       &api.NodeResources{CPU: api.NodeCPU{CPUShares: 200}, Memory: api.NodeMemory{MemoryMB: 4000}, Disk: api.NodeDisk{DiskMB: 10_000}},
			Drivers:         map[string]*api.DriverStatus{"mock": {Detected: true, Healthy: true}},
		}}, &state.PutEvaluations{Evaluations: evals})
	} else if l.store.Snapshot().Node(id) != nil {
		l.apply(&state.UpdateNodeStatus{NodeID: id, Status: api.NodeStatusDown, Time: l.now.UnixNano(), Evaluations: evals})
	}
}

func (l *life) apply(cmds ...state.Command) {
	l.Helper()
	for i, err := range l.store.Apply(l.store.Index()+1, cmds) {
		if err != nil {
			l.Fatalf("%s: %v", cmds[i].Name(), err)
		}
	}
}

func (l *life) pick(name string, ids []string) string {
	return rapid.SampledFrom(ids).Draw(l.T, name)
}

var lifeJobs = []string{"web", "sum", "import", "nightly"}

func (l *life) spec(id string) *api.Job {
	j := &api.Job{
		ID: id, Type: api.JobTypeBatch, SubmitTime: l.now.UnixNano(),
		Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock"}}}},
	}
	count := rapid.IntRange(0, 3).Draw(l.T, "count")
	j.Groups[0].Count = &count
	switch id {
	case "web":
		j.Type = api.JobTypeService
		j.Meta = map[string]string{"version": l.pick("version", []string{"1", "2"})}
	case "import":
		j.Parameterized = &api.Parameterized{}
	case "nightly":
		j.Periodic = &api.Periodic{Spec: "@hourly"}
	}
	j.Canonicalize()
	return j
}

func (l *life) eval(job *api.Job, trigger string) *api.Evaluation {
	l.evals++
	return &api.Evaluation{
		ID: fmt.Sprintf("e%d", l.evals), Namespace: "default", JobID: job.ID, Type: job.Type, Priority: 50, TriggeredBy: trigger,
		Status: api.EvalStatusPending, CreateTime: l.now.UnixNano(), ModifyTime: l.now.UnixNano(),
	}
}

// step is one thing that happens.
func (l *life) step() {
	v := l.store.Snapshot()
	var jobs, live []string
	for j := range v.Jobs() {
		jobs = append(jobs, j.ID)
	}
	for a := range v.Allocations() {
		if a.HoldsResources() {
			live = append(live, a.ID)
		}
	}
	switch what := rapid.IntRange(0, 11).Draw(l.T, "what"); {
	case what == 0 || len(jobs) == 0:
		j := l.spec(l.pick("job", lifeJobs))
		cmd := &state.RegisterJob{Job: j}
		if !j.IsPeriodic() && !j.IsParameterized() {
			cmd.Evaluation = l.eval(j, api.TriggerJobRegister)
		}
		l.apply(cmd)
	case what == 1:
		j := v.Job("default", l.pick("stop", jobs))
		cmd := &state.DeregisterJob{Namespace: "default", ID: j.ID, Purge: rapid.Bool().Draw(l.T, "purge"), Time: l.now.UnixNano()}
		if !j.IsPeriodic() && !j.IsParameterized() {
			cmd.Evaluation = l.eval(j, api.TriggerJobDeregister)
		}
		l.apply(cmd)
	case what == 2:
		if j := v.Job("default", l.pick("launch", jobs)); (j.IsPeriodic() || j.IsParameterized()) && !j.Stop {
			l.evals++
			l.apply(control.Launch(j, fmt.Sprintf("%s/child-%d", j.ID, l.evals), fmt.Sprintf("e%d", l.evals), api.TriggerJobDispatch, l.now))
		}
	case what <= 5 && len(live) > 0:
		l.report(v.Allocation(l.pick("alloc", live)))
	case what == 6:
		l.now = l.now.Add(time.Duration(rapid.IntRange(1, 100).Draw(l.T, "hours")) * time.Hour / 2)
	case what == 7:
		l.node(rapid.IntRange(0, lifeNodes-1).Draw(l.T, "node"), rapid.Bool().Draw(l.T, "down"))
	case what == 8:
		if d := v.LatestDeployment("default", "web"); d != nil && d.IsActive() {
			l.apply(&state.UpdateDeployment{ID: d.ID, Status: api.DeploymentFailed, Time: l.now.UnixNano()})
		}
	default:
		for e := range v.Evaluations() {
			if e.Status == api.EvalStatusPending && !e.WaitUntil.After(l.now) || e.Status == api.EvalStatusBlocked {
				l.work(e)
				return
			}
		}
	}
}

// report is what a node says of an allocation, with the evaluation that calls
// for.
func (l *life) report(a *api.Allocation) {
	status := l.pick("status", []string{api.AllocClientRunning, api.AllocClientComplete, api.AllocClientFailed})
	if a.IsServerTerminal() {
		status = api.AllocClientComplete
	}
	cmd := &state.UpdateAllocations{Time: l.now.UnixNano(), Allocations: []*api.Allocation{{
		ID: a.ID, ClientStatus: status, TaskStates: map[string]*api.TaskState{"t": {Failed: status == api.AllocClientFailed, FinishedAt: l.now}},
	}}}
	if status != api.AllocClientRunning && l.store.Snapshot().Job("default", a.JobID) != nil {
		cmd.Evaluations = []*api.Evaluation{l.eval(a.Job, api.TriggerAllocFailure)}
	}
	l.apply(cmd)
}

// work does an evaluation as a worker would.
func (l *life) work(e *api.Evaluation) {
	v := l.store.Snapshot()
	job := v.Job("default", e.JobID)
	result, outcome := worker.Compute(v, placement.NewFleet(v).View(), job, e, l.now)
	end := e.Copy()
	end.Status, end.ModifyTime = api.EvalStatusComplete, l.now.UnixNano()
	p := &state.Placement{
		EvalID: e.ID, Job: job, Time: l.now.UnixNano(), Place: append(slices.Clone(result.Update), outcome.Place...),
		Deployment: result.Deployment, Evaluations: append(slices.Clone(result.FollowUps), end),
	}
	for _, s := range append(slices.Clone(result.Stop), outcome.Stop...) {
		p.Stop = append(p.Stop, state.Stop{ID: s.Alloc.ID, Reason: s.Reason, Description: s.Description, ClientStatus: s.ClientStatus})
	}
	for _, u := range result.DeploymentUpdates {
		p.DeploymentUpdates = append(p.DeploymentUpdates, state.DeploymentUpdate(u))
	}
	l.apply(&state.CommitPlacement{Placement: p})
}

// matters is what collecting may not change.
type matters struct {
	Jobs      map[string]string // status
	Decisions map[string]string // what evaluating a job would do
	Open      []string          // whatever has not ended
}

func (l *life) matters(without map[string]bool) matters {
	v := l.store.Snapshot()
	m := matters{Jobs: map[string]string{}, Decisions: map[string]string{}}
	view := placement.NewFleet(v).View()
	for j := range v.Jobs() {
		if without[j.ID] {
			continue
		}
		m.Jobs[j.ID] = j.Status
		e := &api.Evaluation{ID: "dry", Namespace: "default", JobID: j.ID, Type: j.Type, Priority: 50}
		result, outcome := worker.Compute(v, view, j, e, l.now)
		var started []string
		for _, r := range result.Start {
			started = append(started, fmt.Sprintf("%s v%d", r.Name, r.Job.Version))
		}
		text := fmt.Sprintf("start %v, place %d, update %d, follow-ups %d, stop", started, len(outcome.Place), len(result.Update), len(result.FollowUps))
		var stopped []string
		for _, s := range result.Stop {
			stopped = append(stopped, s.Alloc.ID)
		}
		slices.Sort(stopped)
		m.Decisions[j.ID] = text + fmt.Sprint(stopped)
	}
	for a := range v.Allocations() {
		if !a.IsTerminal() || a.HoldsResources() {
			m.Open = append(m.Open, "allocation "+a.ID)
		}
	}
	for e := range v.Evaluations() {
		if !e.IsTerminal() {
			m.Open = append(m.Open, "evaluation "+e.ID)
		}
	}
	for d := range v.Deployments() {
		if d.IsActive() {
			m.Open = append(m.Open, "deployment "+d.ID)
		}
	}
	return m
}

func (l *life) collect() {
	thresholds := control.DefaultThresholds
	if rapid.Bool().Draw(l.T, "everything") {
		thresholds = control.Thresholds{}
	}
	gone := map[string]bool{}
	before := l.store.Snapshot()
	var at control.Position
	for swept := false; !swept; {
		var cmd *state.Collect
		if cmd, at, swept = control.Collect(l.store.Snapshot(), l.now, thresholds, at); cmd == nil {
			continue
		}
		was, old := l.matters(gone), l.store.Snapshot()
		l.apply(cmd)
		for _, key := range cmd.Jobs {
			gone[key.ID] = true
			delete(was.Jobs, key.ID)
			delete(was.Decisions, key.ID)
			if j := before.Job("default", key.ID); j == nil || j.Status != api.JobStatusDead {
				l.Fatalf("job %s was collected and was not dead", key.ID)
			}
		}
		if diff := cmp.Diff(was, l.matters(nil)); diff != "" {
			l.Fatalf("collecting %+v changed something (-before +after):\n%s\nof\n%s", cmd, diff, describe(old))
		}
	}
	if thresholds != (control.Thresholds{}) {
		return
	}
	if cmd, _, _ := control.Collect(l.store.Snapshot(), l.now, thresholds, control.Position{}); cmd != nil {
		l.Fatalf("a second sweep finds %+v", cmd)
	}
	v := l.store.Snapshot()
	for a := range v.Allocations() {
		if v.Job("default", a.JobID) == nil && a.IsTerminal() && !a.HoldsResources() {
			l.Fatalf("allocation %s of job %s is left, and the job is not", a.ID, a.JobID)
		}
	}
}

// describe tells a state for a failure.
func describe(v *state.Snapshot) string {
	var b strings.Builder
	for j := range v.Jobs() {
		fmt.Fprintf(&b, "job %s since %d v%d stop %t %s count %d\n", j.ID, j.CreateIndex, j.Version, j.Stop, j.Status, j.Groups[0].Size())
	}
	for a := range v.Allocations() {
		fmt.Fprintf(&b, "%s %s since %d v%d desired %s (%s) client %s previous %q next %q follow-up %q transition %+v\n", a.Name, a.ID, a.Job.CreateIndex, a.JobVersion(),
			a.DesiredStatus, a.DesiredDescription, a.ClientStatus, a.PreviousAllocation, a.NextAllocation, a.FollowupEvalID, a.DesiredTransition)
	}
	return b.String()
}
