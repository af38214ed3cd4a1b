// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A PlanStatus is the progress of a step, phase or plan.
type PlanStatus string

// Statuses. Only phases and plans are IN_PROGRESS.
const (
	PlanPending    PlanStatus = "PENDING"     // not done, and not begun
	PlanWaiting    PlanStatus = "WAITING"     // blocked until an operator continues
	PlanPrepared   PlanStatus = "PREPARED"    // a candidate; being placed, or blocked
	PlanStarting   PlanStatus = "STARTING"    // placed or being stopped; the node has not reported yet
	PlanStarted    PlanStatus = "STARTED"     // running; not healthy or finished yet
	PlanComplete   PlanStatus = "COMPLETE"    // goal reached, or forced
	PlanDelayed    PlanStatus = "DELAYED"     // delayed until a known time
	PlanError      PlanStatus = "ERROR"       // cannot succeed in its current form
	PlanInProgress PlanStatus = "IN_PROGRESS" // partly complete
)

// Names of the plans that every job may have, in the order of their priority. Plans that a
// job declares under other names come last, in declared order.
const (
	PlanDeploy       = "deploy"
	PlanWarming      = "warming" // only of stacks
	PlanShift        = "shift"   // only of stacks
	PlanRecovery     = "recovery"
	PlanDecommission = "decommission"
	PlanUninstall    = "uninstall"
	PlanRestart      = "restart"
	PlanDrain        = "drain"
	// PlanUpdate is declared in a job to replace deploy once the job has been deployed; it
	// is shown as deploy.
	PlanUpdate = "update"
)

// Strategies of plans and phases. The canary ones are for phases only: an
// operator's first "continue" releases the first step, the second the rest.
const (
	StrategySerial         = "serial"
	StrategyParallel       = "parallel"
	StrategyDependency     = "dependency"
	StrategySerialCanary   = "serial-canary"
	StrategyParallelCanary = "parallel-canary"
)

// Kinds of recovery.
const (
	RecoveryTransient = "TRANSIENT" // same node, same directory, same version
	RecoveryPermanent = "PERMANENT" // anywhere, with an empty directory
)

// A Plan is a tree of the work that leads from the current to the intended state. It is
// derived on request; only operators' decisions are stored.
type Plan struct {
	ID          string // stable id of the job's plan with that name
	Name        string // one of the Plan constants, or as the job declares it
	Namespace   string
	JobID       string
	JobVersion  uint64
	Strategy    string // strategy of its phases
	Status      PlanStatus
	Interrupted bool      // reports whether an operator interrupted the whole plan
	Message     string    `json:",omitempty"` // event that it waits for, in words
	Since       time.Time `json:",omitzero"`  // time of its last observed progress
	Until       time.Time `json:",omitzero"`  // DELAYED: time at which its first step continues
	// Run identifies the run: the id of the deployment, of the restart, or of the decision
	// that started a custom plan; "" if none.
	Run        string            `json:",omitempty"`
	Parameters map[string]string `json:",omitempty"` // parameters of a custom plan's run
	Completed  int               // number of complete steps
	Total      int               // number of steps
	Phases     []*Phase          `json:",omitempty"` // omitted in lists
	Errors     []string          `json:",omitempty"` // errors of the plan and all of its steps
	Decisions  []*Decision       `json:",omitempty"` // decisions that affect it, oldest first; omitted in lists
}

// IsCustom reports whether the plan is declared by the job and started by operators.
func (p *Plan) IsCustom() bool {
	switch p.Name {
	case PlanDeploy, PlanRecovery, PlanDecommission, PlanUninstall, PlanRestart, PlanDrain:
		return false
	case PlanWarming, PlanShift:
		_, _, _, isStack := ParseStackName(p.JobID)
		return !isStack
	}
	return true
}

// A Phase is a set of steps under one strategy.
type Phase struct {
	ID          string
	Name        string
	Group       string   `json:",omitempty"` // group of its steps; "" for several
	Strategy    string   // strategy of its steps
	MaxParallel int      `json:",omitempty"` // concurrent steps; 0: limited only by the strategy
	After       []string `json:",omitempty"` // phases that must be complete first
	Status      PlanStatus
	Interrupted bool
	Message     string    `json:",omitempty"`
	Since       time.Time `json:",omitzero"`
	Completed   int
	Total       int
	Steps       []*Step
	Errors      []string `json:",omitempty"`
}

// A Step is the work on some tasks of one instance.
type Step struct {
	ID          string
	Name        string // instance:[task, task]; other forms in uninstall
	Status      PlanStatus
	Interrupted bool
	Message     string    `json:",omitempty"` // reason of its status, or the event that it waits for
	Until       time.Time `json:",omitzero"`  // time at which a DELAYED step continues
	Since       time.Time `json:",omitzero"`  // time of its last observed progress
	Group       string    `json:",omitempty"`
	Index       int
	Tasks       []string  `json:",omitempty"`
	Node        string    `json:",omitempty"` // id of its current or required node
	Allocation  string    `json:",omitempty"` // id of its allocation
	JobVersion  uint64    // intended version of the instance
	Recovery    string    `json:",omitempty"` // one of the Recovery constants; only in recovery
	After       []string  `json:",omitempty"` // steps that must be complete first
	Forced      *Decision `json:",omitempty"` // decision that made it COMPLETE
	Errors      []string  `json:",omitempty"`
}

// A PlanSpec is a plan as a job declares it.
type PlanSpec struct {
	Name     string // "deploy", "update", or the name of a plan that operators start
	Strategy string // strategy of its phases: serial (default), parallel or dependency
	Phases   []*PhaseSpec
}

// A PhaseSpec declares a phase: steps on the instances of one group.
type PhaseSpec struct {
	Name     string
	Group    string // the phase's name when empty
	Strategy string // strategy of its steps; serial when empty
	// MaxParallel is the maximum number of concurrent steps of a serial phase: a number
	// ("2") or a share of its steps ("25%", rounded up, at least 1). 1 when empty.
	MaxParallel string         `json:",omitempty"`
	Stagger     *time.Duration `json:",omitempty"` // time between a step's completion and the start of the next one
	After       []string       `json:",omitempty"` // phases; only where the plan's strategy is dependency
	Steps       []*StepSpec    `json:",omitempty"` // none: a step per instance, with all tasks except those used only in custom plans
}

// A StepSpec declares steps: one for the instance with that index, or one for every
// instance without steps of its own. Several steps for the same instance run in declared
// order.
type StepSpec struct {
	Name  string   `json:",omitempty"` // name for After; optional
	Index *int     `json:",omitempty"` // nil: every instance without steps of its own
	Tasks []string // tasks to launch together; none: no action on those instances
	After []string `json:",omitempty"` // steps of the same instance by name, or any of the phase as instance:[task, task]
}

// PlanRequest holds the arguments of a verb on a plan. Phase and Step are names or ids.
type PlanRequest struct {
	Phase      string            `json:",omitempty"`
	Step       string            `json:",omitempty"`
	Parameters map[string]string `json:",omitempty"` // for the start of a custom plan: environment of its tasks
	By         string            `json:",omitempty"` // operator, by a name of their choice
	Reason     string            `json:",omitempty"`
}

// PlanResponse is the answer to a verb: the plan with the decision.
type PlanResponse struct {
	Plan     *Plan
	Decision *Decision
	EvalID   string `json:",omitempty"`
	Index    uint64
}
