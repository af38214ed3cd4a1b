// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"encoding/hex"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

var rewrite = flag.Bool("rewrite", false, "rewrite golden files: only for formats that no release has written")

func ptr[T any](v T) *T { return &v }

// fullEvaluation has every field set.
func fullEvaluation() *api.Evaluation {
	return &api.Evaluation{
		ID: "11111111-0000-4000-8000-000000000001", Priority: 50, Type: "service", TriggeredBy: api.TriggerJobRegister,
		Namespace: "default", JobID: "web", JobModifyIndex: 3, NodeID: "node-1", NodeModifyIndex: 4,
		DeploymentID: "deployment-1", Status: api.EvalStatusBlocked, StatusDescription: "waits", Wait: 5,
		WaitUntil: time.Unix(6, 7).UTC(), NextEval: "next", PreviousEval: "previous", BlockedEval: "blocked",
		FailedGroups:     map[string]*api.PlacementMetrics{"web": {NodesEvaluated: 3, DimensionExhausted: map[string]int{"memory": 2}}},
		ClassEligibility: map[string]bool{"v1:1": true}, EscapedComputedClass: true, QueuedAllocations: map[string]int{"web": 2},
		SnapshotIndex: 8, CreateIndex: 9, ModifyIndex: 10, CreateTime: 11, ModifyTime: 12,
	}
}

// fullAllocation has a value in every kind of field.
func fullAllocation() *api.Allocation {
	job := testJob("web")
	job.Version, job.CreateIndex, job.JobModifyIndex = 2, 3, 4
	return &api.Allocation{
		ID: "22222222-0000-4000-8000-000000000002", Namespace: "default", EvalID: fullEvaluation().ID, Name: "web.web[3]",
		NodeID: "33333333-0000-4000-8000-000000000003", NodeName: "node-1", JobID: "web", Job: job, Group: "web",
		AllocatedResources: &api.AllocatedResources{
			Tasks: map[string]*api.AllocatedTask{"server": {
				CPU: api.AllocatedCPU{CPUShares: 100, ReservedCores: []uint16{1, 2}}, Memory: api.AllocatedMemory{MemoryMB: 64, MemoryMaxMB: 128},
				Devices: []*api.AllocatedDevice{{Vendor: "v", Type: "gpu", Name: "n", DeviceIDs: []string{"d"}}},
			}},
			Shared: api.AllocatedShared{DiskMB: 300, Ports: []api.PortMapping{{Label: "http", Value: 20000, To: 8080, HostIP: "127.0.0.1"}, {Label: "admin", Value: 20001}}},
		},
		Metrics: &api.PlacementMetrics{
			NodesEvaluated: 5, NodesAvailable: map[string]int{"dc1": 5}, ConstraintFiltered: map[string]int{"${attr.os} = linux": 1},
			ScoreMetaData:  []*api.NodeScore{{NodeID: "node-1", Scores: map[string]float64{"binpack": 0.5}, NormScore: 0.5}},
			QuotaExhausted: []string{"q"}, AllocationTime: 1000,
		},
		DesiredStatus: "run", DesiredDescription: "placed", DesiredTransition: api.DesiredTransition{Migrate: ptr(true)},
		ClientStatus: "running", ClientDescription: "Tasks are running",
		TaskStates: map[string]*api.TaskState{"server": {
			State: "running", Restarts: 1, LastRestart: time.Unix(1, 0).UTC(), StartedAt: time.Unix(2, 0).UTC(),
			Events: []*api.TaskEvent{
				{Type: api.EventStarted, Time: 5, DisplayMessage: "Task started by client", Details: map[string]string{"pid": "7"}},
				{Type: api.EventTerminated, Time: 6, ExitCode: 137, Signal: 9, FailsTask: true, RestartReason: "r", DriverError: "e", KillTimeout: 5, TaskSignal: "SIGHUP"},
			},
		}},
		DeploymentID: "44444444-0000-4000-8000-000000000004", DeploymentStatus: &api.AllocDeploymentStatus{Healthy: ptr(true), Timestamp: time.Unix(3, 0).UTC(), Canary: true, ModifyIndex: 7},
		FollowupEvalID: "follow-up", PreviousAllocation: "previous", NextAllocation: "next",
		RescheduleTracker: &api.RescheduleTracker{Events: []*api.RescheduleEvent{{RescheduleTime: 1, PrevAllocID: "p", PrevNodeID: "n", Delay: 5}}},
		NetworkStatus:     &api.AllocNetworkStatus{InterfaceName: "eth0", Address: "10.0.0.1"},
		CreateIndex:       5, ModifyIndex: 6, AllocModifyIndex: 7, CreateTime: 8, ModifyTime: 9,
	}
}

// every is one command of each kind with its fields set.
func every() []Command {
	evaluation, allocation := fullEvaluation(), fullAllocation()
	deployment := &api.Deployment{
		ID: allocation.DeploymentID, Namespace: "default", JobID: "web", JobVersion: 2, Status: api.DeploymentRunning,
		Groups: map[string]*api.DeploymentState{"web": {DesiredTotal: 3, ProgressDeadline: time.Minute}},
	}
	update := &api.Allocation{
		ID: allocation.ID, ClientStatus: "failed", ClientDescription: "Failed tasks", TaskStates: allocation.TaskStates,
		DeploymentStatus: &api.AllocDeploymentStatus{Healthy: ptr(false), Timestamp: time.Unix(9, 0).UTC()},
		NetworkStatus:    allocation.NetworkStatus, ModifyTime: 10,
	}
	return []Command{
		&RegisterJob{Job: testJob("web"), Submission: &api.JobSubmission{Source: "job {}", Format: "hcl2"}, Evaluation: evaluation, EnforceIndex: ptr(uint64(7))},
		&DeregisterJob{Namespace: "default", ID: "web", Purge: true, Evaluation: evaluation, Time: 5},
		&PutEvaluations{Evaluations: []*api.Evaluation{evaluation}},
		&DeleteEvaluations{IDs: []string{"a", "b"}},
		&CommitPlacement{&Placement{
			EvalID: evaluation.ID, Priority: 50, SnapshotIndex: 9, AllAtOnce: true,
			Job:   &api.Job{Namespace: "default", ID: "web", Version: 2, CreateIndex: 3, JobModifyIndex: 4},
			Place: []*api.Allocation{allocation}, Stop: []Stop{{ID: "a", Description: "stopped", ClientStatus: "lost", FollowupEvalID: "follow-up"}}, Deployment: deployment,
			DeploymentUpdates: []DeploymentUpdate{{ID: "d", Status: "cancelled", Description: "newer"}}, Evaluations: []*api.Evaluation{evaluation}, Time: 10,
		}},
		&UpdateAllocations{NodeID: allocation.NodeID, Allocations: []*api.Allocation{update}, Evaluations: []*api.Evaluation{evaluation}, Time: 11},
		&SetTransition{AllocationIDs: []string{"a"}, Transition: api.DesiredTransition{Reschedule: ptr(true)}, Evaluations: []*api.Evaluation{evaluation}},
		&RegisterNode{Node: &api.Node{ID: allocation.NodeID, Name: "node-1", Attributes: map[string]string{"os": "linux"}, Status: "ready"}, Evaluations: []*api.Evaluation{evaluation}},
		&UpdateNodeStatus{NodeID: "n", Status: "down", Description: "missed", Time: 12, Evaluations: []*api.Evaluation{evaluation}},
		&SetNodeEligibility{NodeID: "n", Eligibility: "ineligible", Time: 13, Evaluations: []*api.Evaluation{evaluation}},
		&SetNodeDrain{
			NodeID: "n", Strategy: &api.DrainStrategy{DrainSpec: api.DrainSpec{Deadline: time.Hour, IgnoreSystemJobs: true}, ForceDeadline: time.Unix(20, 0).UTC(), StartedAt: time.Unix(10, 0).UTC()},
			Status: api.DrainStatusDraining, MarkEligible: true, Meta: map[string]string{"why": "kernel"}, Message: "words", Time: 16, Evaluations: []*api.Evaluation{evaluation},
		},
		&DeleteNode{IDs: []string{"n"}},
		&UpdateDeployment{ID: "d", Status: "failed", Description: "why", Evaluation: evaluation, Job: testJob("web"), Time: 14},
		&SetJobStability{Namespace: "default", ID: "web", Version: 2, Stable: true},
		&ScaleJob{Namespace: "default", ID: "web", Group: "web", Count: ptr(int64(3)), Event: &api.ScalingEvent{Message: "more", Time: 15}, Evaluation: evaluation, EnforceIndex: ptr(uint64(1))},
		&SetSchedulerConfig{Config: &api.SchedulerConfig{
			Algorithm: api.AlgorithmSpread, Preemption: api.PreemptionConfig{SystemSchedulerEnabled: true, BatchSchedulerEnabled: true},
			MemoryOversubscriptionEnabled: true, PauseEvalBroker: true, ZoneAttribute: "${meta.zone}", MaxStartingPerNode: 4,
			Rejections: api.RejectionConfig{MarkIneligible: true, NodeThreshold: 7, NodeWindow: time.Minute},
		}, EnforceIndex: ptr(uint64(2))},
		&PutNodePool{Pool: &api.NodePool{
			Name: "gpu", Description: "with accelerators", Meta: map[string]string{"team": "ml"},
			SchedulerConfig: &api.NodePoolSchedulerConfig{Algorithm: api.AlgorithmSpread, MemoryOversubscriptionEnabled: ptr(true)},
		}},
		&DeleteNodePool{Pool: "gpu"},
		&LaunchJob{
			Namespace: "default", ParentID: "nightly", ParentIndex: 3, ID: "nightly/periodic-17", Time: 18, Due: 17,
			Skip: true, Exclusive: true, Meta: map[string]string{"a": "1", "b": "2"}, Payload: []byte("input"),
			IdempotencyToken: "once", Priority: 70, Evaluation: evaluation,
		},
		&Decide{Decision: fullDecision(), After: "earlier", Evaluation: evaluation, DeploymentUpdate: &DeploymentUpdate{ID: "d", Status: "paused", Description: "why"}, Time: 19},
		&PutRestart{Restart: fullRestart(), Evaluation: evaluation},
		&UpdateRestart{ID: "r", Status: api.RestartPaused, Reason: api.ReasonRestartPaused, Description: "paused by somebody", ModifyIndex: 5, Evaluation: evaluation, Time: 20},
		&PromoteDeployment{ID: "d", Groups: []string{"web"}, Description: "promoted", Evaluation: evaluation, Time: 21},
		&SetAllocHealth{DeploymentID: "d", Healthy: []string{"a"}, Unhealthy: []string{"b"}, Status: "failed", Description: "why", Evaluation: evaluation, Job: testJob("web"), Time: 22},
		&BeginCluster{ID: "99999999-0000-4000-8000-000000000009", Time: 23},
		&BeginTimeline{ID: "88888888-0000-4000-8000-000000000008"},
		&PutDomain{Domain: "cf", FreshUntil: 24},
		&EndFreshness{Domains: []string{"cf", ""}, All: true},
		&AdoptAllocations{NodeID: "n", Allocations: []*api.Allocation{orphan()}, Rewound: true, Time: 25},
		&UpdateCallback{ID: "c", Attempt: 2, Status: api.CallbackPending, Answer: "503 Service Unavailable", Time: 26, Next: 27},
		&FailJob{Namespace: "default", ID: "web", JobModifyIndex: 5, Reason: "not placed", Time: 28},
		&Collect{Evaluations: []string{"e"}, Allocations: []string{"a"}, Deployments: []string{"d"}, Jobs: []api.NamespacedID{{Namespace: "default", ID: "web"}}, Nodes: []string{"n"}},
	}
}

// grown are commands with fields that they got after their first version, by
// the name of the golden file.
func grown() map[string]Command {
	return map[string]Command{
		"CommitPlacement-preempt": &CommitPlacement{&Placement{
			EvalID: "e", Job: &api.Job{Namespace: "default", ID: "web", Version: 2, CreateIndex: 3, JobModifyIndex: 4},
			Preempt: []Preemption{{ID: "a", By: "b"}, {ID: "a", By: "c"}}, Time: 10,
		}},
		"CommitPlacement-restart": &CommitPlacement{&Placement{
			EvalID: "e", Job: &api.Job{Namespace: "default", ID: "web", Version: 2, CreateIndex: 3, JobModifyIndex: 4},
			Restart: fullRestart(), Deregister: true, Time: 10,
		}},
		"Decide-restart": &Decide{Decision: fullDecision(), UpdateRestart: &UpdateRestart{ID: "r", Status: api.RestartPaused, Description: "why", Time: 20}, Time: 20},
		"Decide-stack-reason": &Decide{
			Decision: fullDecision(), Time: 20,
			Shift: fullShift("s", "shop--1-0-0--aaaaaaaa", "shop--1-1-0--bbbbbbbb"), Stack: fullStack("shop", "1.0.0", "aaaaaaaa", api.StackGarbage),
		},
		"Collect-restarts": &Collect{Restarts: []string{"r"}},
		"CommitPlacement-launches": &CommitPlacement{&Placement{
			EvalID: "e", Job: &api.Job{Namespace: "default", ID: "web", Version: 2, CreateIndex: 3, JobModifyIndex: 4},
			Place: []*api.Allocation{steered()}, Time: 10,
		}},
		"CommitPlacement-crashes": &CommitPlacement{&Placement{
			EvalID: "e", Job: &api.Job{Namespace: "default", ID: "web", Version: 2, CreateIndex: 3, JobModifyIndex: 4},
			Place: []*api.Allocation{crashed()}, Time: 10,
		}},
		"UpdateAllocations-serving": &UpdateAllocations{NodeID: "n", Time: 11, Allocations: []*api.Allocation{{
			ID: crashed().ID, ClientStatus: "running", Serving: serving(), Crashes: &api.Crashes{Count: 1, Total: 4, Reason: "exit code 1", At: 7, Next: 9},
		}}},
		"UpdateAllocations-failing": &UpdateAllocations{NodeID: "n", Time: 11, Allocations: []*api.Allocation{{
			ID: crashed().ID, ClientStatus: "running", Serving: &api.Serving{Up: true, Failing: []*api.CheckFailure{
				{Kind: api.TroubleCheckFailed, Service: "web", Check: "http", Task: "server", Answer: "500: boom", StatusCode: 500, ExitCode: 3, Since: 12}, {},
			}},
			Crashes: &api.Crashes{Count: 1, Total: 4, Reason: "exit code 1", At: 7, Kind: api.TroubleExited, Task: "server", ExitCode: 1, Signal: 2},
		}}},
		"UpdateAllocations-warm": &UpdateAllocations{NodeID: "n", Time: 11, Allocations: []*api.Allocation{{
			ID: crashed().ID, ClientStatus: "running", Serving: &api.Serving{
				Up: true, Warm: &api.WarmProgress{Total: 200, Sent: 120, Failed: 3, Failure: "GET /: status 500", Done: true},
			},
		}}},
		"UpdateDeployment-troubles": &UpdateDeployment{ID: "d", Status: "failed", Description: "why", Troubles: []*api.Trouble{fullTrouble()}, Time: 12},
		"SetAllocHealth-troubles":   &SetAllocHealth{DeploymentID: "d", Unhealthy: []string{"b"}, Status: "failed", Troubles: []*api.Trouble{fullTrouble()}, Time: 22},
		"UpdateAllocations-launches": &UpdateAllocations{NodeID: "n", Time: 11, Allocations: []*api.Allocation{{
			ID: steered().ID, ClientStatus: "running", LaunchStatus: &api.LaunchStatus{ID: "l", Healthy: ptr(false), Timestamp: time.Unix(9, 0).UTC()},
			TaskStates: map[string]*api.TaskState{"server": {State: "running", Launch: "token"}},
		}}},
	}
}

// fullTrouble has every field set.
func fullTrouble() *api.Trouble {
	return &api.Trouble{
		Kind: api.TroubleCheckFailed, Message: "check fails", Group: "web", Instance: "web-1", Instances: 2, JobVersion: 3, Allocation: "a",
		NodeID: "n", NodeName: "node-1", Task: "server", Service: "web", Check: "http", Answer: "500", StatusCode: 500, ExitCode: 1, Signal: 9,
		Obstacles: []api.ObstacleCount{{Filter: api.FilterResource, Reason: "memory", Nodes: 2}}, Count: 4,
		At: time.Unix(5, 6).UTC(), NextAttempt: time.Unix(7, 8).UTC(), Final: true, Log: api.LogStderr,
	}
}

// fullDecision has every field set.
func fullDecision() *api.Decision {
	return &api.Decision{
		ID: "66666666-0000-4000-8000-000000000006", Namespace: "default", JobID: "web", JobCreateIndex: 5, JobVersion: 1,
		Verb: api.VerbStart, Plan: "backup", Phase: "web", Step: "web-0:[backup]", Run: "run", Group: "web", Index: 1, Node: "n",
		Tasks: []string{"backup"}, Allocation: "a", Parameters: map[string]string{"TO": "/backup"}, By: "ann@laptop", Reason: "before the upgrade", Time: 9,
	}
}

// fullRestart has every field set.
func fullRestart() *api.JobRestart {
	return &api.JobRestart{
		ID: "77777777-0000-4000-8000-000000000007", Namespace: "default", JobID: "web", BatchSize: 2, BatchWait: time.Second,
		Groups: []string{"web"}, Tasks: []string{"server"}, HealthGate: true, MaxUnhealthy: 1, OnError: api.RestartOnErrorPause,
		Status: api.RestartRunning, StatusDescription: "runs", RestartedAllocs: []string{"a", "b"}, UnhealthyAllocs: []string{"a"},
		NextBatch: time.Unix(30, 0).UTC(), JobVersion: 1, JobCreateIndex: 5, By: "ann@laptop", Reason: "leaks",
		StartedAt: time.Unix(20, 0).UTC(), UpdatedAt: time.Unix(25, 0).UTC(), CreateIndex: 6, ModifyIndex: 7,
	}
}

// steered is an allocation some of whose tasks are launched apart.
func steered() *api.Allocation {
	job := testJob("web")
	job.Version, job.CreateIndex, job.JobModifyIndex = 2, 3, 4
	return &api.Allocation{
		ID: "55555555-0000-4000-8000-000000000005", Namespace: "default", Name: "web.web[1]", JobID: "web", Job: job, Group: "web",
		Launches: &api.Launches{ID: "l", Tasks: map[string]*api.Launch{
			"init": {Token: "deploy", Done: true},
			"task": {Token: "token", Hold: true, Alone: true, Env: map[string]string{"A": "1", "B": "2"}, Why: "paused", Index: 8},
			"late": {Await: true},
		}},
	}
}

// crashed is an allocation that takes the place of one that failed.
func crashed() *api.Allocation {
	a := steered()
	a.ID, a.Launches = "88888888-0000-4000-8000-000000000008", nil
	a.Crashes = &api.Crashes{Count: 2, Total: 3, Reason: "Exited with status 17", At: 5}
	return a
}

// serving has every field set.
func serving() *api.Serving {
	return &api.Serving{Up: true, Reason: "check \"ready\" failed", Since: 12, Services: []*api.ServiceRegistration{
		{
			ID: "_reeve-" + crashed().ID, ServiceName: "web", Namespace: "default", NodeID: "n", Datacenter: "dc1", JobID: "web", AllocID: crashed().ID,
			Tags: []string{"a", "b"}, Address: "10.0.0.1", Port: 20000, CreateIndex: 3, ModifyIndex: 4, Meta: map[string]string{"k": "v"}, Weight: 2, Instance: 1,
		},
		{ServiceName: "admin", AllocID: "another"},
	}}
}

// goldens are all commands, by the name of their golden file.
func goldens() map[string]Command {
	all := grown()
	maps.Copy(all, withReasons())
	maps.Copy(all, stackCommands())
	for _, c := range every() {
		name := c.Name()
		if now, ok := rewritten[name]; ok {
			name = now
		}
		all[name] = c
	}
	return all
}

// TestCommandsSurviveTheLog encodes each command and decodes it again.
func TestCommandsSurviveTheLog(t *testing.T) {
	// A job of a placement is a reference in the log.
	// What is adopted is written as what it becomes.
	orphans := cmp.Transformer("orphans", func(c AdoptAllocations) AdoptAllocations {
		c.Allocations = slices.Clone(c.Allocations)
		for i, a := range c.Allocations {
			b := a.Copy()
			b.Orphan = true
			c.Allocations[i] = b
		}
		return c
	})
	references := cmp.Transformer("reference", func(p *Placement) Placement {
		c := *p
		c.Place = slices.Clone(p.Place)
		for i, a := range c.Place {
			b := a.Copy()
			b.Job = decodeJobRef(encodeJobRef(a.Job))
			c.Place[i] = b
		}
		return c
	})
	for _, c := range goldens() {
		decoded, err := DecodeCommands(EncodeCommands([]Command{c}))
		if err != nil {
			t.Errorf("%s: %v", c.Name(), err)
			continue
		}
		if diff := cmp.Diff([]Command{c}, decoded, references, orphans); diff != "" {
			t.Errorf("%s (-encoded +decoded):\n%s", c.Name(), diff)
		}
	}
}

// goldenStore holds something of everything.
func goldenStore(t testing.TB) *Store {
	s := New()
	evaluation, allocation := fullEvaluation(), fullAllocation()
	allocation.Job = nil
	must(t, s.Apply(5, []Command{
		&RegisterNode{Node: &api.Node{ID: allocation.NodeID, Name: "node-1", Status: "ready"}},
		&RegisterJob{Job: testJob("web"), Submission: &api.JobSubmission{Source: "job {}", Format: "hcl2"}, Evaluation: evaluation},
		&ScaleJob{Namespace: "default", ID: "web", Group: "web", Count: ptr(int64(3)), Event: &api.ScalingEvent{Message: "more", Time: 15}},
	}))
	child := testJob("web/child")
	child.ParentID = "web"
	must(t, s.Apply(6, []Command{
		&RegisterJob{Job: child},
		&CommitPlacement{&Placement{
			Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{allocation}, Time: 10,
			Deployment: &api.Deployment{
				ID: allocation.DeploymentID, Namespace: "default", JobID: "web", JobVersion: 1, Status: api.DeploymentRunning,
				Groups: map[string]*api.DeploymentState{"web": {DesiredTotal: 3, ProgressDeadline: time.Minute}},
			},
		}},
	}))
	return s
}

// clusterStore holds what the format learned to hold with node pools.
func clusterStore(t testing.TB) *Store {
	s := goldenStore(t)
	config := api.DefaultSchedulerConfig()
	config.Algorithm, config.ZoneAttribute = api.AlgorithmSpread, "${meta.zone}"
	must(t, s.Apply(7, []Command{
		&SetSchedulerConfig{Config: config},
		&PutNodePool{&api.NodePool{Name: "gpu", SchedulerConfig: &api.NodePoolSchedulerConfig{Algorithm: api.AlgorithmBinpack}}},
		&RegisterNode{Node: &api.Node{ID: "44444444-0000-4000-8000-000000000004", Name: "node-2", NodePool: "edge"}},
	}))
	return s
}

// plansStore holds what the format learned to hold with decisions and restarts.
func plansStore(t testing.TB) *Store {
	s := New()
	job := testJob("web")
	must(t, s.Apply(5, []Command{&RegisterJob{Job: job}}))
	decision, restart := fullDecision(), fullRestart()
	decision.JobVersion, decision.Run, restart.JobVersion = 0, "", 0
	a := steered()
	a.Job = nil
	must(t, s.Apply(6, []Command{
		&RegisterNode{Node: &api.Node{ID: "n", Name: "node-1", Status: "ready"}},
		&Decide{Decision: decision, Evaluation: &api.Evaluation{ID: "e", Namespace: "default", JobID: "web", Status: api.EvalStatusBlocked}},
		&PutRestart{Restart: restart},
		&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{a}, Time: 10}},
	}))
	return s
}

// domainStore holds what the format learned to hold with domains and orphans.
func domainStore(t testing.TB) *Store {
	s := New()
	must(t, s.Apply(5, []Command{
		&BeginCluster{ID: "99999999-0000-4000-8000-000000000009", Time: 5},
		&RegisterNode{Node: &api.Node{ID: "n", Name: "node-1", Status: "ready"}},
		&PutDomain{Domain: "cf", FreshUntil: 24}, &PutDomain{Domain: "for-ever"},
	}))
	must(t, s.Apply(6, []Command{&AdoptAllocations{NodeID: "n", Allocations: []*api.Allocation{orphan()}, Time: 6}}))
	return s
}

// uninstalledStore holds what the format learned to hold with uninstalled jobs.
func uninstalledStore(t testing.TB) *Store {
	s := New()
	must(t, s.Apply(5, []Command{&RegisterJob{Job: testJob("web")}}))
	a := fullAllocation()
	a.Job = nil
	must(t, s.Apply(6, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Place: []*api.Allocation{a}, Time: 10}}}))
	must(t, s.Apply(7, []Command{&DeregisterJob{Namespace: "default", ID: "web", Purge: true, Time: 20}}))
	decision := fullDecision()
	decision.Plan = api.PlanUninstall
	must(t, s.Apply(8, []Command{
		&Decide{Decision: decision, Time: 21},
		&CommitPlacement{&Placement{Stop: []Stop{{ID: a.ID, ClientStatus: api.AllocClientLost}}, Time: 22}},
	}))
	must(t, s.Apply(9, []Command{&CommitPlacement{&Placement{Job: s.Snapshot().Job("default", "web"), Deregister: true, Time: 23}}}))
	if u := s.Snapshot().Uninstalled("default", "web"); u == nil || len(u.Killed) != 1 || len(u.Decisions) != 1 {
		t.Fatalf("remembered is %+v, want an allocation and a decision", u)
	}
	return s
}

// orphan is an allocation as its node keeps it.
func orphan() *api.Allocation {
	a := crashed()
	a.DesiredStatus, a.ClientStatus, a.Serving = api.AllocDesiredRun, api.AllocClientRunning, serving()
	a.CreateIndex, a.ModifyIndex = 300, 301
	return a
}

// TestSnapshotFormatIsKept reads snapshots as the first versions that could
// write them wrote them.
func TestSnapshotFormatIsKept(t *testing.T) {
	t.Run("v1", func(t *testing.T) { snapshotIsKept(t, goldenStore(t)) })
	t.Run("plans", func(t *testing.T) { snapshotIsKept(t, plansStore(t)) })
	t.Run("domains", func(t *testing.T) {
		s := domainStore(t)
		// The file contains the sentence of its version, which stays.
		s.Snapshot().Allocation(orphan().ID).DesiredDescription = "found on its node; no registered job is known to want it"
		snapshotIsKept(t, s)
	})
	t.Run("cluster", func(t *testing.T) { snapshotIsKept(t, clusterStore(t)) })
	t.Run("uninstalled", func(t *testing.T) { snapshotIsKept(t, uninstalledStore(t)) })
	t.Run("namespaces", func(t *testing.T) { snapshotIsKept(t, namespaceStore(t)) })
	t.Run("autopilot", func(t *testing.T) { snapshotIsKept(t, autopilotStore(t)) })
	t.Run("rotation", func(t *testing.T) { snapshotIsKept(t, rotationStore(t)) })
	t.Run("introductions", func(t *testing.T) { snapshotIsKept(t, introductionStore(t)) })
	t.Run("pins", func(t *testing.T) { snapshotIsKept(t, pinStore(t)) })
	t.Run("volumes", func(t *testing.T) { snapshotIsKept(t, volumeStore(t)) })
	t.Run("secrets", func(t *testing.T) { snapshotIsKept(t, secretsStore(t)) })
	t.Run("access", func(t *testing.T) { snapshotIsKept(t, accessStore(t)) })
	t.Run("quotas", func(t *testing.T) { snapshotIsKept(t, quotaStore(t)) })
	t.Run("login", func(t *testing.T) { snapshotIsKept(t, loginStore(t)) })
	t.Run("one-time", func(t *testing.T) { snapshotIsKept(t, oneTimeStore(t)) })
	t.Run("level", func(t *testing.T) { snapshotIsKept(t, levelStore(t)) })
	t.Run("members", func(t *testing.T) { snapshotIsKept(t, membersStore(t)) })
	t.Run("stacks", func(t *testing.T) { snapshotIsKept(t, stackStoreBeforeReasons(t)) })
	t.Run("stack-reasons", func(t *testing.T) { snapshotIsKept(t, stackStore(t)) })
}

func snapshotIsKept(t *testing.T, s *Store) {
	t.Helper()
	path := filepath.Join("testdata", "snapshot-"+filepath.Base(t.Name())+".hex")
	var file bytes.Buffer
	if _, err := s.Snapshot().WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		write(t, path, []byte(hexLines(file.Bytes())))
	}
	golden := unhex(t, path)
	restored, err := Restore(bytes.NewReader(golden))
	if err != nil {
		t.Fatalf("%s cannot be read any more: %v", path, err)
	}
	sameState(t, "the golden snapshot is read as something else", s.Snapshot(), restored.Snapshot())
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func hexLines(b []byte) string {
	var s strings.Builder
	for line := range slices.Chunk([]byte(hex.EncodeToString(b)), 96) {
		s.Write(line)
		s.WriteByte('\n')
	}
	return s.String()
}

func unhex(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(string(text), "\n", ""))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}
