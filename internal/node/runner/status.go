// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/reeve-run/reeve/api"

// clientStatus derives an allocation's status from its tasks. It has failed
// only when nothing of it runs any more: until then it holds its resources.
func clientStatus(m []member) string {
	failed, running, open := false, false, false
	for _, x := range m {
		failed = failed || x.failed
		running = running || x.running
		open = open || x.stage != stageDead
	}
	switch {
	case !open && failed:
		return api.AllocClientFailed
	case !open:
		return api.AllocClientComplete
	case running:
		return api.AllocClientRunning
	}
	// Between the end of one task and the start of the next it still runs; while
	// one waits for a restart it does not.
	ran, waits := false, false
	for _, x := range m {
		ran = ran || x.ran
		waits = waits || (x.stage == stageActive && x.ran && !x.killed)
	}
	if ran && !waits {
		return api.AllocClientRunning
	}
	return api.AllocClientPending
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
