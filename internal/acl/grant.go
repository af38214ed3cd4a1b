// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import "slices"

// A grant is a short name for several capabilities: a `policy`, or a capability that includes
// others.
type grant map[string]Set

// submitParts are the capabilities that submit-job includes.
var submitParts = setOf(RegisterJob, PlanJob, RevertJob, DeregisterJob, PurgeJob, EvaluateJob, TagJobVersion, StableJob,
	FailDeployment, PauseDeployment, PromoteDeployment, UnblockDeployment, CancelDeployment, SetAllocHealth,
	GCAllocation, PauseAllocation, ForcePeriodicJob, DeleteServiceRegistration)

// included are the further capabilities that a capability includes.
var included = map[Capability]Set{
	SubmitJob:       submitParts | setOf(DispatchJob, ScaleJob, ParseJob),
	ReadJob:         setOf(ReadJobScaling),
	ReadFS:          setOf(ReadLogs),
	HostVolumeWrite: setOf(HostVolumeCreate, HostVolumeRegister, HostVolumeDelete, HostVolumeRead),
	ReadVariables:   setOf(ListVariables),
	WriteVariables:  setOf(ListVariables),
	MountReadWrite:  setOf(MountReadOnly),
	WriteNode:       setOf(ReadNode),
	WriteAgent:      setOf(ReadAgent),
	WriteOperator:   setOf(ReadOperator, SaveSnapshot, ReadLicense, ReadKeyring, RotateKeyring, DeleteKeyring),
	ReadOperator:    setOf(ReadLicense),
	WriteQuota:      setOf(ReadQuota),
	ReadPlugins:     setOf(ListPlugins),
	WritePlugins:    setOf(ListPlugins, ReadPlugins),
}

// with returns a capability and those that it includes.
func with(list ...Capability) Set {
	s := setOf(list...)
	for _, c := range list {
		s |= included[c]
	}
	return s
}

var (
	namespaceRead = []Capability{ListJobs, ParseJob, ReadJob, ExplainJob, CSIListVolume, CSIReadVolume, HostVolumeRead,
		ListScalingPolicies, ReadScalingPolicy, ReadJobScaling}
	namespaceWrite = []Capability{SubmitJob, DispatchJob, ReadLogs, ReadFS, AllocExec, AllocLifecycle, CSIWriteVolume,
		CSIMountVolume, HostVolumeWrite, ScaleJob, SubmitRecommendation,
		DeployStack, ShiftStack, LifecycleStack, OperatePlan, RestartJob, MarkDomain}
	namespaceScale = []Capability{ListScalingPolicies, ReadScalingPolicy, ReadJobScaling, ScaleJob, ReadJob, SubmitRecommendation}
)

// dispositions are the values of `policy` by scope.
var dispositions = [scopes]grant{
	Namespace:  {"deny": denied, "read": with(namespaceRead...), "write": with(slices.Concat(namespaceRead, namespaceWrite)...), "scale": with(namespaceScale...)},
	Variables:  {},
	NodePool:   {"deny": denied, "read": with(ReadPool), "write": with(ReadPool, WritePool, DeletePool)},
	HostVolume: {"deny": denied, "read": with(MountReadOnly), "write": with(MountReadOnly, MountReadWrite)},
	Node:       {"deny": denied, "read": with(ReadNode), "write": with(WriteNode)},
	Agent:      {"deny": denied, "read": with(ReadAgent), "write": with(WriteAgent)},
	Operator:   {"deny": denied, "read": with(ReadOperator), "write": with(WriteOperator)},
	Quota:      {"deny": denied, "read": with(ReadQuota), "write": with(WriteQuota)},
	Plugin:     {"deny": denied, "list": with(ListPlugins), "read": with(ReadPlugins), "write": with(WritePlugins)},
}

// listed are the names that `capabilities` of a scope may contain.
var listed = func() (all [scopes]grant) {
	for scope := Namespace; scope < scopes; scope++ {
		all[scope] = grant{"deny": denied}
		for _, c := range scope.all() {
			all[scope][names[c]] = with(c)
		}
	}
	// Only a policy grants these two.
	delete(all[Operator], names[ReadOperator])
	delete(all[Operator], names[WriteOperator])
	return all
}()
