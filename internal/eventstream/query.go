// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/filter"
)

// allNamespaces as a namespace selects the objects of all namespaces.
const allNamespaces = "*"

// A Query is a subscriber's request.
type Query struct {
	Topics    Selection
	Namespace string         // "*": all
	Filter    *filter.Filter // nil: everything
	SSE       bool           // write server-sent events instead of JSON lines
	Snapshot  bool           // begin with the current objects, and resend them after missed events
	Complete  bool           // end the stream instead of skipping missed events
	Progress  bool           // heartbeats carry the stream's index
	Replay    bool           // begin with the oldest retained event
	Timeline  string         // timeline of From; "": unknown
	From      uint64         // index of the first event; 0: the next one
	// May reports whether the subscriber may receive an event at this moment; nil: all. Its answers change,
	// so the number of events that a subscriber with May has does not tell which: it resumes with all events
	// of an index, and Skip does not count.
	May  func(*api.Event) bool
	Skip int // number of events of index From that the subscriber has already
}

// admits reports whether the subscriber receives an event.
func (q *Query) admits(e *api.Event) (bool, error) {
	if isNamespaced(e) && q.Namespace != allNamespaces && q.Namespace != e.Namespace || !q.Topics.has(e) {
		return false, nil
	}
	if q.May != nil && !q.May(e) { // before the filter, whose errors would show that the event exists
		return false, nil
	}
	return matchesEvent(q.Filter, e)
}

// formatID returns the id of a position in the stream: after the n-th of an index's events
// that the subscriber receives, or after all of them if n is 0.
func formatID(index uint64, n int) string {
	if n == 0 {
		return strconv.FormatUint(index, 10)
	}
	return strconv.FormatUint(index, 10) + "." + strconv.Itoa(n)
}

// wholeID returns the id of the position before all events of an index.
func wholeID(index uint64) string { return strconv.FormatUint(index, 10) + ".0" }

// ParseID returns the index at which to resume after an event id, and the number of its
// events that the subscriber has already.
func ParseID(id string) (index uint64, skip int, err error) {
	head, tail, within := strings.Cut(id, ".")
	index, err = strconv.ParseUint(head, 10, 63)
	if within && err == nil {
		skip, err = strconv.Atoi(tail)
	}
	if err != nil || skip < 0 {
		return 0, 0, api.Errorf(api.CodeInvalid, "Last-Event-ID: %q is not an id of this stream", id)
	}
	if within {
		return index, skip, nil
	}
	return index + 1, 0, nil
}

// isNamespaced reports whether an event concerns one namespace. Nodes belong to none, and rules of a unit
// for all namespaces concern each.
func isNamespaced(e *api.Event) bool {
	return e.Namespace != "" && e.Namespace != api.AnyNamespace
}
