// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package traffic keeps what routers report about the requests to stacks, and observes
// shifts with it: the checks of their metrics, the addresses that they ask, and crashes. It
// also remembers the callers of stacks that declare no dependency.
//
// Everything is in the memory of the leader. A new leader begins without figures, so the first
// interval of a shift's checks counts only requests from then on. Reports come from
// machines that may lie: the package bounds their size and numbers, and figures decide
// only about the shift of their stack.
package traffic
