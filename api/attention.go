// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Kinds of attention.
const (
	AttentionQuorum      = "quorum"      // the cluster survives no further failure
	AttentionServer      = "server"      // a server does not answer, or lags behind
	AttentionCertificate = "certificate" // a certificate expires soon
	AttentionRoot        = "root"        // a rotation of the root waits for members
	AttentionVersion     = "version"     // servers have different versions
	AttentionJoin        = "join"        // a machine tried to join and was refused
	AttentionScheduler   = "scheduler"   // an operator paused scheduling
	AttentionSnapshot    = "snapshot"    // snapshots are not saved
	AttentionPlan        = "plan"        // a plan waits for an operator, or failed
)

// An Attention is a condition of the cluster that waits for a person.
type Attention struct {
	Kind    string    // see AttentionQuorum
	Message string    // one sentence without a full stop
	Next    string    `json:",omitempty"` // next step
	Since   time.Time `json:",omitzero"`  // beginning, or last time
	Count   int       `json:",omitempty"` // number of repetitions, if it is an event
}
