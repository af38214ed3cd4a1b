// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A PlanStatus says how far a step, phase or plan is.
type PlanStatus string

// Statuses. Only phases and plans are IN_PROGRESS.
const (
	PlanPending    PlanStatus = "PENDING"     // not done, nothing begun
	PlanWaiting    PlanStatus = "WAITING"     // may not go on until an operator continues
	PlanPrepared   PlanStatus = "PREPARED"    // a candidate; being placed, or blocked
	PlanStarting   PlanStatus = "STARTING"    // placed or being stopped; no word from the node yet
	PlanStarted    PlanStatus = "STARTED"     // runs; not healthy or finished yet
	PlanComplete   PlanStatus = "COMPLETE"    // reached, or forced
	PlanDelayed    PlanStatus = "DELAYED"     // held back until a known time
	PlanError      PlanStatus = "ERROR"       // cannot succeed as it stands
	PlanInProgress PlanStatus = "IN_PROGRESS" // some of it is complete
)

// Names of the plans that every job may have, in the order of their priority.
// Plans that a job declares under other names come last, in declared order.
const (
	PlanDeploy       = "deploy"
	PlanRecovery     = "recovery"
	PlanDecommission = "decommission"
	PlanUninstall    = "uninstall"
	PlanRestart      = "restart"
	PlanDrain        = "drain"
	// PlanUpdate is declared in a job to be used in place of deploy once the job
	// has been deployed; it is shown as deploy.
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

// A Plan is a tree of work between what is and what should be. It is derived
// when it is asked for; only what operators decided is stored.
type Plan struct {
	ID          string // of the plan of that name of that job, always the same
	Name        string // one of the Plan constants, or as the job declares it
	Namespace   string
	JobID       string
	JobVersion  uint64
	Strategy    string // of its phases
	Status      PlanStatus
	Interrupted bool      // an operator holds all of it
	Message     string    `json:",omitempty"` // what it waits for, in words
	Since       time.Time `json:",omitzero"`  // when it was last seen to move
	Until       time.Time `json:",omitzero"`  // DELAYED: when the first of its steps goes on
	// Run is what it carries out: the id of the deployment, of the restart, or
	// of the decision that started a custom plan; "" if none.
	Run        string            `json:",omitempty"`
	Parameters map[string]string `json:",omitempty"` // of a custom plan's run
	Completed  int               // steps
	Total      int               // steps
	Phases     []*Phase          `json:",omitempty"` // not in lists
	Errors     []string          `json:",omitempty"` // its own, and all of its steps'
	Decisions  []*Decision       `json:",omitempty"` // that bear on it, oldest first; not in lists
}

// IsCustom reports whether the plan is one that the job declares and operators
// start.
func (p *Plan) IsCustom() bool {
	switch p.Name {
	case PlanDeploy, PlanRecovery, PlanDecommission, PlanUninstall, PlanRestart, PlanDrain:
		return false
	}
	return true
}

// A Phase is steps under one strategy.
type Phase struct {
	ID          string
	Name        string
	Group       string   `json:",omitempty"` // that its steps are about; "" if of several
	Strategy    string   // of its steps
	MaxParallel int      `json:",omitempty"` // steps at a time; 0: as many as the strategy lets
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
	Name        string // instance:[task, task]; other than that in uninstall
	Status      PlanStatus
	Interrupted bool
	Message     string    `json:",omitempty"` // why it is so, or what it waits for
	Until       time.Time `json:",omitzero"`  // when a DELAYED step goes on
	Since       time.Time `json:",omitzero"`  // when it was last seen to move
	Group       string    `json:",omitempty"`
	Index       int
	Tasks       []string  `json:",omitempty"`
	Node        string    `json:",omitempty"` // id of the node that it is, or has to be, on
	Allocation  string    `json:",omitempty"` // id of the one that it is about
	JobVersion  uint64    // that the instance is to have
	Recovery    string    `json:",omitempty"` // one of the Recovery constants; only in recovery
	After       []string  `json:",omitempty"` // steps that must be complete first
	Forced      *Decision `json:",omitempty"` // that made it COMPLETE
	Errors      []string  `json:",omitempty"`
}

// A PlanSpec is a plan as a job declares it.
type PlanSpec struct {
	Name     string // "deploy", "update", or of a plan that operators start
	Strategy string // of its phases: serial (default), parallel or dependency
	Phases   []*PhaseSpec
}

// A PhaseSpec declares a phase: steps on the instances of one group.
type PhaseSpec struct {
	Name     string
	Group    string // the phase's name when empty
	Strategy string // of its steps; serial when empty
	// MaxParallel is how many steps of a serial phase may be under way at a
	// time: a number ("2") or a share of its steps ("25%", rounded up, at least 1).
	// 1 when empty.
	MaxParallel string         `json:",omitempty"`
	Stagger     *time.Duration `json:",omitempty"` // between a step's completion and the next one's begin
	After       []string       `json:",omitempty"` // phases; only where the plan's strategy is dependency
	Steps       []*StepSpec    `json:",omitempty"` // none: a step per instance, with the tasks that are not only in custom plans
}

// A StepSpec declares steps: one for the instance of that index, or for every
// instance that has none of its own. Several for the same instance are done in
// the order in which they are declared.
type StepSpec struct {
	Name  string   `json:",omitempty"` // for After; need not be given
	Index *int     `json:",omitempty"` // nil: every instance without steps of its own
	Tasks []string // launched together; none: nothing is done on those instances
	After []string `json:",omitempty"` // steps of the same instance by name, or any of the phase as instance:[task, task]
}

// PlanRequest is what a verb on a plan is told besides its name. Phase and Step
// are names or ids.
type PlanRequest struct {
	Phase      string            `json:",omitempty"`
	Step       string            `json:",omitempty"`
	Parameters map[string]string `json:",omitempty"` // start of a custom plan: environment of its tasks
	By         string            `json:",omitempty"` // who decides, as they call themselves
	Reason     string            `json:",omitempty"`
}

// PlanResponse is the answer to a verb: the plan as it is with the decision.
type PlanResponse struct {
	Plan     *Plan
	Decision *Decision
	EvalID   string `json:",omitempty"`
	Index    uint64
}
