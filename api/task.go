// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A Task is one process (or container) of a group.
type Task struct {
	Name            string
	Driver          string
	User            string
	Lifecycle       *Lifecycle
	Config          map[string]any // config of the driver; each driver checks its own keys
	Constraints     []*Constraint
	Affinities      []*Affinity
	Env             map[string]string
	Services        []*Service
	Resources       *Resources
	Restart         *Restart `json:"RestartPolicy"`
	Meta            map[string]string
	KillTimeout     *time.Duration // delay between the kill signal and SIGKILL
	Logs            *Logs          `json:"LogConfig"`
	Artifacts       []*Artifact
	Vault           *Vault
	Consul          *Consul
	Templates       []*Template
	DispatchPayload *DispatchPayload
	VolumeMounts    []*VolumeMount
	CSIPlugin       *CSIPlugin `json:"CSIPluginConfig,omitempty"`
	Leader          bool       // reports whether its end stops the group's other tasks
	ShutdownDelay   time.Duration
	KillSignal      string // "SIGINT" by default
	Kind            string
	Scaling         []*Scaling `json:"ScalingPolicies"`
	Secrets         []*Secret
	Identity        *Identity
	Identities      []*Identity
	Actions         []*Action
	Schedule        *TaskSchedule
	Goal            string `json:",omitempty"` // one of the Goal constants; "": derived from the job's type and the lifecycle
	// Essential selects the effect of the task's failure. nil: the task is restarted by its
	// restart block, and ends the allocation when its attempts are exhausted; true: all tasks
	// of the group are restarted with it; false: the task alone is restarted, and the others
	// continue without it.
	Essential *bool `json:",omitempty"`
	// Monitor probes the health of the task by a command.
	Monitor *Monitor `json:",omitempty"`
	// Daemon reports whether the task's process puts itself into the background: it exits
	// with code 0, and the processes that it leaves behind are the task as long as the task's
	// liveness checks pass. Such a task needs a liveness check or a monitor.
	Daemon bool `json:",omitempty"`
	// After names tasks of the same hook that precede this one: it starts when those that end
	// have succeeded, and the others run and are healthy.
	After []string `json:",omitempty"`
	// Timeout is the maximum duration of a run of its process, which is then killed and has
	// failed. nil: no limit.
	Timeout *time.Duration `json:",omitempty"`
	// ResultFile is a file in the task's directory that its node reads after the task has
	// succeeded: at most MaxResult bytes.
	ResultFile string `json:",omitempty"`
}

// MaxResult bounds a task's result, in bytes.
const MaxResult = 10 << 10

// A Monitor is a liveness check that runs a command in the task: until the command exits with
// code 0, the instance is not RUNNING; when it fails later, the task has crashed.
type Monitor struct {
	Command                string
	Args                   []string
	Interval               time.Duration
	Timeout                time.Duration
	InitialDelay           time.Duration `json:",omitempty"`
	StartTimeout           time.Duration `json:",omitempty"` // as in Check
	FailuresBeforeCritical int           `json:",omitempty"`
}

// Check returns the monitor's check.
func (m *Monitor) Check() *Check {
	return &Check{
		Name: "monitor", Type: CheckScript, Kind: CheckKindLiveness, Command: m.Command, Args: m.Args, Interval: m.Interval,
		Timeout: m.Timeout, InitialDelay: m.InitialDelay, StartTimeout: m.StartTimeout, FailuresBeforeCritical: m.FailuresBeforeCritical,
	}
}

// Values of Task.Goal.
const (
	GoalRunning = "running" // runs until it is stopped
	GoalFinish  = "finish"  // succeeds once for each version and directory
	GoalOnce    = "once"    // succeeds once, and never runs again for the instance
)

// A Lifecycle places a task before, beside or after the group's main tasks.
type Lifecycle struct {
	Hook    string // one of the Hook constants
	Sidecar bool   // reports whether it keeps running; otherwise the task must end
}

// Values of Lifecycle.Hook.
const (
	HookPrestart  = "prestart"
	HookPoststart = "poststart"
	HookPoststop  = "poststop"
)

// IsMain reports whether the task has no lifecycle hook: the group exists for its main tasks.
func (t *Task) IsMain() bool { return t.Lifecycle == nil || t.Lifecycle.Hook == "" }

// IsPrestart reports whether the task starts before the main tasks.
func (t *Task) IsPrestart() bool { return t.Lifecycle != nil && t.Lifecycle.Hook == HookPrestart }

// IsPoststart reports whether the task starts after the main tasks run.
func (t *Task) IsPoststart() bool { return t.Lifecycle != nil && t.Lifecycle.Hook == HookPoststart }

// IsPoststop reports whether the task starts after the main tasks have ended.
func (t *Task) IsPoststop() bool { return t.Lifecycle != nil && t.Lifecycle.Hook == HookPoststop }

// IsSidecar reports whether the task is a hook that keeps running.
func (t *Task) IsSidecar() bool { return !t.IsMain() && t.Lifecycle.Sidecar }

// Logs bounds the stored stdout and stderr of a task, each.
type Logs struct {
	MaxFiles      *int
	MaxFileSizeMB *int
	Enabled       *bool // deprecated: Disabled
	Disabled      *bool
}

// DispatchPayload names the file for a dispatched job's payload, relative to the task's local
// directory.
type DispatchPayload struct {
	File string
}

// VolumeMount makes a group's volume visible to a task.
type VolumeMount struct {
	Volume          string
	Destination     string
	ReadOnly        bool
	PropagationMode string
	SELinuxLabel    string
}

// An Artifact is fetched into the task directory before the task starts.
type Artifact struct {
	Source      string            `json:"GetterSource"`
	Options     map[string]string `json:"GetterOptions"`
	Headers     map[string]string `json:"GetterHeaders"`
	Mode        string            `json:"GetterMode"`
	Insecure    bool              `json:"GetterInsecure"`
	Destination string            `json:"RelativeDest"`
	Chown       bool
}

// A Template is a file (or environment) that is rendered before the task starts.
type Template struct {
	SourcePath    string
	DestPath      string
	EmbeddedTmpl  string
	ChangeMode    string // one of the Template constants
	ChangeScript  *ChangeScript
	ChangeSignal  string
	Once          bool
	Splay         *time.Duration
	Perms         string
	UID           *int `json:"Uid"`
	GID           *int `json:"Gid"`
	LeftDelim     string
	RightDelim    string
	Envvars       bool
	VaultGrace    *time.Duration
	Wait          *TemplateWait
	ErrMissingKey bool
}

// TemplateWait bounds how long a template waits for its data to become stable.
type TemplateWait struct {
	Min *time.Duration
	Max *time.Duration
}

// A ChangeScript runs when a template's result has changed.
type ChangeScript struct {
	Command          string
	Args             []string
	Timeout          *time.Duration
	FailOnError      bool
	RunOnFirstRender bool
}

// Vault is parsed so that it can be rejected by name.
type Vault struct {
	Policies             []string
	Role                 string
	Namespace            string
	Cluster              string
	Env                  *bool
	DisableFile          *bool
	ChangeMode           string
	ChangeSignal         string
	AllowTokenExpiration *bool
}

// A CSIPlugin makes a task a storage plugin.
type CSIPlugin struct {
	ID                  string
	Type                string
	MountDir            string
	StagePublishBaseDir string
	HealthTimeout       time.Duration
}

// A Secret is fetched from a provider into the task's environment.
type Secret struct {
	Name     string
	Provider string
	Path     string
	Config   map[string]any
	Env      map[string]string
}

// An Identity is a signed token of the task's identity.
type Identity struct {
	Name         string
	Audience     []string
	ChangeMode   string
	ChangeSignal string
	Env          bool
	File         bool
	Filepath     string
	ServiceName  string
	TTL          time.Duration
	ExtraClaims  []string
}

// An Action is a named command that users may run inside a task.
type Action struct {
	Name    string
	Command string
	Args    []string
}

// A TaskSchedule pauses a task at given times.
type TaskSchedule struct {
	Cron *TaskScheduleCron
}

// TaskScheduleCron holds the times at which a scheduled task runs.
type TaskScheduleCron struct {
	Start    string
	End      string
	Timezone string
}
