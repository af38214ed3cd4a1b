// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// watchLaunches starts to judge the health of the allocation under its launches when these
// change. Unlike the health of a deployment, it is judged again for each new set of launches,
// and concerns only the tasks that run now.
func (r *Runner) watchLaunches() {
	l := r.alloc.Launches
	switch {
	case l == nil:
		r.launching.stop()
		r.launching, r.launched = nil, nil
	case r.launched == nil || r.launched.ID != l.ID:
		r.launching.stop()
		r.launching = nil
		r.launched = &api.LaunchStatus{ID: l.ID, Timestamp: time.Now()}
		r.markModified()
		r.host.Changed(r, false) // a verdict is urgent, its start is not
		r.judgeLaunches()
	case r.launched.Healthy == nil && r.launching == nil:
		r.judgeLaunches()
	}
}

func (r *Runner) judgeLaunches() {
	switch {
	case r.group.Update == nil: // without criteria, running is enough
		r.launching = &healthWatch{checks: true}
	default:
		r.launching = r.updatePolicy()
	}
	r.launching.begin(r, r.decideLaunches)
}

// decideLaunches records the verdict on the allocation's launches.
func (r *Runner) decideLaunches(healthy bool, why string) {
	r.launching = nil
	r.launched = &api.LaunchStatus{ID: r.launched.ID, Healthy: &healthy, Timestamp: time.Now()}
	r.recordVerdict(healthy, why)
}
