// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A Service describes how others find a group or task and judge its health: a name, a port
// and checks.
type Service struct {
	Name              string
	Tags              []string
	CanaryTags        []string
	EnableTagOverride bool
	PortLabel         string
	AddressMode       string
	Address           string
	Checks            []*Check
	CheckRestart      *CheckRestart
	Connect           map[string]any // parsed so that it can be rejected by name
	Meta              map[string]string
	CanaryMeta        map[string]string
	TaggedAddresses   map[string]string
	TaskName          string
	OnUpdate          string
	Identity          *Identity
	Weights           *ServiceWeights
	Provider          string
	Cluster           string
	Kind              string
}

// ServiceWeights are traffic weights by health.
type ServiceWeights struct {
	Passing int
	Warning int
}

// A Check probes the health of a running instance.
type Check struct {
	Name                   string
	Type                   string // one of the Check constants
	Command                string // script
	Args                   []string
	Path                   string // http
	Protocol               string // http: "http" or "https"
	PortLabel              string
	Expose                 bool
	AddressMode            string
	Advertise              string
	Interval               time.Duration
	Timeout                time.Duration
	InitialStatus          string
	Notes                  string
	TLSServerName          string
	TLSSkipVerify          bool
	Header                 map[string][]string
	Method                 string
	CheckRestart           *CheckRestart
	GRPCService            string
	GRPCUseTLS             bool
	TaskName               string
	SuccessBeforePassing   int
	FailuresBeforeCritical int
	FailuresBeforeWarning  int
	Body                   string
	OnUpdate               string
	// Kind selects the effect of the check: one of the CheckKind constants. "" is readiness,
	// and a restart if check_restart is set.
	Kind         string        `json:",omitempty"`
	InitialDelay time.Duration `json:",omitempty"` // delay from the start of the task to the first probe
	// StartTimeout is the time within which the check must pass for the first time;
	// afterwards the task counts as crashed. 0: no limit.
	StartTimeout time.Duration `json:",omitempty"`
}

// Values of Check.Kind.
const (
	CheckKindLiveness  = "liveness"  // the instance is not RUNNING until it passes, and has crashed when it fails
	CheckKindReadiness = "readiness" // the instance receives no traffic while it fails
)

// Values of Check.Type.
const (
	CheckHTTP   = "http"
	CheckTCP    = "tcp"
	CheckGRPC   = "grpc"
	CheckScript = "script"
)

// CheckRestart restarts the task after Limit consecutive failures, without those within Grace
// of its start.
type CheckRestart struct {
	Limit          int
	Grace          *time.Duration
	IgnoreWarnings bool
}

// Check statuses.
const (
	CheckStatusPending = "pending"
	CheckStatusSuccess = "success"
	CheckStatusFailure = "failure"
)

// A CheckStatus is the last result of one check of an allocation.
type CheckStatus struct {
	ID         string
	Check      string
	Group      string
	Mode       string // "healthiness" or "readiness"
	Output     string
	Service    string
	Task       string
	Status     string // one of the CheckStatus constants
	StatusCode int
	Timestamp  int64 // Unix seconds
	// Kind is one of the CheckKind constants.
	Kind string `json:",omitempty"`
}
