// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// A deployment whose canaries were promoted is successful with the commit that has
// the older instances stopped, and not before.
func TestBlueGreenSucceedsNotBeforeTheOldIsToldToStop(t *testing.T) {
	r := &rollout{world: newWorld(t)}
	for i := range 3 {
		r.addNode(fmt.Sprintf("n%d", i+1), 10000, 10000, "dc1", nil)
	}
	r.world.register([]string{"web"}, []string{"group web count=2"})
	r.world.evaluate(r.evaluation())
	well := func() {
		for _, a := range r.audible() {
			r.wellOrNot(a, true)
		}
	}
	well()
	r.check()
	r.world.register([]string{"web"}, []string{"group web count=2 canary=2 env=2"})
	r.world.evaluate(r.evaluation())
	well()
	r.promote([]string{"web"})
	if got := r.check(); !strings.HasPrefix(got, "goes on") {
		t.Errorf("before the evaluation that follows the promotion: %s", got)
	}
	r.world.evaluate(r.evaluation())
	if d := r.snapshot().LatestDeployment(api.DefaultNamespace, r.job); d.Status != api.DeploymentSuccessful {
		t.Errorf("after it the deployment is %s", d.Status)
	}
	for _, a := range r.allocations() {
		if a.JobVersion() == 0 && !a.IsServerTerminal() {
			t.Errorf("%s of version 0 was not told to stop", a.Name)
		}
	}
}
