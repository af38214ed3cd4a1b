// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// watchLaunches begins to judge how the allocation is with its launches, when
// they have changed. Unlike a deployment's, that question is asked anew with
// each of them, and is about the tasks that are to run now.
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
		r.host.Changed(r, false) // it is urgent when something comes of it
		r.askLaunches()
	case r.launched.Healthy == nil && r.launching == nil:
		r.askLaunches()
	}
}

func (r *Runner) askLaunches() {
	switch {
	case r.group.Update == nil: // then nothing says more than that it is to run
		r.launching = &healthWatch{checks: true}
	default:
		r.launching = r.updatePolicy()
	}
	r.launching.begin(r, r.decideLaunches)
}

// decideLaunches says how the allocation is with its launches.
func (r *Runner) decideLaunches(healthy bool, why string) {
	r.launching = nil
	r.launched = &api.LaunchStatus{ID: r.launched.ID, Healthy: &healthy, Timestamp: time.Now()}
	r.decided(healthy, why)
}
