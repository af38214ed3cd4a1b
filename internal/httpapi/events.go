// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"mime"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/eventstream"
)

// eventParams are the query parameters of the event stream.
var eventParams = []string{"topic", "index", "complete", "snapshot", "filter", "format", "timeline", "progress"}

// streamEvents sends the events of each log index as they happen.
func streamEvents(c *call) error {
	q, err := c.parseEventQuery()
	if err != nil {
		return err
	}
	events, err := c.events.Open(c.r.Context(), q)
	if err != nil {
		return err
	}
	defer events.Close()
	now := events.Position()
	c.setIndex(now.Index)
	h := c.w.Header()
	h.Set("X-Reeve-Events-After", strconv.FormatUint(events.After(), 10))
	h.Set("X-Reeve-Timeline", now.Timeline)
	media := eventstream.MediaLines
	if q.SSE {
		media = eventstream.MediaSSE
	}
	out := newStream(c, media)
	out.may = true
	return out.end(events.Run(c.r.Context(), out))
}

// parseEventQuery reads the subscriber's request.
func (c *call) parseEventQuery() (q eventstream.Query, err error) {
	if q.Topics, err = eventstream.ParseSelection(c.query["topic"]); err != nil {
		return q, err
	}
	if s := c.query.Get("filter"); s != "" {
		if q.Filter, err = eventstream.ParseFilter(s, q.Topics); err != nil {
			return q, err
		}
	}
	if q.SSE, err = c.wantsSSE(); err != nil {
		return q, err
	}
	if q.Snapshot, err = c.flag("snapshot"); err != nil {
		return q, err
	}
	if q.Complete, err = c.flag("complete"); err != nil {
		return q, err
	}
	if q.Progress, err = c.flag("progress"); err != nil {
		return q, err
	}
	q.May = c.mayReceive()
	q.Namespace, q.Timeline, q.From = c.namespace, c.query.Get("timeline"), c.index
	q.Replay = c.query.Get("index") != "" && c.index == 0
	// A browser that reconnects repeats its first request, with its position in this header.
	if id := c.r.Header.Get("Last-Event-ID"); id != "" {
		if q.From, q.Skip, err = eventstream.ParseID(id); err != nil {
			return q, err
		}
	}
	return q, nil
}

// wantsSSE reports whether the subscriber requests server-sent events.
func (c *call) wantsSSE() (bool, error) {
	switch format := c.query.Get("format"); format {
	case "sse":
		return true, nil
	case "ndjson":
		return false, nil
	case "":
	default:
		return false, api.Errorf(api.CodeInvalid, "format: unknown format %q; use ndjson or sse", format)
	}
	for part := range strings.SplitSeq(c.r.Header.Get("Accept"), ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == eventstream.MediaSSE {
			return true, nil
		}
	}
	return false, nil
}
