// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/reeve-run/reeve/api"
)

// JobLogOptions select output of a job, and a position in the output of each task.
type JobLogOptions struct {
	Group, Task string // "": all
	Type        string // api.LogStdout or api.LogStderr; "": both
	Follow      bool   // continue, also with allocations that start meanwhile, until the loop ends
	Origin      string // api.OriginStart (default) or api.OriginEnd
	Offset      int64  // bytes from the origin
}

// Logs yields the output of a job's tasks: of the allocations that run, 50 at most, or of the newest one of
// each instance. A frame of the event api.LogsFailed names output that cannot be read; it is not an error.
func (j Jobs) Logs(ctx context.Context, id string, o JobLogOptions) iter.Seq2[*api.JobLogFrame, error] {
	v := url.Values{
		"group": {o.Group}, "task": {o.Task}, "type": {o.Type}, "follow": {strconv.FormatBool(o.Follow)},
		"origin": {firstOf(o.Origin, api.OriginStart)}, "offset": {strconv.FormatInt(o.Offset, 10)},
	}
	return func(yield func(*api.JobLogFrame, error) bool) {
		for frame, err := range stream[api.JobLogFrame](ctx, j.c, pathf("/v1/job/%s/logs", id), v, nil) {
			if err == nil && frame.Allocation == "" && frame.LeftOut == 0 {
				continue // a heartbeat
			}
			if !yield(frame, err) {
				return
			}
		}
	}
}
