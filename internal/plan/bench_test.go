// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan"
)

// BenchmarkReconcile works out what to do about a service of n instances: all
// of them new, all of them well, and all of them of an older version.
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{1, 1000, 10000} {
		w := newWorld(b)
		for i := range max(n/100, 1) {
			w.addNode(fmt.Sprintf("n%d", i), 20000, 20000, "dc1", nil)
		}
		register := func(env string) {
			w.register([]string{"web"}, []string{fmt.Sprintf("group api count=%d env=%s", n, env)})
		}
		measure := func(what string) {
			b.Run(fmt.Sprintf("%s/count=%d", what, n), func(b *testing.B) {
				snap, job, eval := w.snapshot(), w.newest(), w.evaluation()
				b.ReportAllocs()
				for b.Loop() {
					plan.Reconcile(snap, job, eval, w.now)
				}
			})
		}
		register("1")
		measure("new")
		w.evaluate(w.evaluation())
		for _, a := range w.allocations() {
			w.report(a, func(u *api.Allocation) {
				u.ClientStatus = api.AllocClientRunning
				u.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: new(true), Timestamp: w.now}
			})
		}
		measure("well")
		register("2")
		measure("older")
	}
}
