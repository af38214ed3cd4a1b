// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A Group is a set of tasks that run together on one node, sharing directory
// and network. Count copies of it, the instances, are placed independently.
type Group struct {
	Name                      string
	Count                     *int
	Constraints               []*Constraint
	Affinities                []*Affinity
	Tasks                     []*Task
	Spreads                   []*Spread
	Volumes                   map[string]*VolumeRequest
	Restart                   *Restart `json:"RestartPolicy"`
	Disconnect                *Disconnect
	Reschedule                *Reschedule `json:"ReschedulePolicy"`
	EphemeralDisk             *EphemeralDisk
	Update                    *Update
	Migrate                   *Migrate
	Networks                  []*Network
	Meta                      map[string]string
	Services                  []*Service
	ShutdownDelay             *time.Duration // between leaving the catalog and the kill signal
	MaxRunDuration            *time.Duration // an allocation that runs longer is stopped
	StopAfterClientDisconnect *time.Duration // deprecated: Disconnect.StopOnClientAfter
	MaxClientDisconnect       *time.Duration // deprecated: Disconnect.LostAfter
	Scaling                   *Scaling
	Consul                    *Consul
	PreventRescheduleOnLost   *bool                 // deprecated: Disconnect.Replace
	Recovery                  *Recovery             `json:",omitempty"`
	Routes                    []*Route              `json:",omitempty"`
	MetricTags                map[string]*MetricTag `json:",omitempty"`
	Fate                      string                `json:",omitempty"` // one of the Fate constants; "" is FateShared
}

// A MetricTag is a label on what is measured of an instance: a fixed text, or a
// fact of the instance.
type MetricTag struct {
	Static  string `json:",omitempty"`
	Dynamic string `json:",omitempty"` // one of the MetricTag constants
}

// Values of MetricTag.Dynamic.
const (
	MetricTagIndex      = "INDEX"       // the instance's index
	MetricTagInstanceID = "INSTANCE_ID" // the allocation's id
)

// Size is how many instances of the group should run (1 when unset).
func (g *Group) Size() int {
	if g.Count == nil {
		return 1
	}
	return *g.Count
}

// LostAfter is how long an instance may run on a node that is not heard of
// before it counts as lost; 0: not at all.
func (g *Group) LostAfter() time.Duration {
	switch {
	case g.Disconnect != nil && g.Disconnect.LostAfter != nil:
		return *g.Disconnect.LostAfter
	case g.MaxClientDisconnect != nil:
		return *g.MaxClientDisconnect
	}
	return 0
}

// StopOnClientAfter is how long an agent that reaches no server lets an
// instance run; 0: for ever.
func (g *Group) StopOnClientAfter() time.Duration {
	switch {
	case g.Disconnect != nil && g.Disconnect.StopOnClientAfter != nil:
		return *g.Disconnect.StopOnClientAfter
	case g.StopAfterClientDisconnect != nil:
		return *g.StopAfterClientDisconnect
	}
	return 0
}

// Task returns the task of that name, or nil.
func (g *Group) Task(name string) *Task {
	for _, t := range g.Tasks {
		if t != nil && t.Name == name {
			return t
		}
	}
	return nil
}

// Restart says how the node agent restarts a failed task in place.
type Restart struct {
	Interval        *time.Duration
	Attempts        *int
	Delay           *time.Duration // before each restart, plus up to a quarter of jitter
	Mode            *string
	RenderTemplates *bool
	// Immediate is how many restarts in a row are made at once, before the delays
	// begin. They count as attempts.
	Immediate *int `json:",omitempty"`
	// DelayFunction makes Delay grow from restart to restart, up to MaxDelay: one of
	// the Delay constants, constant by default.
	DelayFunction *string        `json:",omitempty"`
	MaxDelay      *time.Duration `json:",omitempty"`
	// ResetAfter is how long a task must be well for its restarts to be forgotten.
	// With it Attempts counts since then, and Interval has no say.
	ResetAfter *time.Duration `json:",omitempty"`
}

// Values of Restart.Mode: what happens when Attempts within Interval are used up.
const (
	RestartModeFail  = "fail"  // the allocation fails, and may be rescheduled
	RestartModeDelay = "delay" // wait for the next interval, then go on
)

// Reschedule says how a failed allocation is replaced by a new one.
type Reschedule struct {
	Attempts      *int
	Interval      *time.Duration
	Delay         *time.Duration
	DelayFunction *string
	MaxDelay      *time.Duration
	Unlimited     *bool
	// Immediate is how many attempts in a row are made at once, before the delays
	// begin. They count as attempts.
	Immediate *int `json:",omitempty"`
}

// Values of Reschedule.DelayFunction.
const (
	DelayConstant    = "constant"
	DelayExponential = "exponential"
	DelayFibonacci   = "fibonacci"
)

// Recovery says where a failed or lost instance is recovered.
type Recovery struct {
	// PermanentAfter is how long an instance is recovered on its own node, in its
	// own directory, before it is given up there and started anywhere, anew.
	PermanentAfter *time.Duration
}

// Migrate says how a draining node's instances move.
type Migrate struct {
	MaxParallel     *int
	HealthCheck     *string
	MinHealthyTime  *time.Duration
	HealthyDeadline *time.Duration
	// Recreate has an instance stopped before its replacement is started, for what
	// must never run twice. Otherwise it goes on until the replacement serves.
	Recreate *bool
}

// Recreates reports whether what leaves a draining node is to be stopped before
// it is started elsewhere: the job says so, or its data goes along.
func (g *Group) Recreates() bool {
	d := g.EphemeralDisk
	return g.Migrate != nil && g.Migrate.Recreate != nil && *g.Migrate.Recreate || d != nil && d.Migrate != nil && *d.Migrate
}

// Disconnect says what happens to an allocation whose node stops answering.
type Disconnect struct {
	// LostAfter is how long the node may be out of reach and come back with its
	// allocation; until then that is unknown, afterwards lost.
	LostAfter *time.Duration
	// StopOnClientAfter has the node stop the allocation itself when it has been
	// out of reach for that long. Its instance is not started elsewhere before.
	StopOnClientAfter *time.Duration
	Replace           *bool   // start the instance elsewhere meanwhile
	Reconcile         *string // one of the Reconcile constants
}

// EphemeralDisk is the allocation's own directory.
type EphemeralDisk struct {
	Sticky  *bool
	Migrate *bool
	SizeMB  *int
}

// VolumeRequest asks for a volume that tasks mount.
type VolumeRequest struct {
	Name           string
	Type           string
	Source         string
	ReadOnly       bool
	Sticky         bool
	AccessMode     string
	AttachmentMode string
	MountOptions   *VolumeMountOptions
	PerAlloc       bool
}

// VolumeMountOptions are handed to the volume's plugin.
type VolumeMountOptions struct {
	FSType     string
	MountFlags []string
}

// Consul is parsed to be refused by name: Reeve has its own catalog.
type Consul struct {
	Namespace string
	Cluster   string
	Partition string
}

// Constraint is a condition that a node must meet.
type Constraint struct {
	LTarget string // usually ${attr.name}, ${meta.name} or ${node.name}
	RTarget string
	Operand string // one of the Operand constants
}

// Constraint and affinity operands.
const (
	OperandEqual          = "="
	OperandNotEqual       = "!="
	OperandLess           = "<"
	OperandLessOrEqual    = "<="
	OperandGreater        = ">"
	OperandGreaterOrEqual = ">="
	OperandRegexp         = "regexp"
	OperandVersion        = "version"
	OperandSemver         = "semver"
	OperandSetContains    = "set_contains"
	OperandSetContainsAll = "set_contains_all"
	OperandSetContainsAny = "set_contains_any"
	OperandIsSet          = "is_set"
	OperandIsNotSet       = "is_not_set"
	OperandDistinctHosts  = "distinct_hosts"
	OperandDistinctValue  = "distinct_property"
)

// Affinity is a wish: nodes that match score Weight higher.
type Affinity struct {
	LTarget string
	RTarget string
	Operand string
	Weight  *int8 // -100..100, not 0; 50 by default
}

// Spread asks for instances to be spread over an attribute's values.
type Spread struct {
	Attribute string
	Weight    *int8           // 0..100; 50 by default
	Targets   []*SpreadTarget `json:"SpreadTarget"`
}

// SpreadTarget is the share of instances wanted for one value.
type SpreadTarget struct {
	Value   string
	Percent uint8
}
