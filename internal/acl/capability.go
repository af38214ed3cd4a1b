// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package acl

import (
	"iter"
	"math/bits"
	"strings"
)

// A Capability is a right that a rule grants.
type Capability uint8

// A Scope is the kind of object that a capability is for.
type Scope uint8

// Scopes.
const (
	Namespace Scope = iota
	Variables       // of a namespace, by path
	NodePool
	HostVolume
	Node
	Agent
	Operator
	Quota
	Plugin
	scopes
)

// Capabilities. Those of a namespace come first.
const (
	None Capability = iota

	ListJobs
	ParseJob
	ReadJob
	ExplainJob
	SubmitJob
	RegisterJob
	PlanJob
	RevertJob
	DeregisterJob
	PurgeJob
	EvaluateJob
	TagJobVersion
	StableJob
	FailDeployment
	PauseDeployment
	PromoteDeployment
	UnblockDeployment
	CancelDeployment
	SetAllocHealth
	GCAllocation
	PauseAllocation
	ForcePeriodicJob
	DeleteServiceRegistration
	DispatchJob
	ReadLogs
	ReadFS
	AllocExec
	AllocNodeExec
	AllocLifecycle
	ScaleJob
	ListScalingPolicies
	ReadScalingPolicy
	ReadJobScaling
	SubmitRecommendation
	SentinelOverride
	CSIRegisterPlugin
	CSIWriteVolume
	CSIReadVolume
	CSIListVolume
	CSIMountVolume
	HostVolumeCreate
	HostVolumeRegister
	HostVolumeRead
	HostVolumeWrite
	HostVolumeDelete
	DeployStack
	ShiftStack
	LifecycleStack
	OperatePlan
	RestartJob
	MarkDomain
	Delegate

	ListVariables
	ReadVariables
	WriteVariables
	DestroyVariables

	ReadPool
	WritePool
	DeletePool

	MountReadOnly
	MountReadWrite

	ReadNode
	WriteNode
	ReadAgent
	WriteAgent
	ReadOperator
	WriteOperator
	SaveSnapshot
	ReadLicense
	ReadKeyring
	RotateKeyring
	DeleteKeyring
	ReadQuota
	WriteQuota
	ListPlugins
	ReadPlugins
	WritePlugins

	capabilities
)

// names are the capabilities' names in rules and messages. Those that a rule grants only by its policy
// carry their scope.
var names = [capabilities]string{
	ListJobs: "list-jobs", ParseJob: "parse-job", ReadJob: "read-job", ExplainJob: "explain-job",
	SubmitJob: "submit-job", RegisterJob: "register-job", PlanJob: "plan-job", RevertJob: "revert-job",
	DeregisterJob: "deregister-job", PurgeJob: "purge-job", EvaluateJob: "evaluate-job",
	TagJobVersion: "tag-job-version", StableJob: "stable-job", FailDeployment: "fail-deployment",
	PauseDeployment: "pause-deployment", PromoteDeployment: "promote-deployment",
	UnblockDeployment: "unblock-deployment", CancelDeployment: "cancel-deployment",
	SetAllocHealth: "set-alloc-health-deployment", GCAllocation: "gc-allocation", PauseAllocation: "pause-allocation",
	ForcePeriodicJob: "force-periodic-job", DeleteServiceRegistration: "delete-service-registration",
	DispatchJob: "dispatch-job", ReadLogs: "read-logs", ReadFS: "read-fs", AllocExec: "alloc-exec",
	AllocNodeExec: "alloc-node-exec", AllocLifecycle: "alloc-lifecycle", ScaleJob: "scale-job",
	ListScalingPolicies: "list-scaling-policies", ReadScalingPolicy: "read-scaling-policy",
	ReadJobScaling: "read-job-scaling", SubmitRecommendation: "submit-recommendation",
	SentinelOverride: "sentinel-override", CSIRegisterPlugin: "csi-register-plugin",
	CSIWriteVolume: "csi-write-volume", CSIReadVolume: "csi-read-volume", CSIListVolume: "csi-list-volume",
	CSIMountVolume: "csi-mount-volume", HostVolumeCreate: "host-volume-create",
	HostVolumeRegister: "host-volume-register", HostVolumeRead: "host-volume-read",
	HostVolumeWrite: "host-volume-write", HostVolumeDelete: "host-volume-delete",
	DeployStack: "deploy-stack", ShiftStack: "shift-stack", LifecycleStack: "lifecycle-stack",
	OperatePlan: "operate-plan", RestartJob: "restart-job", MarkDomain: "mark-domain",
	Delegate: "delegate",

	ListVariables: "list", ReadVariables: "read", WriteVariables: "write", DestroyVariables: "destroy",
	ReadPool: "read", WritePool: "write", DeletePool: "delete",
	MountReadOnly: "mount-readonly", MountReadWrite: "mount-readwrite",
	ReadNode: "node:read", WriteNode: "node:write", ReadAgent: "agent:read", WriteAgent: "agent:write",
	ReadOperator: "operator:read", WriteOperator: "operator:write", SaveSnapshot: "snapshot-save",
	ReadLicense: "license-read", ReadKeyring: "keyring-read", RotateKeyring: "keyring-rotate",
	DeleteKeyring: "keyring-delete", ReadQuota: "quota:read", WriteQuota: "quota:write",
	ListPlugins: "plugin:list", ReadPlugins: "plugin:read", WritePlugins: "plugin:write",
}

// first are the first capabilities of the scopes, in ascending order.
var first = [scopes]Capability{
	Namespace: ListJobs, Variables: ListVariables, NodePool: ReadPool, HostVolume: MountReadOnly,
	Node: ReadNode, Agent: ReadAgent, Operator: ReadOperator, Quota: ReadQuota, Plugin: ListPlugins,
}

// kinds are the names of the scopes' rules.
var kinds = [scopes]string{
	Namespace: "namespace", Variables: "variables", NodePool: "node_pool", HostVolume: "host_volume",
	Node: "node", Agent: "agent", Operator: "operator", Quota: "quota", Plugin: "plugin",
}

// Scope returns the kind of object that the capability is for.
func (c Capability) Scope() Scope {
	s := scopes - 1
	for s > 0 && c < first[s] {
		s--
	}
	return s
}

// String returns the name of the capability, with its scope if other scopes have the same name.
func (c Capability) String() string {
	switch name := names[c]; c.Scope() {
	case Variables, NodePool:
		return kinds[c.Scope()] + ":" + name
	default:
		return name
	}
}

// String returns the name of the scope's rules.
func (s Scope) String() string { return kinds[s] }

// isLabeled reports whether the scope's rules have a label.
func (s Scope) isLabeled() bool { return s <= HostVolume }

// all returns the capabilities of the scope.
func (s Scope) all() []Capability {
	end := capabilities
	if s+1 < scopes {
		end = first[s+1]
	}
	list := make([]Capability, 0, end-first[s])
	for c := first[s]; c < end; c++ {
		list = append(list, c)
	}
	return list
}

// Capabilities yields all capabilities, by scope.
func Capabilities() iter.Seq[Capability] {
	return func(yield func(Capability) bool) {
		for c := None + 1; c < capabilities; c++ {
			if !yield(c) {
				return
			}
		}
	}
}

// Named returns the capability with a name, as String formats it.
func Named(name string) (Capability, bool) {
	for c := range Capabilities() {
		if c.String() == name {
			return c, true
		}
	}
	return None, false
}

// A Set is a set of capabilities of one scope. Sets of different scopes do not mix: each
// capability is a bit, counted from the scope's first.
type Set uint64

// denied is the capability that beats all others.
const denied Set = 1 << 63

func bit(c Capability) Set { return 1 << (c - first[c.Scope()]) }

func setOf(list ...Capability) Set {
	var s Set
	for _, c := range list {
		s |= bit(c)
	}
	return s
}

// Has reports whether the set permits a capability.
func (s Set) Has(c Capability) bool { return s&denied == 0 && s&bit(c) != 0 }

// IsDenied reports whether the set contains `deny`.
func (s Set) IsDenied() bool { return s&denied != 0 }

// isEmpty reports whether the set permits nothing.
func (s Set) isEmpty() bool { return s == 0 || s.IsDenied() }

// list returns the names of the permitted capabilities of a scope.
func (s Set) list(scope Scope) string {
	var list []string
	for ; s&^denied != 0; s &= s - 1 {
		list = append(list, names[first[scope]+Capability(bits.TrailingZeros64(uint64(s)))])
	}
	return strings.Join(list, ", ")
}
