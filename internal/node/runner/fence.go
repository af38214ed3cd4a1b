// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// FencedAfter is how long the allocation may run on a node that reaches no
// server; 0: for ever, or nothing of it runs any more.
func (r *Runner) FencedAfter() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fenced != "" || r.allDead() {
		return 0
	}
	return r.group.StopOnClientAfter()
}

// Fence stops the allocation because its node reaches no server. It is reported
// as lost when it has ended: neither did it fail, nor did anybody want it to
// stop.
func (r *Runner) Fence(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fenced != "" || r.allDead() {
		return
	}
	r.fenced = why
	r.stop(&end{why: cause{event: api.EventKilling, words: why}}, true)
}
