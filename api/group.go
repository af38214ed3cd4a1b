// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A Group is a set of tasks that run together on one node and share a directory and
// network. Its Count copies, the instances, are placed independently.
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
	ShutdownDelay             *time.Duration // time between leaving the catalog and the kill signal
	MaxRunDuration            *time.Duration // maximum runtime of an allocation
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

// A MetricTag is a label on an instance's metrics: a fixed text, or a property of the
// instance.
type MetricTag struct {
	Static  string `json:",omitempty"`
	Dynamic string `json:",omitempty"` // one of the MetricTag constants
}

// Values of MetricTag.Dynamic.
const (
	MetricTagIndex      = "INDEX"       // the instance's index
	MetricTagInstanceID = "INSTANCE_ID" // the allocation's id
)

// Size returns the number of instances of the group that should run (1 if unset).
func (g *Group) Size() int {
	if g.Count == nil {
		return 1
	}
	return *g.Count
}

// LostAfter returns the time for which an instance may run on a silent node before it
// counts as lost; 0: none.
func (g *Group) LostAfter() time.Duration {
	switch {
	case g.Disconnect != nil && g.Disconnect.LostAfter != nil:
		return *g.Disconnect.LostAfter
	case g.MaxClientDisconnect != nil:
		return *g.MaxClientDisconnect
	}
	return 0
}

// StopOnClientAfter returns the time for which a disconnected agent lets an instance run;
// 0: no limit.
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

// Restart configures how the node agent restarts a failed task in place.
type Restart struct {
	Interval        *time.Duration
	Attempts        *int
	Delay           *time.Duration // before each restart, plus up to a quarter of jitter
	Mode            *string
	RenderTemplates *bool
	// Immediate is the number of consecutive restarts without delay, before the delays
	// begin. They count as attempts.
	Immediate *int `json:",omitempty"`
	// DelayFunction determines how Delay grows from restart to restart, up to MaxDelay:
	// one of the Delay constants, constant by default.
	DelayFunction *string        `json:",omitempty"`
	MaxDelay      *time.Duration `json:",omitempty"`
	// ResetAfter is the time for which a task must be healthy to reset its restart count.
	// If set, Attempts counts restarts since the last reset, and Interval is ignored.
	ResetAfter *time.Duration `json:",omitempty"`
}

// Values of Restart.Mode: the action when Attempts within Interval are used up.
const (
	RestartModeFail  = "fail"  // the allocation fails, and may be rescheduled
	RestartModeDelay = "delay" // wait for the next interval, then continue
)

// Reschedule configures how a new allocation replaces a failed one.
type Reschedule struct {
	Attempts      *int
	Interval      *time.Duration
	Delay         *time.Duration
	DelayFunction *string
	MaxDelay      *time.Duration
	Unlimited     *bool
	// Immediate is the number of consecutive attempts without delay, before the delays
	// begin. They count as attempts.
	Immediate *int `json:",omitempty"`
}

// Values of Reschedule.DelayFunction.
const (
	DelayConstant    = "constant"
	DelayExponential = "exponential"
	DelayFibonacci   = "fibonacci"
)

// Recovery configures where a failed or lost instance recovers.
type Recovery struct {
	// PermanentAfter is the time for which an instance recovers on its own node, in its
	// own directory. After that, it starts on any node with an empty directory.
	PermanentAfter *time.Duration
}

// Migrate configures how instances leave a draining node.
type Migrate struct {
	MaxParallel     *int
	HealthCheck     *string
	MinHealthyTime  *time.Duration
	HealthyDeadline *time.Duration
	// Recreate stops an instance before its replacement starts, for instances that must
	// never run twice. Otherwise, the instance runs until the replacement serves.
	Recreate *bool
}

// Recreates reports whether an instance stops on a draining node before its replacement
// starts: the job requests it, or the instance's data moves along.
func (g *Group) Recreates() bool {
	d := g.EphemeralDisk
	return g.Migrate != nil && g.Migrate.Recreate != nil && *g.Migrate.Recreate || d != nil && d.Migrate != nil && *d.Migrate
}

// Disconnect configures the handling of an allocation whose node stops responding.
type Disconnect struct {
	// LostAfter is the time for which the node may be disconnected and reconnect with its
	// allocation. Until then the allocation is unknown, afterwards lost.
	LostAfter *time.Duration
	// StopOnClientAfter is the time of disconnection after which the node itself stops the
	// allocation. No replacement starts before.
	StopOnClientAfter *time.Duration
	Replace           *bool   // start a replacement meanwhile
	Reconcile         *string // one of the Reconcile constants
}

// EphemeralDisk configures the allocation's own directory.
type EphemeralDisk struct {
	Sticky  *bool
	Migrate *bool
	SizeMB  *int
}

// A VolumeRequest requests a volume that tasks mount.
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

// VolumeMountOptions are passed to the volume's plugin.
type VolumeMountOptions struct {
	FSType     string
	MountFlags []string
}

// Consul is parsed only to reject it by name: Reeve has its own catalog.
type Consul struct {
	Namespace string
	Cluster   string
	Partition string
}

// A Constraint is a condition that a node must meet.
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

// An Affinity is a preference: matching nodes score Weight higher.
type Affinity struct {
	LTarget string
	RTarget string
	Operand string
	Weight  *int8 // -100..100, not 0; 50 by default
}

// A Spread distributes instances over an attribute's values.
type Spread struct {
	Attribute string
	Weight    *int8           // 0..100; 50 by default
	Targets   []*SpreadTarget `json:"SpreadTarget"`
}

// A SpreadTarget is the intended share of instances for one value.
type SpreadTarget struct {
	Value   string
	Percent uint8
}
