// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/state"
)

// NAME[INDEX]! is the canary of that name.
//
//	promote [GROUP...]          somebody promotes the canaries; then evaluate
//	judge healthy|unhealthy INSTANCE...   somebody says how they are; then evaluate
//	unblock                     ask for the deployment to be unblocked
//	revert VERSION              the version's specification is registered again; then evaluate
//	scale GROUP N               then evaluate
//	deployment                  print how the newest one stands
func init() {
	verbs["promote"] = func(w *world, args, _ []string) string {
		d, err := operator.Promote(w.snapshot(), w.latest(), args)
		if err != nil {
			return "refused: " + err.Error() + "\n"
		}
		var groups []string
		for name, g := range d.Groups {
			if g.Promoted && !w.latest().Groups[name].Promoted {
				groups = append(groups, name)
			}
		}
		slices.Sort(groups)
		w.apply(&state.PromoteDeployment{ID: d.ID, Groups: groups, Reason: d.StatusReason, Description: d.StatusDescription, Time: w.now.UnixNano()})
		return w.print(w.evaluation())
	}
	verbs["judge"] = func(w *world, args, _ []string) string {
		var ids, healthy, unhealthy []string
		for _, name := range args[1:] {
			ids = append(ids, w.named(name).ID)
		}
		if args[0] == "healthy" {
			healthy = ids
		} else {
			unhealthy = ids
		}
		d := w.latest()
		if err := operator.CheckHealth(w.snapshot(), d, healthy, unhealthy); err != nil {
			return "refused: " + err.Error() + "\n"
		}
		cmd := &state.SetAllocHealth{DeploymentID: d.ID, Healthy: healthy, Unhealthy: unhealthy, Time: w.now.UnixNano()}
		if len(unhealthy) > 0 {
			cmd.Status, cmd.Description = api.DeploymentFailed, "Failed due to unhealthy allocations"
		}
		w.apply(cmd)
		return w.print(w.evaluation())
	}
	verbs["unblock"] = func(w *world, _, _ []string) string {
		return "refused: " + operator.Unblock(w.latest()).Error() + "\n"
	}
	verbs["deployment"] = func(w *world, _, _ []string) string { return w.standing() }
	events["revert"] = func(w *world, args, _ []string) {
		version, _ := strconv.ParseUint(args[0], 10, 64)
		w.apply(&state.RegisterJob{Job: w.snapshot().JobVersion(api.DefaultNamespace, w.job, version).Copy()})
	}
	events["scale"] = func(w *world, args, _ []string) {
		n, _ := strconv.ParseInt(args[1], 10, 64)
		w.apply(&state.ScaleJob{
			Namespace: api.DefaultNamespace, ID: w.job, Group: args[0], Count: &n,
			Event: &api.ScalingEvent{Count: &n, Time: w.now.UnixNano()},
		})
	}
}

func (w *world) latest() *api.Deployment {
	w.t.Helper()
	d := w.snapshot().LatestDeployment(api.DefaultNamespace, w.job)
	if d == nil {
		w.t.Fatalf("%s has no deployment", w.job)
	}
	return d
}

// promote has the canaries of the groups promoted.
func (w *world) promote(groups []string) {
	w.t.Helper()
	d, err := operator.Promote(w.snapshot(), w.latest(), groups)
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(&state.PromoteDeployment{ID: d.ID, Groups: groups, Reason: d.StatusReason, Description: d.StatusDescription, Time: w.now.UnixNano()})
}

// named is the newest allocation of that name, whatever has become of it.
func (w *world) named(name string) *api.Allocation {
	w.t.Helper()
	all := w.allocations()
	slices.Reverse(all)
	for _, a := range all {
		if isNamed(a, name) {
			return a
		}
	}
	w.t.Fatalf("no allocation %q", name)
	return nil
}

// isNamed reports whether a script means the allocation.
func isNamed(a *api.Allocation, name string) bool {
	base, canary := strings.CutSuffix(name, "!")
	return strings.HasSuffix(a.Name, "."+base) && a.IsCanary() == canary
}

// standing prints the newest deployment.
func (w *world) standing() string {
	d := w.latest()
	var out strings.Builder
	fmt.Fprintf(&out, "v%d %s: %s\n", d.JobVersion, d.Status, d.StatusDescription)
	for _, name := range slices.Sorted(maps.Keys(d.Groups)) {
		g := d.Groups[name]
		fmt.Fprintf(&out, "%s: desired %d, placed %d, healthy %d, unhealthy %d", name, g.DesiredTotal, g.PlacedAllocs, g.HealthyAllocs, g.UnhealthyAllocs)
		if g.DesiredCanaries > 0 {
			fmt.Fprintf(&out, ", canaries %d of %d, promoted %t", len(g.PlacedCanaries), g.DesiredCanaries, g.Promoted)
		}
		if !g.RequireProgressBy.IsZero() {
			fmt.Fprintf(&out, ", progress by %s", g.RequireProgressBy.Sub(epoch).Round(time.Second))
		}
		out.WriteByte('\n')
	}
	return out.String()
}
