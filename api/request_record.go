// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A RequestRecord says who sent a request to the API from where, and what became of it. It contains
// neither bodies nor headers, and only harmless parameters of the query.
type RequestRecord struct {
	ID     string    // of the request; its response has it in the header X-Reeve-Request-ID
	Time   time.Time // of the response; it arrived DurationMS earlier
	Server string    // name of the server that received it

	Caller    string // kind of the sender: operator, user, local, anonymous, node, server or unknown
	Accessor  string `json:",omitempty"` // of the token of a user; id of a node or a server
	TokenName string `json:",omitempty"`
	Address   string `json:",omitempty"` // host:port of the sender
	Via       string `json:",omitempty"` // id of the node that forwarded the request

	Method    string            `json:",omitempty"`
	Route     string            `json:",omitempty"` // pattern of the route; "": the path belongs to none
	Path      string            `json:",omitempty"`
	Query     map[string]string `json:",omitempty"`
	Namespace string            `json:",omitempty"`
	Object    string            `json:",omitempty"` // that a write without an id in its path created or changed, as in "job web"

	Status     int     `json:",omitempty"` // of the response; 0: unknown
	Refused    bool    `json:",omitempty"`
	Reason     string  `json:",omitempty"` // of the refusal
	DurationMS float64 `json:",omitempty"`

	Repeated int `json:",omitempty"` // further failed requests of the caller in the same second, without records of their own
	Dropped  int `json:",omitempty"` // records that were lost before this one, which describes no request
}

// RequestRecords is a page of records of one server.
type RequestRecords struct {
	Records   []*RequestRecord
	NextToken string       `json:",omitempty"` // where the next page, of older records, begins; "": this is the last
	Dropped   uint64       // records that this server lost since its start
	Sinks     []*AuditSink `json:",omitempty"` // places to which this server copies its records
}

// An AuditSink is a place to which a server copies its records.
type AuditSink struct {
	Name, Type   string
	Target       string    // path of the file, or address of the collector without its query
	Records      uint64    // delivered since the start of the server
	WaitingBytes int64     // of records that are not delivered yet
	Failures     uint64    // attempts that failed since the start of the server
	FailingSince time.Time `json:",omitzero"`  // zero: the last attempt succeeded
	Error        string    `json:",omitempty"` // cause of the last failure, if the sink fails
	Gaps         uint64    // times that records were deleted before they were delivered
}
