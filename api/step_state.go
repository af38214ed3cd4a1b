// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"time"
)

// A StepState is what changes of a plan, of a phase or of a step: the payload of events of
// the topic Step. Phase and Step are "" for a plan, and Step is "" for a phase.
type StepState struct {
	Namespace   string
	JobID       string
	Plan        string // name
	Phase       string `json:",omitempty"` // name
	Step        string `json:",omitempty"` // name
	Place       string `json:",omitempty"` // allocation or node of a step, if its phase has several steps of that name
	ID          string // id of the plan, the phase or the step
	Status      PlanStatus
	Interrupted bool
	Message     string    `json:",omitempty"` // reason of the status; without what the strategy implies, that it comes after another step
	Since       time.Time `json:",omitzero"`  // time of its last observed progress
	Until       time.Time `json:",omitzero"`  // time at which it continues if it is DELAYED
	Completed   int       `json:",omitempty"` // of a plan or phase: number of complete steps
	Total       int       `json:",omitempty"` // of a plan or phase: number of steps
	Run         string    `json:",omitempty"` // of a plan: see Plan.Run
	Group       string    `json:",omitempty"`
	Index       int       // of a step: index of its instance
	Node        string    `json:",omitempty"` // of a step: id
	Allocation  string    `json:",omitempty"` // of a step: id
	JobVersion  uint64    // intended version
	Recovery    string    `json:",omitempty"` // of a step: one of the Recovery constants
	Forced      bool      `json:",omitempty"` // reports whether a decision made the step COMPLETE
	Errors      []string  `json:",omitempty"` // of a plan without those of its phases, of a phase without those of its steps
}

// Key returns the address of the plan, phase or step within its namespace.
func (s *StepState) Key() string {
	key := s.JobID + "/" + s.Plan
	if s.Phase != "" {
		key += "/" + s.Phase
	}
	if s.Step != "" {
		key += "/" + s.Step
	}
	if s.Place != "" {
		key += "@" + s.Place
	}
	return key
}

// Equal reports whether both states are the same.
func (s *StepState) Equal(other *StepState) bool {
	return s.Namespace == other.Namespace && s.JobID == other.JobID && s.Plan == other.Plan && s.Phase == other.Phase && s.Step == other.Step && s.Place == other.Place && s.ID == other.ID &&
		s.Status == other.Status && s.Interrupted == other.Interrupted && s.Message == other.Message && s.Since.Equal(other.Since) && s.Until.Equal(other.Until) &&
		s.Completed == other.Completed && s.Total == other.Total && s.Run == other.Run && s.Group == other.Group && s.Index == other.Index && s.Node == other.Node &&
		s.Allocation == other.Allocation && s.JobVersion == other.JobVersion && s.Recovery == other.Recovery && s.Forced == other.Forced && slices.Equal(s.Errors, other.Errors)
}
