// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package allocset

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
)

// An Encoder adds allocations to a set, and writes names, jobs, shapes of resources
// and metrics that they share once.
type Encoder struct {
	ForNode bool // without metrics, and without jobs of orphans: set it before the first is added

	set     *Allocations
	names   map[string]uint32
	jobs    map[jobReference]uint32
	shapes  map[string]uint32
	metrics map[*api.PlacementMetrics]uint32

	// Where names were found lately, by where their bytes lie: allocations
	// share most of their strings, and this is a tenth of a map's cost.
	recent [256]struct {
		bytes *byte
		size  int
		ref   uint32
	}

	// The last allocation's, as the next one's are mostly the same.
	lastTasks  uintptr
	lastShared api.AllocatedShared
	lastShape  uint32
	lastStates uintptr
	lastStated *Allocation

	// Memory for the next allocations and their ids. A set is written and dropped as a whole,
	// so its allocations share memory.
	blank  []Allocation
	packed []byte
}

// jobReference is a version of a job by its names.
type jobReference struct {
	namespace, id                        string
	version, createIndex, jobModifyIndex uint64
	missing                              bool
	orphan                               *api.Job // nil: it is in the table of jobs
}

// NewEncoder returns an encoder of a set of about size allocations.
func NewEncoder(size int) *Encoder {
	e := &Encoder{
		names:   map[string]uint32{},
		jobs:    map[jobReference]uint32{},
		shapes:  map[string]uint32{},
		metrics: map[*api.PlacementMetrics]uint32{},
	}
	e.begin(size)
	return e
}

// begin begins a set of about size allocations.
func (e *Encoder) begin(size int) {
	e.set = &Allocations{Allocations: make([]*Allocation, 0, size)}
	e.blank, e.packed = make([]Allocation, size), make([]byte, 0, size*packedSize)
}

// Encode returns the set of the allocations; nil if it would be empty.
func Encode(allocations []*api.Allocation) *Allocations {
	if len(allocations) == 0 {
		return nil
	}
	e := encoders.Get().(*Encoder)
	e.begin(len(allocations))
	for _, a := range allocations {
		e.Add(a)
	}
	return e.finish()
}

// finish returns the set, and the encoder to the pool.
func (e *Encoder) finish() *Allocations {
	set := e.set
	if len(e.names)+len(e.jobs)+len(e.shapes)+len(e.metrics) <= maxKept {
		e.reset()
		encoders.Put(e)
	}
	return set
}

// encoders are used again: most sets are of one allocation, and empty tables
// for it would cost more than writing it.
var encoders = sync.Pool{New: func() any { return NewEncoder(0) }}

// maxKept bounds the tables of an encoder that is used again.
const maxKept = 1024

// reset forgets everything that was added.
func (e *Encoder) reset() {
	clear(e.names)
	clear(e.jobs)
	clear(e.shapes)
	clear(e.metrics)
	clear(e.recent[:])
	e.set, e.lastTasks, e.lastShared, e.lastShape = nil, 0, api.AllocatedShared{}, 0
	e.lastStates, e.lastStated = 0, nil
	e.blank, e.packed = nil, nil
}

// next returns the next allocation of the set. Only its id is set.
func (e *Encoder) next(id string) *Allocation {
	if len(e.blank) == 0 {
		e.blank = make([]Allocation, 1) // the set is larger than expected
	}
	w := &e.blank[0]
	e.blank = e.blank[1:]
	from := len(e.packed)
	e.packed = appendID(e.packed, id)
	w.Id = e.packed[from:len(e.packed):len(e.packed)]
	return w
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// name returns the reference to a string.
func (e *Encoder) name(s string) uint32 {
	if s == "" {
		return 0
	}
	bytes := unsafe.StringData(s)
	recent := &e.recent[(uintptr(unsafe.Pointer(bytes))>>3^uintptr(len(s)))%256]
	if recent.bytes == bytes && recent.size == len(s) {
		return recent.ref
	}
	ref, ok := e.names[s]
	if !ok {
		e.set.Names = append(e.set.Names, s)
		ref = uint32(len(e.set.Names))
		e.names[s] = ref
	}
	recent.bytes, recent.size, recent.ref = bytes, len(s), ref
	return ref
}

// Set returns the set of the added allocations.
func (e *Encoder) Set() *Allocations { return e.set }

// Add adds an allocation to the set.
func (e *Encoder) Add(a *api.Allocation) {
	w := e.next(a.ID)
	w.Job = e.job(a)
	w.Group = e.name(a.Group)
	w.Eval = e.name(a.EvalID)
	w.Node = e.name(a.NodeID)
	w.NodeName = e.name(a.NodeName)
	w.DesiredStatus = e.name(a.DesiredStatus)
	w.DesiredReason = uint32(a.DesiredReason)
	w.DesiredDescription = e.name(e.sentence(a))
	w.ClientStatus = e.name(a.ClientStatus)
	w.ClientDescription = e.name(a.ClientDescription)
	w.Deployment = e.name(a.DeploymentID)
	w.FollowupEval = e.name(a.FollowupEvalID)
	w.Previous = e.name(a.PreviousAllocation)
	w.Next = e.name(a.NextAllocation)
	w.Metrics = e.metric(a.Metrics)
	w.CreateIndex = a.CreateIndex
	w.ModifyIndex = a.ModifyIndex
	w.AllocModifyIndex = a.AllocModifyIndex
	w.CreateTime = a.CreateTime
	w.ModifyTime = a.ModifyTime
	w.RestJson = restOfAllocation(a)
	if i := a.Index(); i >= 0 && isNamed(a, i) {
		w.Instance = uint32(i) + 1
	} else {
		w.Name = e.name(a.Name)
	}
	if r := a.AllocatedResources; r != nil {
		w.Shape = e.shape(r)
		for _, p := range r.Shared.Ports {
			w.Ports = append(w.Ports, &Port{Label: e.name(p.Label), Value: uint32(p.Value), To: uint32(p.To), HostIp: e.name(p.HostIP), HostNetwork: e.name(p.HostNetwork), IgnoreCollision: p.IgnoreCollision})
		}
	}
	if a.Launches != nil {
		w.Launches = e.launches(a.Launches)
	}
	w.Orphan = a.Orphan
	e.addHealthAndTasks(w, a)
	e.set.Allocations = append(e.set.Allocations, w)
}

// isNamed reports whether the allocation's name is api.AllocName with the index.
func isNamed(a *api.Allocation, index int) bool {
	var digits [20]byte
	rest, inJob := strings.CutPrefix(a.Name, a.JobID)
	rest, hasDot := strings.CutPrefix(rest, ".")
	rest, inGroup := strings.CutPrefix(rest, a.Group)
	rest, opens := strings.CutPrefix(rest, "[")
	rest, closes := strings.CutSuffix(rest, "]")
	return inJob && hasDot && inGroup && opens && closes && rest == string(strconv.AppendInt(digits[:0], int64(index), 10))
}

// sentence returns the desired description to write. Nodes of earlier versions do not know
// the reasons: nodes always receive the sentence.
func (e *Encoder) sentence(a *api.Allocation) string {
	if e.ForNode {
		return a.DesiredDescription
	}
	return reasons.Sentence(a.DesiredReason, a.DesiredDescription)
}

// addHealthAndTasks adds how the allocation is.
func (e *Encoder) addHealthAndTasks(w *Allocation, a *api.Allocation) {
	if s := a.DeploymentStatus; s != nil {
		w.DeploymentStatus = &DeploymentStatus{Healthy: s.Healthy, Timestamp: Nanos(s.Timestamp), Canary: s.Canary, ModifyIndex: s.ModifyIndex}
	}
	if s := a.LaunchStatus; s != nil {
		w.LaunchStatus = &LaunchStatus{Id: e.name(s.ID), Healthy: s.Healthy, Timestamp: Nanos(s.Timestamp)}
	}
	if a.Serving != nil || a.Crashes != nil {
		e.addServing(w, a)
	}
	if len(a.TaskStates) > 0 {
		e.addTasks(w, a.TaskStates)
	}
}

// addTasks adds the tasks' states. Those that the allocation before has, too,
// are moved into a set of which both are.
func (e *Encoder) addTasks(w *Allocation, states map[string]*api.TaskState) {
	same := reflect.ValueOf(states).Pointer()
	if same == e.lastStates {
		if e.lastStated.TaskSet == 0 {
			e.set.TaskSets = append(e.set.TaskSets, &TaskSet{Tasks: e.lastStated.Tasks})
			e.lastStated.Tasks, e.lastStated.TaskSet = nil, uint32(len(e.set.TaskSets))
		}
		w.TaskSet = e.lastStated.TaskSet
		return
	}
	e.lastStates, e.lastStated = same, w
	if len(states) == 1 {
		for task, s := range states { // most have one: nothing to sort
			if s != nil {
				w.Tasks = []*TaskState{e.taskState(task, s)}
			}
		}
		return
	}
	for _, task := range sortedKeys(states) {
		if s := states[task]; s != nil {
			w.Tasks = append(w.Tasks, e.taskState(task, s))
		}
	}
}

func (e *Encoder) job(a *api.Allocation) uint32 {
	r := jobReference{namespace: a.Namespace, id: a.JobID, missing: a.Job == nil}
	if a.Job != nil {
		r = jobReference{a.Job.Namespace, a.Job.ID, a.Job.Version, a.Job.CreateIndex, a.Job.JobModifyIndex, false, nil}
		if a.Orphan {
			r.orphan = a.Job
		}
	}
	if r == (jobReference{missing: true}) {
		return 0
	}
	if ref, ok := e.jobs[r]; ok {
		return ref
	}
	w := &AllocationJob{
		Namespace: e.name(r.namespace), Id: e.name(r.id), Version: r.version,
		CreateIndex: r.createIndex, JobModifyIndex: r.jobModifyIndex, Missing: r.missing,
	}
	if r.orphan != nil && !e.ForNode {
		w.Json = mustJSON(r.orphan)
	}
	e.set.Jobs = append(e.set.Jobs, w)
	ref := uint32(len(e.set.Jobs))
	e.jobs[r] = ref
	return ref
}

// shape returns the reference to the resources without their ports.
func (e *Encoder) shape(r *api.AllocatedResources) uint32 {
	tasks := reflect.ValueOf(r.Tasks).Pointer()
	if tasks != 0 && tasks == e.lastTasks && r.Shared.DiskMB == e.lastShared.DiskMB && len(r.Shared.Networks)+len(e.lastShared.Networks) == 0 {
		return e.lastShape
	}
	s := &Shape{DiskMb: r.Shared.DiskMB}
	if len(r.Shared.Networks) > 0 {
		s.NetworksJson = mustJSON(r.Shared.Networks)
	}
	for _, name := range sortedKeys(r.Tasks) {
		t := r.Tasks[name]
		if t == nil {
			continue
		}
		w := &ShapeTask{Name: e.name(name), Cpu: t.CPU.CPUShares, MemoryMb: t.Memory.MemoryMB, MemoryMaxMb: t.Memory.MemoryMaxMB}
		for _, core := range t.CPU.ReservedCores {
			w.Cores = append(w.Cores, uint32(core))
		}
		if len(t.Networks)+len(t.Devices) > 0 {
			w.RestJson = mustJSON(restTask{t.Networks, t.Devices})
		}
		s.Tasks = append(s.Tasks, w)
	}
	key, err := s.MarshalVT()
	if err != nil {
		panic("encode resources: " + err.Error())
	}
	ref, ok := e.shapes[string(key)]
	if !ok {
		e.set.Shapes = append(e.set.Shapes, s)
		ref = uint32(len(e.set.Shapes))
		e.shapes[string(key)] = ref
	}
	e.lastTasks, e.lastShared, e.lastShape = tasks, r.Shared, ref
	return ref
}

// restTask is what few tasks hold.
type restTask struct {
	Networks []*api.Network         `json:",omitempty"`
	Devices  []*api.AllocatedDevice `json:",omitempty"`
}

func (e *Encoder) metric(m *api.PlacementMetrics) uint32 {
	if m == nil || e.ForNode {
		return 0
	}
	if ref, ok := e.metrics[m]; ok {
		return ref
	}
	w := &Metrics{
		NodesEvaluated: int64(m.NodesEvaluated), NodesFiltered: int64(m.NodesFiltered),
		NodesInPool: int64(m.NodesInPool), NodePool: e.name(m.NodePool),
		NodesAvailable: e.counts(m.NodesAvailable), ClassFiltered: e.counts(m.ClassFiltered),
		ConstraintFiltered: e.counts(m.ConstraintFiltered), NodesExhausted: int64(m.NodesExhausted),
		ClassExhausted: e.counts(m.ClassExhausted), DimensionExhausted: e.counts(m.DimensionExhausted),
		Scores: e.scores(m.Scores), AllocationTime: int64(m.AllocationTime),
		CoalescedFailures: int64(m.CoalescedFailures),
	}
	for _, s := range m.ScoreMetaData {
		if s != nil {
			w.NodeScores = append(w.NodeScores, &NodeScore{Node: e.name(s.NodeID), Scores: e.scores(s.Scores), Norm: s.NormScore})
		}
	}
	if len(m.QuotaExhausted)+len(m.ResourcesExhausted) > 0 {
		w.RestJson = mustJSON(restMetrics{m.QuotaExhausted, m.ResourcesExhausted})
	}
	e.set.Metrics = append(e.set.Metrics, w)
	ref := uint32(len(e.set.Metrics))
	e.metrics[m] = ref
	return ref
}

// restMetrics is what few metrics have.
type restMetrics struct {
	QuotaExhausted     []string                  `json:",omitempty"`
	ResourcesExhausted map[string]*api.Resources `json:",omitempty"`
}

func (e *Encoder) counts(m map[string]int) []*Count {
	if len(m) == 0 {
		return nil
	}
	counts, all := make([]*Count, len(m)), make([]Count, len(m))
	for i, name := range sortedKeys(m) {
		counts[i] = &all[i]
		counts[i].Name, counts[i].Count = e.name(name), int64(m[name])
	}
	return counts
}

func (e *Encoder) scores(m map[string]float64) []*Score {
	if len(m) == 0 {
		return nil
	}
	scores, all := make([]*Score, len(m)), make([]Score, len(m))
	for i, name := range sortedKeys(m) {
		scores[i] = &all[i]
		scores[i].Name, scores[i].Score = e.name(name), m[name]
	}
	return scores
}

func (e *Encoder) taskState(task string, s *api.TaskState) *TaskState {
	w := &TaskState{
		Task: e.name(task), State: e.name(s.State), Failed: s.Failed, Restarts: s.Restarts,
		LastRestart: Nanos(s.LastRestart), StartedAt: Nanos(s.StartedAt), FinishedAt: Nanos(s.FinishedAt),
		Launch: e.name(s.Launch), Result: s.Result, Waiting: s.Waiting,
	}
	if len(s.Templates) > 0 {
		w.TemplatesJson = mustJSON(s.Templates)
	}
	for _, v := range s.Events {
		if v == nil {
			continue
		}
		event := &TaskEvent{
			Type: e.name(v.Type), Time: v.Time, DisplayMessage: e.name(v.DisplayMessage), Message: e.name(v.Message),
			FailsTask: v.FailsTask, RestartReason: e.name(v.RestartReason), DriverError: e.name(v.DriverError),
			DriverMessage: e.name(v.DriverMessage), ExitCode: int64(v.ExitCode), Signal: int64(v.Signal),
			KillReason: e.name(v.KillReason), KillTimeout: int64(v.KillTimeout), KillError: e.name(v.KillError),
			StartDelay: v.StartDelay, RestJson: restOfEvent(v),
		}
		for _, key := range sortedKeys(v.Details) {
			event.Details = append(event.Details, &Detail{Key: e.name(key), Value: e.name(v.Details[key])})
		}
		w.Events = append(w.Events, event)
	}
	return w
}

// Nanos is a time in Unix nanoseconds, 0 if it is not set.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// mustJSON encodes what came from the API or the store, which always can be.
func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("encode for the log: " + err.Error())
	}
	return text
}
