// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

func TestWhetherItServesNeedsNoEvaluation(t *testing.T) {
	old := &api.Allocation{ClientStatus: api.AllocClientRunning, DesiredStatus: api.AllocDesiredRun, DeploymentID: "d", Serving: &api.Serving{Up: true, Routable: true}}
	is := old.Copy()
	is.Serving = &api.Serving{Up: true, Reason: "check \"ready\" failed", Since: 5}
	is.Crashes = &api.Crashes{Count: 1, Reason: "why"}
	if trigger, needed := NeedsEvaluation(old, is); needed {
		t.Errorf("an allocation that loses readiness makes an evaluation %q", trigger)
	}
}
