// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// OrderHint returns a hint how to start the first deployment of the job in order; "" if
// the job does not seem to need an order. A job seems to need one if it has several
// groups, keeps data with its instances, or orders another of its plans.
func OrderHint(r Reader, job *api.Job) string {
	s := &versions{r: r, key: job.Key(), job: job}
	if !s.IsWanted() || job.RunsToCompletion() || s.DeploySpec() != nil || s.WasDeployed() {
		return ""
	}
	var why []string
	groups, instances := 0, 0
	for _, g := range job.Groups {
		if g.Size() <= 0 {
			continue
		}
		groups++
		instances += g.Size()
		if keepsData(g) && g.Size() > 1 {
			why = append(why, fmt.Sprintf("group %q keeps data with its instances", g.Name))
		}
	}
	if groups > 1 {
		why = append([]string{fmt.Sprintf("it has %d groups", groups)}, why...)
	}
	for _, p := range job.Plans {
		if p.Strategy == api.StrategyDependency {
			why = append(why, fmt.Sprintf("its plan %q orders its steps", p.Name))
		}
	}
	if len(why) == 0 {
		return ""
	}
	all := fmt.Sprintf("all %d instances", instances)
	if job.RunsOnEveryNode() {
		all = "all instances"
	}
	return fmt.Sprintf("the first deployment starts %s at the same time, regardless of \"update\". To start them in order (%s), add: plan \"deploy\" { strategy = \"serial\" }",
		all, strings.Join(why, "; "))
}

// keepsData reports whether instances of the group have data that is their own.
func keepsData(g *api.Group) bool {
	return g.EphemeralDisk != nil && opt.Of(g.EphemeralDisk.Sticky) || g.Recovery != nil || len(g.Volumes) > 0
}
