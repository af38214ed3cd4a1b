// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// A Verb is what an operator does to a plan, phase or step, or to an instance.
type Verb string

// Verbs on plans, phases and steps.
const (
	VerbStart         Verb = "start"          // a custom plan, with parameters
	VerbStop          Verb = "stop"           // a custom plan: what it runs is stopped
	VerbContinue      Verb = "continue"       // what waits goes on
	VerbInterrupt     Verb = "interrupt"      // nothing new is begun
	VerbRestart       Verb = "restart"        // it is done again; also an instance: in place
	VerbForceComplete Verb = "force-complete" // it counts as done
)

// Verbs on instances, besides VerbRestart.
const (
	VerbReplace Verb = "replace" // anywhere, with an empty directory
	VerbPause   Verb = "pause"   // its tasks are stopped; it keeps its place
	VerbResume  Verb = "resume"
)

// A Decision is one thing that an operator decided about a job's plans or
// instances. Plans are derived from what is, and from these: the same
// decisions give the same tree on any server.
type Decision struct {
	ID        string
	Namespace string
	JobID     string
	// JobCreateIndex and JobVersion are of the job when it was decided: what was
	// decided on deploying one version says nothing about the next.
	JobCreateIndex uint64
	JobVersion     uint64
	Verb           Verb
	Plan           string            `json:",omitempty"` // "" for an instance
	Phase          string            `json:",omitempty"` // "": all of the plan
	Step           string            `json:",omitempty"` // "": all of the phase
	Run            string            `json:",omitempty"` // of the plan, as Plan.Run; a start is its own
	Group          string            `json:",omitempty"` // the instance, or the one that the step is about
	Index          int               `json:",omitempty"`
	Node           string            `json:",omitempty"` // id of the one that the instance belongs to, if the job runs on every node
	Tasks          []string          `json:",omitempty"` // of the instance; none: all
	Allocation     string            `json:",omitempty"` // that held the instance then
	Parameters     map[string]string `json:",omitempty"`
	By             string            // who decided
	Reason         string            `json:",omitempty"` // why
	Time           int64             // Unix nanoseconds
	CreateIndex    uint64
}

// JobKey names the decision's job.
func (d *Decision) JobKey() NamespacedID { return NamespacedID{d.Namespace, d.JobID} }

// IsAboutInstance reports whether it is about an instance rather than a plan.
func (d *Decision) IsAboutInstance() bool { return d.Plan == "" }
