// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

func TestStepsOfParallelPhasesComeAfterTheirInstancesOnly(t *testing.T) {
	g := &facts.Group{Name: "db"}
	one, two := &facts.Instance{Group: g}, &facts.Instance{Group: g, Index: 1}
	steps := func() []Step {
		return []Step{
			{On: one, Tasks: []string{"dump"}, Status: Pending}, {On: one, Tasks: []string{"send"}, Status: Pending},
			{On: two, Tasks: []string{"dump"}, Status: Pending}, {On: two, Tasks: []string{"send"}, Status: Pending},
		}
	}
	for _, c := range []struct {
		strategy string
		want     []string
	}{
		{api.StrategySerial, []string{"", "comes after db-0:[dump]", "comes after db-0:[dump]", "comes after db-0:[dump]"}},
		{api.StrategyParallel, []string{"", "comes after db-0:[dump]", "", "comes after db-1:[dump]"}},
	} {
		p := &Phase{Strategy: c.strategy, Open: true, Steps: steps()}
		for i, want := range c.want {
			if got := p.QueueReason(&Tree{}, &p.Steps[i], p.Ahead(i, &p.Steps[0])); got != want {
				t.Errorf("%s, step %d: %q, want %q", c.strategy, i, got, want)
			}
		}
	}
}

func TestStepsTellSinceWhenTheirAllocationIsToldToStop(t *testing.T) {
	placed, told := time.Unix(1, 0), time.Unix(9, 0)
	a := &api.Allocation{CreateTime: placed.UnixNano(), ModifyTime: told.UnixNano()}
	st := Step{On: &facts.Instance{Alloc: a}, Status: Starting}
	if got := st.Since(); !got.Equal(placed) {
		t.Errorf("being placed since %s, want %s", got, placed)
	}
	a.DesiredStatus = api.AllocDesiredStop
	if got := st.Since(); !got.Equal(told) {
		t.Errorf("being stopped since %s, want %s", got, told)
	}
}
