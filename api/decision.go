// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Verb is an operator's action on a plan, phase or step, or on an instance.
type Verb string

// Verbs on plans, phases and steps.
const (
	VerbStart         Verb = "start"          // starts a custom plan, with parameters
	VerbStop          Verb = "stop"           // stops a custom plan and what it runs
	VerbContinue      Verb = "continue"       // lets waiting work continue
	VerbInterrupt     Verb = "interrupt"      // starts no new steps
	VerbRestart       Verb = "restart"        // repeats the work; for an instance: restarts it in place
	VerbForceComplete Verb = "force-complete" // marks the work as done
)

// Verbs on instances, besides VerbRestart.
const (
	VerbReplace Verb = "replace" // moves the instance to any node, with an empty directory
	VerbPause   Verb = "pause"   // stops its tasks; the instance keeps its place
	VerbResume  Verb = "resume"
)

// A Decision is one decision of an operator about a job's plans or instances. Plans are
// derived from the state and from decisions, so the same decisions give the same plans on
// every server.
type Decision struct {
	ID        string
	Namespace string
	JobID     string
	// JobCreateIndex and JobVersion identify the job at the time of the decision. A
	// decision about the deployment of one version does not affect the next version.
	JobCreateIndex uint64
	JobVersion     uint64
	Verb           Verb
	Plan           string            `json:",omitempty"` // plan; "" for an instance
	Phase          string            `json:",omitempty"` // phase; "": the whole plan
	Step           string            `json:",omitempty"` // step; "": the whole phase
	Run            string            `json:",omitempty"` // run of the plan, as Plan.Run; a start is its own run
	Group          string            `json:",omitempty"` // group of the instance, or of the step's instance
	Index          int               `json:",omitempty"`
	Node           string            `json:",omitempty"` // id of the instance's node, if the job runs on every node
	Tasks          []string          `json:",omitempty"` // tasks of the instance; none: all
	Allocation     string            `json:",omitempty"` // id of the instance's allocation at that time
	Parameters     map[string]string `json:",omitempty"`
	By             string            // operator who decided
	Reason         string            `json:",omitempty"` // reason
	Time           int64             // Unix nanoseconds
	CreateIndex    uint64
}

// JobKey returns the key of the decision's job.
func (d *Decision) JobKey() NamespacedID { return NamespacedID{d.Namespace, d.JobID} }

// IsAboutInstance reports whether the decision is about an instance rather than a plan.
func (d *Decision) IsAboutInstance() bool { return d.Plan == "" }

// Describe returns a sentence with the operator and the reason of the decision, as in
// "replaced by ann: disk is full".
func (d *Decision) Describe(done string) string {
	text := done + " by " + d.By
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}
