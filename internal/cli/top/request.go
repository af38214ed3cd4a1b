// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"fmt"
	"regexp"
	"strings"
)

// A Request says what the next reading must contain besides the overview.
type Request struct {
	View   View
	All    bool // everything, in any view
	filter string
}

// Request returns the request for the current view.
func (m *Model) Request() Request { return Request{View: m.View, filter: m.Filter} }

// Jobs reports whether the reading needs jobs.
func (r Request) Jobs() bool { return r.All || r.View == ViewJobs }

// Nodes reports whether the reading needs nodes.
func (r Request) Nodes() bool { return r.All || r.View == ViewNodes }

// JobFilter returns the filter expression of the list of jobs.
func (r Request) JobFilter() string { return r.expression("ID", "Namespace", "Type", "Status") }

// NodeFilter returns the filter expression of the list of nodes.
func (r Request) NodeFilter() string {
	return r.expression("ID", "Name", "Datacenter", "NodePool", "NodeClass", "Status")
}

// expression matches objects one of whose fields contains the filter, in upper or lower case.
func (r Request) expression(fields ...string) string {
	if r.filter == "" {
		return ""
	}
	var terms []string
	for _, field := range fields {
		terms = append(terms, fmt.Sprintf("%s matches `(?i)%s`", field, regexp.QuoteMeta(r.filter)))
	}
	return strings.Join(terms, " or ")
}
