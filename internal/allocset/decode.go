// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
)

// A decoder turns a set back into allocations, which share memory for the shared
// parts. A job is a reference: its names and version only.
type decoder struct {
	set     *Allocations
	jobs    []*api.Job
	missing []bool
	shapes  []api.AllocatedResources
	metrics []*api.PlacementMetrics
	states  []map[string]*api.TaskState
	err     error // the first one
	buffer  []byte
}

// Decode is the inverse of Encode. Jobs are references: their names and versions
// only.
func Decode(set *Allocations) ([]*api.Allocation, error) {
	if set == nil {
		return nil, nil
	}
	d := &decoder{set: set}
	d.decodeShared()
	allocations := make([]*api.Allocation, len(set.Allocations))
	for i, w := range set.Allocations {
		if w == nil {
			return nil, fmt.Errorf("an allocation is missing")
		}
		allocations[i] = d.allocation(w)
		if d.err != nil {
			return nil, d.err
		}
	}
	return allocations, nil
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

func (d *decoder) name(ref uint32) string {
	if ref == 0 {
		return ""
	}
	if int(ref) > len(d.set.Names) {
		d.fail("name %d is missing", ref)
		return ""
	}
	return d.set.Names[ref-1]
}

func (d *decoder) json(text []byte, to any) {
	if len(text) == 0 {
		return
	}
	if err := json.Unmarshal(text, to); err != nil {
		d.fail("decode document: %w", err)
	}
}

// decodeShared decodes what allocations refer to.
func (d *decoder) decodeShared() {
	for _, j := range d.set.Jobs {
		job := &api.Job{
			Namespace: d.name(j.GetNamespace()), ID: d.name(j.GetId()), Version: j.GetVersion(),
			CreateIndex: j.GetCreateIndex(), JobModifyIndex: j.GetJobModifyIndex(),
		}
		d.json(j.GetJson(), job)
		d.jobs = append(d.jobs, job)
		d.missing = append(d.missing, j.GetMissing())
	}
	for _, s := range d.set.Shapes {
		d.shapes = append(d.shapes, d.shape(s))
	}
	for _, s := range d.set.TaskSets {
		d.states = append(d.states, d.taskStates(s.GetTasks()))
	}
	for _, m := range d.set.Metrics {
		d.metrics = append(d.metrics, d.metric(m))
	}
}

func (d *decoder) shape(s *Shape) api.AllocatedResources {
	r := api.AllocatedResources{Shared: api.AllocatedShared{DiskMB: s.GetDiskMb()}}
	d.json(s.GetNetworksJson(), &r.Shared.Networks)
	if len(s.GetTasks()) > 0 {
		r.Tasks = make(map[string]*api.AllocatedTask, len(s.Tasks))
	}
	for _, w := range s.GetTasks() {
		t := &api.AllocatedTask{
			CPU:    api.AllocatedCPU{CPUShares: w.GetCpu()},
			Memory: api.AllocatedMemory{MemoryMB: w.GetMemoryMb(), MemoryMaxMB: w.GetMemoryMaxMb()},
		}
		for _, core := range w.GetCores() {
			t.CPU.ReservedCores = append(t.CPU.ReservedCores, uint16(core))
		}
		var rest restTask
		d.json(w.GetRestJson(), &rest)
		t.Networks, t.Devices = rest.Networks, rest.Devices
		r.Tasks[d.name(w.GetName())] = t
	}
	return r
}

func (d *decoder) metric(w *Metrics) *api.PlacementMetrics {
	m := &api.PlacementMetrics{
		NodesEvaluated: int(w.GetNodesEvaluated()), NodesFiltered: int(w.GetNodesFiltered()),
		NodesInPool: int(w.GetNodesInPool()), NodePool: d.name(w.GetNodePool()),
		NodesAvailable: d.counts(w.GetNodesAvailable()), ClassFiltered: d.counts(w.GetClassFiltered()),
		ConstraintFiltered: d.counts(w.GetConstraintFiltered()), NodesExhausted: int(w.GetNodesExhausted()),
		ClassExhausted: d.counts(w.GetClassExhausted()), DimensionExhausted: d.counts(w.GetDimensionExhausted()),
		Scores: d.scores(w.GetScores()), AllocationTime: time.Duration(w.GetAllocationTime()),
		CoalescedFailures: int(w.GetCoalescedFailures()),
	}
	for _, s := range w.GetNodeScores() {
		m.ScoreMetaData = append(m.ScoreMetaData, &api.NodeScore{NodeID: d.name(s.GetNode()), Scores: d.scores(s.GetScores()), NormScore: s.GetNorm()})
	}
	var rest restMetrics
	d.json(w.GetRestJson(), &rest)
	m.QuotaExhausted, m.ResourcesExhausted = rest.QuotaExhausted, rest.ResourcesExhausted
	return m
}

func (d *decoder) counts(counts []*Count) map[string]int {
	if len(counts) == 0 {
		return nil
	}
	m := make(map[string]int, len(counts))
	for _, c := range counts {
		m[d.name(c.GetName())] = int(c.GetCount())
	}
	return m
}

func (d *decoder) scores(scores []*Score) map[string]float64 {
	if len(scores) == 0 {
		return nil
	}
	m := make(map[string]float64, len(scores))
	for _, s := range scores {
		m[d.name(s.GetName())] = s.GetScore()
	}
	return m
}

func (d *decoder) allocation(w *Allocation) *api.Allocation {
	a := &api.Allocation{
		ID:                 UnpackID(w.Id),
		EvalID:             d.name(w.Eval),
		NodeID:             d.name(w.Node),
		NodeName:           d.name(w.NodeName),
		Group:              d.name(w.Group),
		DesiredStatus:      d.name(w.DesiredStatus),
		ClientStatus:       d.name(w.ClientStatus),
		ClientDescription:  d.name(w.ClientDescription),
		DeploymentID:       d.name(w.Deployment),
		FollowupEvalID:     d.name(w.FollowupEval),
		PreviousAllocation: d.name(w.Previous),
		NextAllocation:     d.name(w.Next),
		CreateIndex:        w.CreateIndex,
		ModifyIndex:        w.ModifyIndex,
		AllocModifyIndex:   w.AllocModifyIndex,
		CreateTime:         w.CreateTime,
		ModifyTime:         w.ModifyTime,
	}
	a.DesiredReason, a.DesiredDescription = reasons.Allocation(w.DesiredReason, d.name(w.DesiredDescription))
	if w.Job != 0 {
		if int(w.Job) > len(d.jobs) {
			d.fail("job %d is missing", w.Job)
			return a
		}
		job := d.jobs[w.Job-1]
		a.Namespace, a.JobID = job.Namespace, job.ID
		if !d.missing[w.Job-1] {
			a.Job = job
		}
	}
	if a.Name = d.name(w.Name); w.Instance > 0 {
		// Name and id share their memory: they live and die together.
		both := append(d.buffer[:0], a.ID...)
		both = append(both, a.JobID...)
		both = append(both, '.')
		both = append(both, a.Group...)
		both = append(both, '[')
		both = strconv.AppendUint(both, uint64(w.Instance-1), 10)
		d.buffer = append(both, ']')
		text := string(d.buffer)
		a.ID, a.Name = text[:len(a.ID)], text[len(a.ID):]
	}
	if s := w.DeploymentStatus; s != nil {
		a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: s.Healthy, Timestamp: FromNanos(s.Timestamp), Canary: s.Canary, ModifyIndex: s.ModifyIndex}
	}
	if s := w.LaunchStatus; s != nil {
		a.LaunchStatus = &api.LaunchStatus{ID: d.name(s.Id), Healthy: s.Healthy, Timestamp: FromNanos(s.Timestamp)}
	}
	if w.Serving != nil {
		a.Serving = d.serving(w.Serving, a.ID)
	}
	if w.Crashes != nil {
		a.Crashes = d.crashes(w.Crashes)
	}
	a.Orphan = w.Orphan
	if w.Launches != nil {
		a.Launches = d.launches(w.Launches)
	}
	d.resources(w, a)
	if w.Metrics != 0 {
		if int(w.Metrics) > len(d.metrics) {
			d.fail("metrics %d are missing", w.Metrics)
			return a
		}
		a.Metrics = d.metrics[w.Metrics-1]
	}
	switch {
	case int(w.TaskSet) > len(d.states):
		d.fail("tasks %d are missing", w.TaskSet)
	case w.TaskSet > 0:
		a.TaskStates = d.states[w.TaskSet-1]
	default:
		a.TaskStates = d.taskStates(w.Tasks)
	}
	if len(w.RestJson) > 0 {
		var rest restAllocation
		d.json(w.RestJson, &rest)
		rest.fill(a)
	}
	return a
}

func (d *decoder) resources(w *Allocation, a *api.Allocation) {
	if w.Shape == 0 {
		return
	}
	if int(w.Shape) > len(d.shapes) {
		d.fail("shape %d is missing", w.Shape)
		return
	}
	// Most have one port: it lies beside the rest, one object less.
	near := &struct {
		resources api.AllocatedResources
		port      [1]api.PortMapping
	}{resources: d.shapes[w.Shape-1]}
	r := &near.resources
	switch len(w.Ports) {
	case 0:
	case 1:
		r.Shared.Ports = near.port[:]
	default:
		r.Shared.Ports = make([]api.PortMapping, len(w.Ports))
	}
	for i, p := range w.Ports {
		r.Shared.Ports[i] = api.PortMapping{
			Label: d.name(p.GetLabel()), Value: int(p.GetValue()), To: int(p.GetTo()), HostIP: d.name(p.GetHostIp()),
			HostNetwork: d.name(p.GetHostNetwork()), IgnoreCollision: p.GetIgnoreCollision(),
		}
	}
	a.AllocatedResources = r
}

func (d *decoder) taskStates(tasks []*TaskState) map[string]*api.TaskState {
	if len(tasks) == 0 {
		return nil
	}
	states := make(map[string]*api.TaskState, len(tasks))
	for _, t := range tasks {
		states[d.name(t.GetTask())] = d.taskState(t)
	}
	return states
}

func (d *decoder) taskState(w *TaskState) *api.TaskState {
	s := &api.TaskState{
		State: d.name(w.GetState()), Failed: w.GetFailed(), Restarts: w.GetRestarts(),
		LastRestart: FromNanos(w.GetLastRestart()), StartedAt: FromNanos(w.GetStartedAt()), FinishedAt: FromNanos(w.GetFinishedAt()),
		Launch: d.name(w.GetLaunch()), Result: w.GetResult(), Waiting: w.GetWaiting(),
	}
	if len(w.GetTemplatesJson()) > 0 {
		d.json(w.TemplatesJson, &s.Templates)
	}
	for _, e := range w.GetEvents() {
		v := &api.TaskEvent{
			Type: d.name(e.GetType()), Time: e.GetTime(), DisplayMessage: d.name(e.GetDisplayMessage()), Message: d.name(e.GetMessage()),
			FailsTask: e.GetFailsTask(), RestartReason: d.name(e.GetRestartReason()), DriverError: d.name(e.GetDriverError()),
			DriverMessage: d.name(e.GetDriverMessage()), ExitCode: int(e.GetExitCode()), Signal: int(e.GetSignal()),
			KillReason: d.name(e.GetKillReason()), KillTimeout: time.Duration(e.GetKillTimeout()), KillError: d.name(e.GetKillError()),
			StartDelay: e.GetStartDelay(),
		}
		if len(e.GetDetails()) > 0 {
			v.Details = make(map[string]string, len(e.Details))
		}
		for _, detail := range e.GetDetails() {
			v.Details[d.name(detail.GetKey())] = d.name(detail.GetValue())
		}
		if len(e.GetRestJson()) > 0 {
			var rest restEvent
			d.json(e.RestJson, &rest)
			rest.fill(v)
		}
		s.Events = append(s.Events, v)
	}
	return s
}

// FromNanos is the inverse of Nanos.
func FromNanos(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
