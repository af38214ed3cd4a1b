// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Kinds of objects that audit records are about.
const (
	AuditStack = "stack"
	AuditUnit  = "unit"
	AuditShift = "shift"
)

// An AuditRecord says what happened to an object, who or what decided it, and why.
type AuditRecord struct {
	ID        string
	Time      time.Time
	Namespace string
	Kind      string // one of the Audit constants
	Object    string // name of the stack or unit, or id of the shift
	Unit      string `json:",omitempty"`
	Action    string // what happened: the new status, or the verb
	By        string `json:",omitempty"` // operator; "": Reeve
	Reason    string // a sentence
	// Verdict is set if a sweep decided.
	Verdict     *Verdict `json:",omitempty"`
	CreateIndex uint64
	ModifyIndex uint64
}

// AuditKept is how long audit records are kept, and AuditPerObject how many of them per object.
const (
	AuditKept      = 90 * 24 * time.Hour
	AuditPerObject = 100
)
