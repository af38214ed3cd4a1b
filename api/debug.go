// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Parts of what an agent reports about itself for support.
const (
	DebugSelf       = "self"       // configuration and figures, as JSON
	DebugMetrics    = "metrics"    // all series, as JSON
	DebugLog        = "log"        // end of the log
	DebugGoroutines = "goroutines" // stacks, as text
	DebugHeap       = "heap"       // profile of the memory, for pprof
	DebugProfile    = "profile"    // profile of the processor time, for pprof
)
