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
	Config          map[string]any // what the driver needs; each driver checks its own keys
	Constraints     []*Constraint
	Affinities      []*Affinity
	Env             map[string]string
	Services        []*Service
	Resources       *Resources
	Restart         *Restart `json:"RestartPolicy"`
	Meta            map[string]string
	KillTimeout     *time.Duration // between the kill signal and SIGKILL
	Logs            *Logs          `json:"LogConfig"`
	Artifacts       []*Artifact
	Vault           *Vault
	Consul          *Consul
	Templates       []*Template
	DispatchPayload *DispatchPayload
	VolumeMounts    []*VolumeMount
	CSIPlugin       *CSIPlugin `json:"CSIPluginConfig,omitempty"`
	Leader          bool       // when it ends, the group's other tasks are stopped
	ShutdownDelay   time.Duration
	KillSignal      string // "SIGINT" by default
	Kind            string
	Scaling         []*Scaling `json:"ScalingPolicies"`
	Secrets         []*Secret
	Identity        *Identity
	Identities      []*Identity
	Actions         []*Action
	Schedule        *TaskSchedule
	Goal            string `json:",omitempty"` // one of the Goal constants; "": by the job's type and the lifecycle
	// Essential says what its failure does: nil: it is restarted by its restart
	// block, and ends the allocation when that is used up; true: all tasks of the
	// group are restarted with it; false: it alone is, and the others go on without it.
	Essential *bool `json:",omitempty"`
	// Monitor says by a command whether the task is well.
	Monitor *Monitor `json:",omitempty"`
	// Daemon says that its process puts itself into the background: it ends with 0,
	// and what it leaves behind is the task from then on, as long as the task's
	// liveness checks pass. Something must watch it.
	Daemon bool `json:",omitempty"`
	// After names tasks of the same hook that come first: it starts when those of
	// them that end have ended well, and the others run and are well.
	After []string `json:",omitempty"`
	// Timeout is how long a run of its process may take; then it is told to end, and
	// has failed. nil: for ever.
	Timeout *time.Duration `json:",omitempty"`
	// ResultFile is a file that a task which ends leaves in its directory, and which
	// its node reads when it has ended well: at most MaxResult bytes.
	ResultFile string `json:",omitempty"`
}

// MaxResult bounds a task's result, in bytes.
const MaxResult = 10 << 10

// A Monitor is a liveness check of a task by a command in it: until that exits
// with 0 the instance is not RUNNING; when it no longer does, the task has
// crashed.
type Monitor struct {
	Command                string
	Args                   []string
	Interval               time.Duration
	Timeout                time.Duration
	InitialDelay           time.Duration `json:",omitempty"`
	StartTimeout           time.Duration `json:",omitempty"` // as in Check
	FailuresBeforeCritical int           `json:",omitempty"`
}

// Check is the check that a monitor is.
func (m *Monitor) Check() *Check {
	return &Check{
		Name: "monitor", Type: CheckScript, Kind: CheckKindLiveness, Command: m.Command, Args: m.Args, Interval: m.Interval,
		Timeout: m.Timeout, InitialDelay: m.InitialDelay, StartTimeout: m.StartTimeout, FailuresBeforeCritical: m.FailuresBeforeCritical,
	}
}

// Values of Task.Goal.
const (
	GoalRunning = "running" // it goes on until it is stopped
	GoalFinish  = "finish"  // it ends well, once for each version and directory
	GoalOnce    = "once"    // it ends well, and is never run for the instance again
)

// Lifecycle places a task before, beside or after the group's main tasks.
type Lifecycle struct {
	Hook    string // one of the Hook constants
	Sidecar bool   // keeps running; without it the task must end
}

// Values of Lifecycle.Hook.
const (
	HookPrestart  = "prestart"
	HookPoststart = "poststart"
	HookPoststop  = "poststop"
)

// IsMain reports whether the task is one that the group exists for: it has no
// lifecycle hook.
func (t *Task) IsMain() bool { return t.Lifecycle == nil || t.Lifecycle.Hook == "" }

// IsPrestart reports whether the task starts before the main tasks.
func (t *Task) IsPrestart() bool { return t.Lifecycle != nil && t.Lifecycle.Hook == HookPrestart }

// IsPoststart reports whether the task starts after the main tasks run.
func (t *Task) IsPoststart() bool { return t.Lifecycle != nil && t.Lifecycle.Hook == HookPoststart }

// IsPoststop reports whether the task starts after the main tasks ended.
func (t *Task) IsPoststop() bool { return t.Lifecycle != nil && t.Lifecycle.Hook == HookPoststop }

// IsSidecar reports whether the task is a hook that keeps running.
func (t *Task) IsSidecar() bool { return !t.IsMain() && t.Lifecycle.Sidecar }

// Logs bounds what is kept of a task's stdout and stderr, each.
type Logs struct {
	MaxFiles      *int
	MaxFileSizeMB *int
	Enabled       *bool // deprecated: Disabled
	Disabled      *bool
}

// DispatchPayload is where a dispatched job's payload is written, relative to
// the task's local directory.
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

// Artifact is fetched into the task directory before the task starts.
type Artifact struct {
	Source      string            `json:"GetterSource"`
	Options     map[string]string `json:"GetterOptions"`
	Headers     map[string]string `json:"GetterHeaders"`
	Mode        string            `json:"GetterMode"`
	Insecure    bool              `json:"GetterInsecure"`
	Destination string            `json:"RelativeDest"`
	Chown       bool
}

// Template is a file (or environment) rendered before the task starts.
type Template struct {
	SourcePath    string
	DestPath      string
	EmbeddedTmpl  string
	ChangeMode    string // "restart", "signal", "noop" or "script"
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

// TemplateWait bounds how long a template waits for its data to be quiet.
type TemplateWait struct {
	Min *time.Duration
	Max *time.Duration
}

// ChangeScript runs when a template's result changed.
type ChangeScript struct {
	Command          string
	Args             []string
	Timeout          *time.Duration
	FailOnError      bool
	RunOnFirstRender bool
}

// Vault is parsed to be refused by name.
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

// CSIPlugin makes a task a storage plugin.
type CSIPlugin struct {
	ID                  string
	Type                string
	MountDir            string
	StagePublishBaseDir string
	HealthTimeout       time.Duration
}

// Secret is fetched from a provider into the task's environment.
type Secret struct {
	Name     string
	Provider string
	Path     string
	Config   map[string]any
	Env      map[string]string
}

// Identity is a signed statement of who the task is.
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

// Action is a command that people may run inside a task by name.
type Action struct {
	Name    string
	Command string
	Args    []string
}

// TaskSchedule pauses a task by the clock.
type TaskSchedule struct {
	Cron *TaskScheduleCron
}

// TaskScheduleCron is when a scheduled task runs.
type TaskScheduleCron struct {
	Start    string
	End      string
	Timezone string
}
