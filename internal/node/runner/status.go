// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/reeve-run/reeve/api"

// clientStatus derives an allocation's status from its tasks. An allocation is failed only
// when nothing of it runs any longer: until then it holds its resources.
func clientStatus(m []taskView) string {
	failed, running, open := false, false, false
	well := false
	for _, x := range m {
		failed = failed || x.failed && !x.optional
		well = well || !x.failed && x.stage == stageDead && x.ran
		running = running || x.running
		open = open || x.stage != stageDead
	}
	if !well { // only tasks whose failures do not count have run
		for _, x := range m {
			failed = failed || x.failed
		}
	}
	switch {
	case !open && failed:
		return api.AllocClientFailed
	case !open:
		return api.AllocClientComplete
	case running:
		return api.AllocClientRunning
	}
	// Between the end of one task and the start of the next, the allocation is running; while a
	// task waits for a restart, it is pending.
	ran, waits := false, false
	for _, x := range m {
		ran = ran || x.ran
		waits = waits || (x.stage == stageActive && x.ran && !x.killed && !x.startPending)
	}
	if ran && !waits {
		return api.AllocClientRunning
	}
	return api.AllocClientPending
}

// heldDescription is the description of an allocation whose tasks are all held.
const heldDescription = "Held: nothing of it runs until that changes"

// describe returns the description of a status.
func (r *Runner) describe(status string) string {
	held := false
	for _, t := range r.tasks {
		if t.handle != nil || t.stage == stageActive {
			return describe(status)
		}
		held = held || t.isHeld() && !t.isIdle()
	}
	if held {
		return heldDescription
	}
	return describe(status)
}

func describe(status string) string {
	switch status {
	case api.AllocClientPending:
		return "No task has started"
	case api.AllocClientRunning:
		return "Running"
	case api.AllocClientComplete:
		return "All tasks have ended"
	case api.AllocClientFailed:
		return "A task failed"
	}
	return ""
}
