// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	nomad "github.com/hashicorp/nomad/api"

	"github.com/reeve-run/reeve/api"
)

// shapes are the routes whose answers other clients read, with what they read
// them into. ALLOC and the like stand for ids.
var shapes = []struct {
	path string
	into any
}{
	{"/v1/jobs", []*nomad.JobListStub{}},
	{"/v1/job/web", &nomad.Job{}},
	{"/v1/job/web/summary", &nomad.JobSummary{}},
	{"/v1/job/web/allocations", []*nomad.AllocationListStub{}},
	{"/v1/job/web/evaluations", []*nomad.Evaluation{}},
	{"/v1/job/web/deployments", []*nomad.Deployment{}},
	{"/v1/job/web/deployment", &nomad.Deployment{}},
	{"/v1/job/web/scale", &nomad.JobScaleStatusResponse{}},
	{"/v1/job/web/submission", &nomad.JobSubmission{}},
	{"/v1/allocations?resources=true", []*nomad.AllocationListStub{}},
	{"/v1/allocation/ALLOC", &nomad.Allocation{}},
	{"/v1/evaluations", []*nomad.Evaluation{}},
	{"/v1/evaluation/EVAL?related=true", &nomad.Evaluation{}},
	{"/v1/evaluation/EVAL/allocations", []*nomad.AllocationListStub{}},
	{"/v1/deployments", []*nomad.Deployment{}},
	{"/v1/nodes?resources=true&os=true", []*nomad.NodeListStub{}},
	{"/v1/node/NODE", &nomad.Node{}},
	{"/v1/node/NODE/allocations", []*nomad.Allocation{}},
	{"/v1/node/pools", []*nomad.NodePool{}},
	{"/v1/namespaces", []*nomad.Namespace{}},
	{"/v1/agent/self", &nomad.AgentSelf{}},
	{"/v1/agent/members", &nomad.ServerMembers{}},
	{"/v1/operator/scheduler/configuration", &nomad.SchedulerConfigurationResponse{}},
	{"/v1/operator/raft/configuration", &nomad.RaftConfiguration{}},
	{"/v1/operator/autopilot/configuration", &nomad.AutopilotConfiguration{}},
	{"/v1/operator/autopilot/health", &nomad.OperatorHealthReply{}},
	{"/v1/scaling/policies", []*nomad.ScalingPolicyListStub{}},
}

// decided are the fields that may be null in an answer, or not there: each is so
// in Nomad's answers, too, or means nothing here. Whatever is not named has to be
// there, and not null, because clients follow it without asking.
var decided = map[string]string{
	"AllocatedTaskResources": "Devices Networks",                                                                          // no list: none
	"Allocation":             "DeploymentStatus NetworkStatus PreemptedAllocations RescheduleTracker Services TaskStates", // nothing is known yet, or happened
	"AllocationListStub":     "AllocatedResources DeploymentStatus PreemptedAllocations RescheduleTracker TaskStates",
	"AllocationMetric":       "ClassExhausted ClassFiltered ConstraintFiltered DimensionExhausted QuotaExhausted ResourcesExhausted Scores ScoreMetaData", // counts of nothing
	"DeploymentState":        "PlacedCanaries",
	"DesiredTransition":      "ForceReschedule Migrate MigrateDisablePlacement NoShutdownDelay Reschedule", // nobody asked
	"DriverInfo":             "Attributes",
	"Evaluation":             "ClassEligibility FailedTGAllocs MissingNonNodeResources PlanAnnotations RelatedEvals",
	"Job":                    "Affinities Constraints Migrate Multiregion ParameterizedJob Payload Periodic Reschedule Spreads UI VersionTag",
	"JobListStub":            "Meta", // only if asked for
	"JobSubmission":          "VariableFlags",
	"LogConfig":              "Enabled", // deprecated: Disabled says it
	"Namespace":              "Capabilities ConsulConfiguration Meta NodePoolConfiguration OptionalExtraClaims RequiredExtraClaims VaultConfiguration",
	"NetworkResource":        "CNI DNS DynamicPorts MBits ReservedPorts",                        // MBits is deprecated
	"OperatorHealthReply":    "OptimisticFailureTolerance ReadReplicas RedundancyZones Upgrade", // of Nomad's enterprise version
	// Resources and Reserved are deprecated: NodeResources and ReservedResources say it.
	"Node":                   "CSIControllerPlugins CSINodePlugins DrainStrategy GCVolumesOnNodeGC HostNetworks HostVolumes LastDrain Links NodeMaxAllocs Reserved Resources SecretID",
	"NodeCpuResources":       "ReservableCpuCores",
	"NodeEvent":              "Details",
	"NodeListStub":           "LastDrain",
	"NodePool":               "Meta NodeIdentityTTL SchedulerConfiguration",
	"NodeResources":          "Devices",
	"Resources":              "Devices NUMA Networks",
	"ScalingPolicy":          "Policy",
	"SchedulerConfiguration": "NodeLimitForFeasibilityChecks", // every node is looked at
	"Task": "Actions Affinities Artifacts CSIPluginConfig Constraints Consul DispatchPayload Env Identities Identity Lifecycle Meta " +
		"ScalingPolicies Schedule Secrets Services Templates Vault VolumeMounts",
	"TaskGroup": "Affinities Constraints Consul Disconnect MaxClientDisconnect MaxRunDuration Meta PreventRescheduleOnLost Services " +
		"ShutdownDelay Spreads StopAfterClientDisconnect Volumes",
	// What a task may ask for of a disk, and IOPS, mean nothing: its group's disk is what counts.
	"Request": "Devices DiskMB IOPS NUMA Networks SecretsMB",
}

func TestAnswersHaveWhatOtherClientsRead(t *testing.T) {
	h := newHarness(t)
	ids := h.populate()
	for _, s := range shapes {
		path := s.path
		for name, id := range ids {
			path = strings.ReplaceAll(path, name, id)
		}
		var got any
		h.get(path, &got)
		found := map[string]string{}
		collectLacking(reflect.TypeOf(s.into), got, "", found)
		for _, field := range slices.Sorted(maps.Keys(found)) {
			owner, name, _ := strings.Cut(field, ".")
			if !slices.Contains(strings.Fields(decided[owner]), name) {
				t.Errorf("GET %s: %s is %s", s.path, field, found[field])
			}
		}
	}
}

// The command line of Nomad follows these without asking whether they are there.
func TestAllocationTellsWhatItHoldsInTheOlderForm(t *testing.T) {
	h := newHarness(t)
	ids := h.populate()
	var a nomad.Allocation
	h.get("/v1/allocation/"+ids["ALLOC"], &a)
	task := a.TaskResources["main"]
	if *a.Resources.CPU != 100 || *a.Resources.MemoryMB != 300 || *a.Resources.DiskMB != 300 || *task.CPU != 100 || *task.MemoryMB != 300 {
		t.Errorf("it holds %+v, its task %+v", a.Resources, task)
	}
	if port := a.Resources.Networks[0].DynamicPorts[0]; port.Label != "http" || port.Value == 0 || port.Value != a.AllocatedResources.Shared.Ports[0].Value {
		t.Errorf("its port is %+v, as resources have it, and %+v", port, a.AllocatedResources.Shared.Ports)
	}
	var raw struct {
		SharedResources    *nomad.Resources
		AllocatedResources struct{ TaskLifecycles map[string]any }
	}
	h.get("/v1/allocation/"+ids["ALLOC"], &raw)
	if lifecycle, ok := raw.AllocatedResources.TaskLifecycles["main"]; !ok || lifecycle != nil || *raw.SharedResources.DiskMB != 300 {
		t.Errorf("got %+v: want a main task without a lifecycle, and a disk of 300 MB", raw)
	}
}

// collectLacking finds the fields of a type that an answer does not have, or has
// as null, and says so by TYPE.FIELD.
func collectLacking(t reflect.Type, v any, at string, found map[string]string) {
	if v == nil {
		if at != "" {
			found[at] = "null"
		}
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		list, _ := v.([]any)
		for _, e := range list {
			collectLacking(t.Elem(), e, at, found)
		}
	case t.Kind() == reflect.Map:
		object, _ := v.(map[string]any)
		for _, e := range object {
			collectLacking(t.Elem(), e, "", found)
		}
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		object, ok := v.(map[string]any)
		if !ok {
			found[at] = "no object"
			return
		}
		owner := t.Name()
		if at == "Task.Resources" { // what a task asks for, not what it has
			owner = "Request"
		}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || f.Anonymous {
				continue
			}
			if name == "" {
				name = f.Name
			}
			field, there := object[name]
			if !there {
				found[owner+"."+name] = "absent"
				continue
			}
			collectLacking(f.Type, field, owner+"."+name, found)
		}
	}
}

// populate registers a node and a job that is placed on it, and returns ids by
// their names in shapes.
func (h *harness) populate() map[string]string {
	h.t.Helper()
	node := &api.Node{
		ID: "11111111-2222-3333-4444-555555555555", Name: "n", Datacenter: "dc1", HTTPAddr: "127.0.0.1:4646", NodePool: api.NodePoolDefault,
		Attributes: map[string]string{"os.name": "linux"}, Meta: map[string]string{},
		Resources: &api.NodeResources{CPU: api.NodeCPU{CPUShares: 4000, TotalCPUCores: 4}, Memory: api.NodeMemory{MemoryMB: 4000}, Disk: api.NodeDisk{DiskMB: 40000},
			Networks: []*api.Network{{Mode: "host", Device: "lo", IP: "127.0.0.1", CIDR: "127.0.0.1/32"}}},
		Reserved: &api.NodeReserved{}, Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
		Drivers: map[string]*api.DriverStatus{"mock": {Detected: true, Healthy: true}},
	}
	if _, err := h.server.RegisterNode(h.t.Context(), node); err != nil {
		h.t.Fatal(err)
	}
	h.do(http.MethodPut, "/v1/node/"+node.ID+"/heartbeat", "")
	job := testJob("web")
	job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	job.Groups[0].Scaling = &api.Scaling{Max: ptr(int64(3))}
	resp, err := h.client.Jobs().Register(h.t.Context(), &api.RegisterJobRequest{Job: job, Submission: &api.JobSubmission{Source: "job \"web\" {}", Format: "hcl2"}})
	if err != nil {
		h.t.Fatal(err)
	}
	var allocations []*api.AllocationListStub
	for index := uint64(1); len(allocations) == 0; {
		a := h.get(fmt.Sprintf("/v1/allocations?index=%d&wait=10s", index), &allocations)
		fmt.Sscan(a.header.Get("X-Nomad-Index"), &index)
	}
	return map[string]string{"NODE": node.ID, "ALLOC": allocations[0].ID, "EVAL": resp.EvalID}
}

func ptr[T any](v T) *T { return &v }
