// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import "time"

// began is before everything that the router measures.
var began = time.Now().Add(-time.Second)

// ticks is a moment in nanoseconds of the clock that nobody sets. Ejections and
// the ages of idle connections are counted in it: a wall clock that is set back
// by an hour would keep an instance out for that hour.
func ticks(at time.Time) int64 { return int64(at.Sub(began)) }
