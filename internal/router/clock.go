// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import "time"

// began precedes each time that the router measures.
var began = time.Now().Add(-time.Second)

// ticks converts a time to nanoseconds of the monotonic clock. Ejections and the
// ages of idle connections use it: a wall clock that is set back by an hour would
// prolong an ejection by an hour.
func ticks(at time.Time) int64 { return int64(at.Sub(began)) }
