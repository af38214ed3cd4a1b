// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import "time"

// Runs notes that the process runs at a time of a test's.
func (h *Heartbeats) Runs(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runs(now)
}
