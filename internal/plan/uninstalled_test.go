// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/state"
)

// TestUninstalledKeepsTheElementsOfItsPlan compares the tree of a purge with what
// is shown when the job is gone.
func TestUninstalledKeepsTheElementsOfItsPlan(t *testing.T) {
	o := newOrphanage(t, 2)
	o.apply(&state.RegisterJob{Job: orphanJob(2, "1")})
	o.apply(&state.DeregisterJob{Namespace: "default", ID: "web", Purge: true, Time: 100})
	job := o.store.Snapshot().Job("default", "web")
	o.apply(&state.CommitPlacement{Placement: &state.Placement{Stop: []state.Stop{{ID: "a", Reason: api.ReasonPurged}, {ID: "b", Reason: api.ReasonPurged}}, Time: 101}})
	v := view.Derive(o.store.Snapshot(), job.Key(), job, o.now)
	going := v.Plan(api.PlanUninstall)
	v.Release()
	o.apply(&state.UpdateAllocations{Time: 102, Allocations: []*api.Allocation{
		{ID: "a", ClientStatus: api.AllocClientComplete}, {ID: "b", ClientStatus: api.AllocClientComplete},
	}})
	o.apply(&state.CommitPlacement{Placement: &state.Placement{Job: job, Deregister: true, Time: 103}})
	gone := view.Uninstalled(o.store.Snapshot().Uninstalled("default", "web"), true)

	if diff := cmp.Diff(elements(going), elements(gone)); diff != "" {
		t.Errorf("elements of the plan (-before +after):\n%s", diff)
	}
	const want = `uninstall (serial strategy) (COMPLETE) the job is removed
├─ kill (parallel strategy) (COMPLETE)
│  ├─ kill-web-0-a (COMPLETE)
│  └─ kill-web-1-b (COMPLETE)
└─ deregister (serial strategy) (COMPLETE)
   └─ deregister (COMPLETE)
`
	if diff := cmp.Diff(want, view.Draw(gone)); diff != "" {
		t.Errorf("the plan of the removed job (-want +got):\n%s", diff)
	}
	if !gone.Since.Equal(time.Unix(0, 103)) {
		t.Errorf("it is so since %s, want when the job was removed", gone.Since)
	}
}

// elements lists what a plan is made of, without how far it is.
func elements(p *api.Plan) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.ID, p.Name, p.Namespace, p.JobID, p.JobVersion, p.Strategy, p.Total)
	for _, ph := range p.Phases {
		fmt.Fprintln(&b, ph.ID, ph.Name, ph.Strategy, ph.After, ph.Total)
		for _, st := range ph.Steps {
			fmt.Fprintln(&b, st.ID, st.Name, st.Group, st.Index, st.Allocation, st.JobVersion)
		}
	}
	return b.String()
}

func TestUninstalledSaysWhatItLeavesOut(t *testing.T) {
	p := view.Uninstalled(&api.Uninstalled{Namespace: "default", JobID: "web", Allocations: 5, Killed: []*api.UninstalledAllocation{{ID: "a", Group: "g"}}}, true)
	kill := p.Phases[0]
	if p.Total != 6 || p.Completed != 6 || kill.Total != 5 || len(kill.Steps) != 1 || !strings.HasPrefix(kill.Message, "4 more steps are complete") {
		t.Errorf("the phase is %+v of %+v, want all steps counted and the missing ones told", kill, p)
	}
}
