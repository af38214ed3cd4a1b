// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// FencedAfter returns how long the allocation may run while its node reaches no server; 0 if
// that time is unlimited or nothing of the allocation runs.
func (r *Runner) FencedAfter() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fenced != "" || r.allDead() {
		return 0
	}
	return r.group.StopOnClientAfter()
}

// Fence stops the allocation because its node reaches no server. The runner reports it as
// lost once it has ended: it did not fail, and no server asked it to stop.
func (r *Runner) Fence(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fenced != "" || r.allDead() {
		return
	}
	r.fenced = why
	r.stop(&end{why: cause{event: api.EventKilling, message: why}}, true)
}
