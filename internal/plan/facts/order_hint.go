// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/opt"
)

// OrderHint says how to have the first deployment of the job in order, where it
// looks as if that were wanted: it has several groups, keeps data with its
// instances, or orders another of its plans. "" where there is nothing to say.
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
			why = append(why, fmt.Sprintf("its plan %q says what comes after what", p.Name))
		}
	}
	if len(why) == 0 {
		return ""
	}
	all := fmt.Sprintf("all %d instances", instances)
	if job.RunsOnEveryNode() {
		all = "all instances"
	}
	return fmt.Sprintf("the first deployment starts %s at once, whatever \"update\" says. To start them in order (%s), add: plan \"deploy\" { strategy = \"serial\" }",
		all, strings.Join(why, "; "))
}

// keepsData reports whether instances of the group have data that is their own.
func keepsData(g *api.Group) bool {
	return g.EphemeralDisk != nil && opt.Of(g.EphemeralDisk.Sticky) || g.Recovery != nil || len(g.Volumes) > 0
}
