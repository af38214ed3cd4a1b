// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A StackSpec is the stack block of a job: it makes the job a unit, whose versions live
// side by side.
type StackSpec struct {
	Version    string             // major.minor.patch
	Depends    []*StackDependency `json:",omitempty"`
	Policy     *RetentionPolicy   `json:",omitempty"` // nil: the default of the job's shape
	InitialTTL *time.Duration     `json:",omitempty"` // from the moment that the stack runs
	ExtendTTL  *time.Duration     `json:",omitempty"` // granted by a policy that keeps the stack
	Grace      *time.Duration     `json:",omitempty"` // of garbage, before it is removed
	Idle       *time.Duration     `json:",omitempty"` // how long a current target is kept without callers
	MaxStacks  *int               `json:",omitempty"` // live stacks of the unit
	Shift      *ShiftSpec         `json:",omitempty"`
	Expose     []*StackExposure   `json:",omitempty"`
	Warm       *WarmUp            `json:",omitempty"`
}

// A StackDependency is a unit that a stack calls.
type StackDependency struct {
	Unit     string
	Version  string // major.minor: the same major version, and at least this minor version
	Optional bool   `json:",omitempty"` // reports whether a deployment may go ahead without it
	// Found is set by the servers when they deploy the stack; nil if they found no stack then.
	Found *FoundDependency `json:",omitempty"`
}

// IsNamed reports whether the tasks of the stack receive the dependency's address: those of
// an optional one that was absent when the stack was deployed do not.
func (d *StackDependency) IsNamed() bool { return d.Found != nil || !d.Optional }

// Wants returns the feature version that the dependency asks for: the zero version if it is invalid.
func (d *StackDependency) Wants() FeatureVersion {
	v, err := ParseFeatureVersion(d.Version)
	if err != nil {
		return FeatureVersion{}
	}
	return v
}

// A StackExposure is a host name that sends traffic from outside to a unit.
type StackExposure struct {
	Host    string
	Sticky  string `json:",omitempty"` // StickyClient, or "" for none
	Preview string `json:",omitempty"` // who may preview the stack, one of the Preview constants; "": no request
}

// StickyClient as StackExposure.Sticky keeps a client on one stack while shares are constant.
const StickyClient = "client"

// Values of StackExposure.Preview.
const (
	PreviewTrusted = "trusted" // requests from trusted proxies
	PreviewPublic  = "public"  // all requests
)

// Names of retention policies. The last four are spellings of RetainLatest with numbers.
const (
	RetainActive          = "retain-active"
	RetainLatest          = "retain-latest"
	RetainTwoMajor        = "retain-latest-two-major"
	RetainTwoFeature      = "retain-latest-two-feature"
	RetainUntilDeprecated = "retain-until-deprecated"
	RetainAlways          = "retain-always"
)

// A RetentionPolicy decides whether a stack that runs is kept.
type RetentionPolicy struct {
	Name string // one of the Retain constants
	// Majors, Features and Patches are, for retain-latest, the number of newest major
	// versions of the unit, of newest minor versions in each, and of newest patches in
	// each of those. 0 is 1.
	Majors   int `json:",omitempty"`
	Features int `json:",omitempty"`
	Patches  int `json:",omitempty"`
}

// Defaults of a stack's times.
const (
	DefaultInitialTTL  = 30 * time.Minute
	DefaultExtendTTL   = 30 * time.Minute
	DefaultGrace       = 24 * time.Hour
	DefaultFailedGrace = time.Hour
	DefaultIdle        = 7 * 24 * time.Hour
	DefaultMaxStacks   = 20
)

// orDefaults returns the spec, or an empty one for a stack that was registered without.
func (s *StackSpec) orDefaults() *StackSpec {
	if s == nil {
		return &StackSpec{}
	}
	return s
}

// TTL returns the time that a stack has from the moment that it runs.
func (s *StackSpec) TTL() time.Duration {
	return durationOr(s.orDefaults().InitialTTL, DefaultInitialTTL)
}

// Extension returns the time that a policy grants when it keeps a stack.
func (s *StackSpec) Extension() time.Duration {
	return durationOr(s.orDefaults().ExtendTTL, DefaultExtendTTL)
}

// GraceAfter returns how long a stack that has ended with a status runs before it is removed.
func (s *StackSpec) GraceAfter(status string) time.Duration {
	if status == StackFailed {
		return min(durationOr(s.orDefaults().Grace, DefaultFailedGrace), DefaultFailedGrace)
	}
	return durationOr(s.orDefaults().Grace, DefaultGrace)
}

// IdleTime returns how long a current target without callers is kept.
func (s *StackSpec) IdleTime() time.Duration { return durationOr(s.orDefaults().Idle, DefaultIdle) }

// StackLimit returns how many live stacks the unit may have.
func (s *StackSpec) StackLimit() int {
	if s == nil || s.MaxStacks == nil {
		return DefaultMaxStacks
	}
	return *s.MaxStacks
}

// ShiftPolicy returns the shift block, or nil.
func (s *StackSpec) ShiftPolicy() *ShiftSpec {
	if s == nil {
		return nil
	}
	return s.Shift
}

func durationOr(d *time.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return *d
}

// DefaultRetention returns the policy of a stack whose job names none.
func DefaultRetention(shape string) RetentionPolicy {
	switch shape {
	case ShapeService:
		return RetentionPolicy{Name: RetainActive}
	case ShapeExternal:
		return RetentionPolicy{Name: RetainUntilDeprecated}
	}
	return RetentionPolicy{Name: RetainLatest}
}

// Normalize returns the policy with its numbers: the spellings two-major and two-feature
// become retain-latest.
func (p RetentionPolicy) Normalize() RetentionPolicy {
	switch p.Name {
	case RetainTwoMajor:
		p = RetentionPolicy{Name: RetainLatest, Majors: 2}
	case RetainTwoFeature:
		p = RetentionPolicy{Name: RetainLatest, Features: 2}
	}
	if p.Name == RetainLatest {
		p.Majors, p.Features, p.Patches = max(p.Majors, 1), max(p.Features, 1), max(p.Patches, 1)
	}
	return p
}
