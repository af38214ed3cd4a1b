// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package reschedule

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// longestAfterRejection bounds the delay after a rejection.
const longestAfterRejection = 30 * time.Second

// AfterRejection returns the attempt that follows a rejection. A node's refusal to run
// an instance does not count as an attempt. The first retry on another node is
// immediate; then the delays grow, because no other node may exist.
func AfterRejection(job *api.Job, a *api.Allocation) (_ Attempt, rejected bool) {
	allowed, counted := job.RejectionsAllowed()
	d := a.DesiredTransition
	if !counted || opt.IsTrue(d.ForceReschedule) || opt.IsTrue(d.Reschedule) {
		return Attempt{}, false
	}
	why := refusal(a)
	if why == "" {
		return Attempt{}, false
	}
	n := rejections(a)
	if n > allowed {
		return Attempt{Never: true, Why: fmt.Sprintf("%s to run it, and max_rejections is %d; the last one: %s", times(n), allowed, why)}, true
	}
	delay := time.Duration(0)
	if n > 1 {
		delay = min(time.Second<<min(n-2, 16), longestAfterRejection)
	}
	return Attempt{Due: FailedAt(a).Add(delay), Delay: delay}, true
}

// times says how often nodes refused.
func times(n int) string {
	if n == 1 {
		return "its node refused"
	}
	return fmt.Sprintf("nodes refused %d times", n)
}

// rejections counts the allocation's own, and those that led to it.
func rejections(a *api.Allocation) (n int) {
	if a.RescheduleTracker != nil {
		n = a.RescheduleTracker.Rejections
	}
	if refusal(a) != "" {
		n++
	}
	return n
}

// refusal is why the allocation's node refused it, if that counts for its job;
// "" otherwise: of a job that counts none a refusal is a failure like others.
func refusal(a *api.Allocation) string {
	if a.Job != nil {
		if _, counted := a.Job.RejectionsAllowed(); !counted {
			return ""
		}
	}
	return a.Rejection()
}

// tried are the replacements that led to the allocation, without those of what
// was rejected: that was no attempt.
func tried(a *api.Allocation) []*api.RescheduleEvent {
	all := events(a)
	for i, e := range all {
		if e.Rejected == "" {
			continue
		}
		kept := append([]*api.RescheduleEvent(nil), all[:i]...)
		for _, e := range all[i+1:] {
			if e.Rejected == "" {
				kept = append(kept, e)
			}
		}
		return kept
	}
	return all
}
