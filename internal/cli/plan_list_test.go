// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
)

func TestWhatMovesIsWorthFollowing(t *testing.T) {
	deploy, recovery := clitest.Plan(api.PlanDeploy, api.PlanWaiting), clitest.Plan(api.PlanRecovery, api.PlanDelayed)
	backup := clitest.Plan("backup", api.PlanWaiting)
	for _, c := range []struct {
		plans []*api.Plan
		want  string
	}{
		{[]*api.Plan{deploy, recovery, backup}, api.PlanRecovery},
		{[]*api.Plan{clitest.Plan(api.PlanDeploy, api.PlanInProgress), recovery}, api.PlanDeploy},
		{[]*api.Plan{clitest.Plan(api.PlanDeploy, api.PlanComplete), backup, clitest.Plan(api.PlanDrain, api.PlanError)}, api.PlanDrain},
		{[]*api.Plan{deploy, backup}, api.PlanDeploy},
		{[]*api.Plan{backup}, api.PlanDeploy}, // of a watch that names none
	} {
		if got := firstUnderWay(c.plans); got != c.want {
			t.Errorf("of %d plans, %s is followed, want %s", len(c.plans), got, c.want)
		}
	}
}
