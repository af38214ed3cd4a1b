// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func ptr[T any](v T) *T { return &v }

func testJob() *api.Job {
	return &api.Job{
		ID: "web", Name: "web", Namespace: "default", Type: api.JobTypeService, Status: api.JobStatusRunning,
		Priority: 50, Datacenters: []string{"*"}, NodePool: "default", Version: 2, SubmitTime: clitest.Ago(3 * time.Minute),
		Groups: []*api.Group{
			{Name: "server", Count: ptr(2), Tasks: []*api.Task{
				{Name: "migrate", Lifecycle: &api.Lifecycle{Hook: api.HookPrestart}},
				{Name: "http"},
				{Name: "logs", Lifecycle: &api.Lifecycle{Hook: api.HookPrestart, Sidecar: true}},
			}},
			{Name: "cache", Count: ptr(1), Tasks: []*api.Task{{Name: "redis"}}},
		},
	}
}

func testAllocation() *api.Allocation {
	return &api.Allocation{
		ID: clitest.AllocID, Namespace: "default", EvalID: clitest.EvalID, Name: "web.server[0]", NodeID: clitest.NodeID, NodeName: "rack-1",
		JobID: "web", Job: testJob(), Group: "server", DesiredStatus: api.AllocDesiredRun, ClientStatus: api.AllocClientRunning,
		DeploymentID: clitest.DeplID, DeploymentStatus: &api.AllocDeploymentStatus{Healthy: ptr(true)}, Images: testPins(),
		CreateTime: clitest.Ago(2 * time.Minute), ModifyTime: clitest.Ago(90 * time.Second),
		AllocatedResources: &api.AllocatedResources{
			Tasks: map[string]*api.AllocatedTask{
				"http":    {CPU: api.AllocatedCPU{CPUShares: 200}, Memory: api.AllocatedMemory{MemoryMB: 128, MemoryMaxMB: 2048}},
				"migrate": {CPU: api.AllocatedCPU{CPUShares: 100}, Memory: api.AllocatedMemory{MemoryMB: 64}},
			},
			Shared: api.AllocatedShared{DiskMB: 300, Ports: []api.PortMapping{
				{Label: "http", Value: 23011, HostIP: "127.0.0.1"},
				{Label: "admin", Value: 23012, To: 8080, HostIP: "::1"},
			}},
		},
		TaskStates: map[string]*api.TaskState{
			"migrate": {State: api.TaskStateDead, StartedAt: clitest.Now.Add(-2 * time.Minute), FinishedAt: clitest.Now.Add(-119 * time.Second)},
			"http": {
				State: api.TaskStateRunning, Restarts: 1, LastRestart: clitest.Now.Add(-90 * time.Second), StartedAt: clitest.Now.Add(-90 * time.Second),
				Events: []*api.TaskEvent{
					{Type: api.EventStarted, Time: clitest.Ago(2 * time.Minute), DisplayMessage: "The task was started as process 4711."},
					{Type: api.EventTerminated, Time: clitest.Ago(100 * time.Second), DisplayMessage: "Exit code 1.", ExitCode: 1},
					{Type: api.EventRestarting, Time: clitest.Ago(100 * time.Second), DisplayMessage: "It is started again in 10s."},
				},
			},
		},
	}
}

func stubOf(a *api.Allocation) *api.AllocationListStub {
	s := a.Stub()
	s.AllocatedResources = a.AllocatedResources
	return s
}

func failedOther() *api.Allocation {
	a := testAllocation()
	a.ID, a.Name = clitest.OtherID, "web.server[1]"
	a.ClientStatus, a.DeploymentStatus = api.AllocClientFailed, &api.AllocDeploymentStatus{Healthy: ptr(false)}
	return a
}

func failedPlacement() map[string]*api.PlacementMetrics {
	return map[string]*api.PlacementMetrics{"cache": {
		NodesEvaluated: 7, NodesFiltered: 4, NodesExhausted: 3, CoalescedFailures: 1,
		ConstraintFiltered: map[string]int{"${attr.kernel.name} = windows": 3, "missing drivers: firecracker": 1},
		DimensionExhausted: map[string]int{"memory": 2, "network: port 80 is taken": 1},
		ResourcesExhausted: map[string]*api.Resources{"redis": {MemoryMB: ptr(9000)}},
	}}
}

func testDeployment() *api.Deployment {
	return &api.Deployment{
		ID: clitest.DeplID, JobID: "web", JobVersion: 2, Status: api.DeploymentRunning, StatusDescription: "Instances are being replaced",
		Groups: map[string]*api.DeploymentState{
			"server": {DesiredTotal: 2, PlacedAllocs: 2, HealthyAllocs: 1, UnhealthyAllocs: 1, RequireProgressBy: clitest.Now.Add(9 * time.Minute)},
			"cache":  {DesiredTotal: 1},
		},
		ModifyTime: clitest.Ago(30 * time.Second),
	}
}

func TestPages(t *testing.T) {
	blocked := &api.Evaluation{
		ID: clitest.BlockID, JobID: "web", Priority: 50, Type: api.JobTypeService, TriggeredBy: api.TriggerQueuedAllocs, Status: api.EvalStatusBlocked,
		PreviousEval: clitest.EvalID, FailedGroups: failedPlacement(), ClassEligibility: map[string]bool{"v1:1": true, "v1:2": false},
		CreateTime: clitest.Ago(3 * time.Minute), ModifyTime: clitest.Ago(3 * time.Minute),
	}
	for name, write := range map[string]func(*term.Page){
		"jobs": func(p *term.Page) {
			stub := testJob().Stub(&api.JobSummary{Summary: map[string]api.GroupSummary{
				"server": {Running: 1, Failed: 1}, "cache": {Queued: 1},
			}})
			done := &api.JobListStub{ID: "nightly/periodic-1", Type: api.JobTypeBatch, Priority: 70, Status: api.JobStatusDead, Stop: true,
				JobSummary: &api.JobSummary{Summary: map[string]api.GroupSummary{"g": {Complete: 3}}}, SubmitTime: clitest.Ago(50 * time.Hour)}
			Jobs(p, []*api.JobListStub{stub, done}, false)
		},
		"job": func(p *term.Page) {
			s := &JobStatus{
				Job:         testJob(),
				Summary:     &api.JobSummary{Summary: map[string]api.GroupSummary{"server": {Running: 1, Failed: 1}, "cache": {Queued: 1}}},
				Allocations: []*api.AllocationListStub{stubOf(testAllocation()), stubOf(failedOther())},
				Deployment:  testDeployment(),
				Evaluations: []*api.Evaluation{blocked},
				Images:      testPins(),
			}
			Job(p, s, false)
			JobNext(p, s)
		},
		"allocation": func(p *term.Page) {
			a := testAllocation()
			Allocation(p, &AllocationStatus{Allocation: a, Stats: testStats(), Checks: map[string]*api.CheckStatus{"1": {
				Service: "web", Group: "server", Check: "healthz", Status: api.CheckStatusSuccess, Output: "ok\n", Timestamp: clitest.Now.Unix() - 2,
			}}}, false)
			AllocationNext(p, a)
		},
		"servers": func(p *term.Page) {
			Servers(p, []*api.ServerStatus{
				{ID: clitest.NodeID, Name: "db-1", Address: "10.0.0.1:4646", Version: "0.1.0", Status: api.ServerAlive, Leader: true, Voter: true, Healthy: true,
					Expires: clitest.Now.Add(60 * 24 * time.Hour).UnixNano()},
				{ID: clitest.AllocID, Name: "db-2", Address: "10.0.0.2:4646", Version: "0.1.0", Status: api.ServerFailed, Voter: true, LastContact: 90 * time.Second},
				{ID: clitest.EvalID, Address: "10.0.0.3:4646", Status: api.ServerAlive, Healthy: true, Trailing: 12},
				{ID: clitest.OtherID, Name: "db-4", Address: "10.0.0.4:4646", Status: api.ServerLeft, Voter: true},
			}, clitest.Now)
		},
		"crashes": func(p *term.Page) {
			a := testAllocation()
			a.Crashes = &api.Crashes{Count: 3, Total: 5, Reason: `task "server": exited with code 17`, At: clitest.Ago(12 * time.Second), Next: clitest.Ago(-20 * time.Second)}
			Allocation(p, &AllocationStatus{Allocation: a}, false)
			Job(p, &JobStatus{Job: testJob(), Allocations: []*api.AllocationListStub{stubOf(a), stubOf(failedOther())}}, false)
		},
		"allocation without traffic": func(p *term.Page) {
			a := testAllocation()
			a.ClientStatus, a.DesiredStatus = api.AllocClientRunning, api.AllocDesiredRun
			a.NetworkStatus = &api.AllocNetworkStatus{InterfaceName: "eth0", Address: "192.0.2.7", AddressIPv6: "2001:db8::7"}
			a.Serving = &api.Serving{Up: true, Reason: `check "ready" of service "web" fails`, Since: clitest.Now.Add(-3 * time.Second).UnixNano()}
			Allocation(p, &AllocationStatus{Allocation: a, Checks: map[string]*api.CheckStatus{
				"1": {Service: "web", Group: "server", Check: "ready", Kind: api.CheckKindReadiness, Status: api.CheckStatusFailure, Output: "script: /bin/ready: exit code 1 in 2ms: busy", Timestamp: clitest.Now.Unix() - 1},
				"2": {Service: "web", Group: "server", Check: "alive", Kind: api.CheckKindLiveness, Status: api.CheckStatusSuccess, Output: "tcp: connected", Timestamp: clitest.Now.Unix() - 2},
				"3": {Task: "server", Check: "monitor", Kind: api.CheckKindLiveness, Status: api.CheckStatusPending},
			}}, false)
		},
		"evaluation":      func(p *term.Page) { Evaluation(p, blocked, nil, testExplanation(), false) },
		"job explanation": func(p *term.Page) { JobExplanation(p, testExplanation()) },
		"node explanation": func(p *term.Page) {
			NodeExplanation(p, testExplanation().Groups[0].Nearest[0])
			NodeExplanation(p, &api.NodeExplanation{NodeName: "rack-2", Group: "cache", Instances: 1, Fits: true})
		},
		"evaluations": func(p *term.Page) { Evaluations(p, []*api.Evaluation{blocked}) },
		"troubles": func(p *term.Page) {
			Job(p, &JobStatus{Job: testJob(), Troubles: clitest.Troubles()}, false)
			p.Width = 60
			Troubles(p, "web", clitest.Troubles()[:1])
			p.Width = 0
			ill := testJob().Stub(&api.JobSummary{Summary: map[string]api.GroupSummary{"server": {Running: 3, Crashing: 2, Failing: 1}}})
			Jobs(p, []*api.JobListStub{ill, testJob().Stub(nil)}, false)
		},
		"deployment":  func(p *term.Page) { Deployment(p, testDeployment(), false) },
		"deployments": func(p *term.Page) { Deployments(p, []*api.Deployment{testDeployment()}) },
		"node": func(p *term.Page) {
			Node(p, &api.Node{
				ID: clitest.NodeID, Name: "rack-1", Datacenter: "dc1", NodePool: "default", HTTPAddr: "127.0.0.1:4646", Status: api.NodeStatusReady,
				StatusUpdatedAt: clitest.Now.Unix() - 3600, SchedulingEligibility: api.NodeEligible,
				Attributes: map[string]string{api.NodeAttrVersion: "0.1.0"},
				Resources:  &api.NodeResources{CPU: api.NodeCPU{CPUShares: 8000}, Memory: api.NodeMemory{MemoryMB: 16384}, Disk: api.NodeDisk{DiskMB: 51200}},
				Drivers: map[string]*api.DriverStatus{
					"raw_exec": {Detected: true, Healthy: true, HealthDescription: "Healthy"},
					"exec":     {Detected: true, HealthDescription: "needs root"},
				},
			}, nil, []*api.Allocation{testAllocation()}, false)
		},
		"node_drain": func(p *term.Page) {
			Drain(p, &api.NodeDrainStatus{
				NodeID: clitest.NodeID, Gone: 1, Ignored: 2,
				DrainStrategy: &api.DrainStrategy{
					DrainSpec: api.DrainSpec{Deadline: time.Hour, IgnoreSystemJobs: true}, StartedAt: clitest.Now.Add(-time.Minute), ForceDeadline: clitest.Now.Add(59 * time.Minute),
				},
				LastDrain: &api.DrainRecord{Status: api.DrainStatusDraining, Meta: map[string]string{"message": "new kernel", "ticket": "OPS-7"}},
				Allocations: []*api.DrainingAllocation{
					{ID: clitest.AllocID, Name: "web.server[0]", JobID: "web", TaskGroup: "server", ClientStatus: api.AllocClientRunning, State: api.DrainStopping,
						Description: "its node has not reported its end yet",
						Replacement: &api.DrainReplacement{ID: clitest.OtherID, NodeName: "rack-2", ClientStatus: api.AllocClientRunning, Healthy: ptr(true)}},
					{ID: clitest.OtherID, Name: "web.server[1]", JobID: "web", TaskGroup: "server", ClientStatus: api.AllocClientRunning, State: api.DrainWaiting,
						Description: "max_parallel is 1: waits for a2a2a2a2 (web.server[0]), which is pending"},
				},
			}, false)
			p.Line("")
			LastDrain(p, &api.DrainRecord{StartedAt: clitest.Now.Add(-time.Hour), UpdatedAt: clitest.Now.Add(-50 * time.Minute), Status: api.DrainStatusComplete, Meta: map[string]string{"message": "new kernel"}})
		},
		"acl": func(p *term.Page) {
			roles := []*api.ACLTokenRoleLink{{ID: clitest.OtherID, Name: "web-dev"}, {ID: clitest.EvalID, Name: "reader"}}
			created := clitest.Now.Add(-time.Hour)
			ACLTokens(p, []*api.ACLTokenListStub{
				{AccessorID: clitest.AllocID, Name: "ann", Type: api.ACLTokenClient, Policies: []string{"a", "b"}, Roles: roles, CreateTime: created},
				{AccessorID: clitest.OtherID, Type: api.ACLTokenClient, Policies: []string{"a"}, CreateTime: created, ExpirationTime: ptr(clitest.Now)},
				{AccessorID: clitest.EvalID, Type: api.ACLTokenManagement, CreateTime: created, ExpirationTime: ptr(clitest.Now.Add(time.Minute))},
			})
			ACLToken(p, &api.ACLToken{AccessorID: clitest.AllocID, SecretID: "secret", Type: api.ACLTokenClient, Roles: roles, CreateTime: created})
			ACLToken(p, &api.ACLToken{AccessorID: clitest.AllocID, Type: api.ACLTokenManagement, CreateTime: created, ExpirationTime: ptr(created)})
			ACLDecision(p, &api.ACLDecision{Capability: "node:write", Object: "node", Reason: "it is so"})
			ACLDecision(p, &api.ACLDecision{Allowed: true, Capability: "node:write", Object: "node", Reason: "it is so", Policies: []string{"a", "b"}})
		},
		"nodes": func(p *term.Page) {
			NodesWithDrains(p, []*api.NodeListStub{
				{ID: clitest.NodeID, Name: "rack-1", Datacenter: "dc1", NodePool: "default", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeIneligible, Drain: true},
				{ID: clitest.OtherID, Name: "rack-2", Datacenter: "dc1", NodePool: "default", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
					SilentSince:       clitest.Now.Unix() - 40,
					StatusDescription: "no heartbeat, but 400 of 1000 nodes fell silent together: a broken network is likelier than so many losses"},
			}, map[string]int{clitest.NodeID: 3}, false)
		},
		"placement": func(p *term.Page) {
			PlacementFailures(p, failedPlacement())
			PlacementFailures(p, map[string]*api.PlacementMetrics{
				"none": {NodesAvailable: map[string]int{"dc2": 0}},
				"pool": {NodePool: "gpu"},
			})
		},
		"plan": func(p *term.Page) {
			JobPlan(p, &api.PlanJobResponse{
				JobModifyIndex: 42,
				Annotations: &api.PlanAnnotations{DesiredUpdates: map[string]*api.DesiredUpdates{
					"server": {DestructiveUpdate: 1, Ignore: 1, Preemptions: 1}, "cache": {Place: 3},
				}, PreemptedAllocs: []*api.AllocationListStub{{ID: clitest.OtherID, Name: "sum.work[2]", NodeName: "rack-1"}}},
				Nodes:        map[string]map[string]int{"server": {"rack-1": 1}, "cache": {"rack-1": 2, "rack-2": 1}},
				FailedGroups: failedPlacement(),
				Diff:         testDiff(),
				Plans:        []*api.Plan{clitest.CanaryPlan()},
			}, &api.PlanJobRequest{Job: testJob()}, []string{"-var", "'a=b c'", "web.hcl"})
		},
		"plan-periodic": func(p *term.Page) {
			JobPlan(p, &api.PlanJobResponse{
				Annotations:        &api.PlanAnnotations{},
				Start:              map[string]*api.DesiredUpdates{"report": {Place: 1}},
				Nodes:              map[string]map[string]int{"report": {"rack-2": 1}},
				NextPeriodicLaunch: clitest.Now.Add(5 * time.Minute),
			}, &api.PlanJobRequest{Job: testJob()}, []string{"nightly.hcl"})
		},
		"job-parent": func(p *term.Page) {
			j := testJob()
			j.ID, j.Name, j.Type = "import", "import", api.JobTypeBatch
			j.Parameterized = &api.Parameterized{Payload: api.PayloadOptional, MetaRequired: []string{"day"}}
			summary := &api.JobSummary{Children: &api.JobChildrenSummary{Running: 1, Dead: 11}}
			var children []*api.JobListStub
			for i := range 12 {
				children = append(children, &api.JobListStub{ID: fmt.Sprintf("import/dispatch-%d-abcdef12", 1773500000-i), Status: api.JobStatusDead, SubmitTime: clitest.Ago(time.Duration(i+1) * time.Minute)})
			}
			Job(p, &JobStatus{Job: j, Summary: summary, Children: children}, false)
		},
		"history": func(p *term.Page) {
			older := testJob()
			older.Version, older.Stable = 1, true
			History(p, &api.JobVersionsResponse{Versions: []*api.Job{testJob(), older}, Diffs: []*api.JobDiff{testDiff()}})
		},
	} {
		p := &term.Page{Now: clitest.Now}
		write(p)
		clitest.Golden(t, "pages/"+name+".txt", p.String())
	}
}

func testDiff() *api.JobDiff {
	return &api.JobDiff{Type: api.DiffEdited, ID: "web", Fields: []*api.FieldDiff{
		{Type: api.DiffEdited, Name: "Priority", Old: "50", New: "60"},
		{Type: api.DiffAdded, Name: "Meta[team]", New: "shop"},
	}, Groups: []*api.GroupDiff{
		{Type: api.DiffEdited, Name: "server", Updates: map[string]uint64{"create/destroy update": 1, "ignore": 1}, Tasks: []*api.TaskDiff{
			{Type: api.DiffEdited, Name: "http", Annotations: []string{"forces create/destroy update"}, Fields: []*api.FieldDiff{
				{Type: api.DiffEdited, Name: "Driver", Old: "raw_exec", New: "exec"},
			}, Objects: []*api.ObjectDiff{{Type: api.DiffAdded, Name: "Lifecycle", Fields: []*api.FieldDiff{
				{Type: api.DiffAdded, Name: "Hook", New: "prestart"},
			}}}},
		}},
		{Type: api.DiffAdded, Name: "cache", Updates: map[string]uint64{"create": 1}},
	}}
}

// testExplanation is of a job that waits for memory.
func testExplanation() *api.JobExplanation {
	near := &api.NodeExplanation{
		NodeID: clitest.NodeID, NodeName: "rack-1", Datacenter: "dc1", NodePool: "default", Group: "cache",
		Obstacles: []api.Obstacle{
			{Filter: api.FilterResource, Reason: "not enough memory", Dimension: "memory", Needed: 512, Free: 300},
			{Filter: api.FilterPort, Reason: "port 8080 is taken"},
		},
	}
	return &api.JobExplanation{
		Namespace: "default", JobID: "web", Version: 3, Status: api.JobStatusRunning,
		BlockedEval: "6f2d1e5a-0000-4000-8000-000000000001",
		Groups: []*api.GroupExplanation{
			{
				Group: "cache", Count: 5, Placed: 3, Waiting: 2, Nodes: 4, Nearest: []*api.NodeExplanation{near},
				Obstacles: []api.ObstacleCount{
					{Filter: api.FilterResource, Reason: "not enough memory", Nodes: 3},
					{Filter: api.FilterConstraint, Reason: "${attr.kernel.name} = linux", Nodes: 1},
				},
			},
			{Group: "server", Count: 1, Placed: 1, Nodes: 4, Fitting: 2, Obstacles: []api.ObstacleCount{{Filter: api.FilterPort, Reason: "port 80 is taken", Nodes: 2}}},
		},
		Unblock: []string{"group \"cache\", node rack-1: 212 MiB more of memory, and a port becomes free (port 8080 is taken)"},
	}
}

func testStats() *api.AllocationStats {
	return &api.AllocationStats{Tasks: map[string]*api.TaskStats{"http": {ResourceUsage: &api.ResourceUsage{
		MemoryStats: &api.MemoryStats{RSS: 33 << 20, Usage: 33 << 20}, CPUStats: &api.CPUStats{TotalTicks: 51.4},
	}}}}
}
