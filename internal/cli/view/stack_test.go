// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"strings"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func TestAStackShowsNoVerdictThatItsCallersContradict(t *testing.T) {
	const moved = "received the traffic of an older stack"
	for name, c := range map[string]struct {
		verdict api.Verdict
		callers []string
		want    string
	}{
		"still called":      {api.Verdict{Kept: true, Reason: api.KeptCalled, Callers: []string{"shop"}}, []string{"web", "shop"}, "the verdict"},
		"called no longer":  {api.Verdict{Kept: true, Reason: api.KeptCalled, Callers: []string{"shop"}}, []string{"web"}, moved},
		"exposed no longer": {api.Verdict{Kept: true, Reason: api.KeptExposed, Subject: "shop.test"}, nil, moved},
		"still exposed":     {api.Verdict{Kept: true, Reason: api.KeptExposed, Subject: "shop.test"}, []string{"shop.test"}, "the verdict"},
		"tag removed":       {api.Verdict{Kept: true, Reason: api.KeptTagged, Subject: "canary"}, nil, moved},
		"idle":              {api.Verdict{Kept: true, Reason: api.KeptIdle}, nil, "the verdict"},
		"held":              {api.Verdict{Kept: true, Reason: api.KeptHeld, Subject: "ann"}, []string{"shop"}, "the verdict"},
		"stale":             {api.Verdict{Kept: true, Reason: api.KeptStale}, []string{"shop"}, "the verdict"},
		"uncalled":          {api.Verdict{Reason: api.DeclinedUncalled}, nil, "not kept: the verdict"},
		"called since":      {api.Verdict{Reason: api.DeclinedUncalled}, []string{"shop"}, moved},
		"too many stacks":   {api.Verdict{Reason: api.DeclinedCrowded}, []string{"127.0.0.1"}, "not kept: the verdict"},
	} {
		s := &api.StackStatus{Shown: api.StackReady, Callers: c.callers, Standing: moved, Why: "the verdict", Stack: &api.Stack{
			Name: "web--1-0-0--aaaaaaaa", Status: api.StackReady, Verdict: &c.verdict,
		}}
		p := &term.Page{Now: clitest.Now}
		view.Stacks(p, []*api.StackStatus{s})
		if got := strings.TrimSpace(p.String()); !strings.HasSuffix(got, "  "+c.want) {
			t.Errorf("%s: the list ends with another reason than %q:\n%s", name, c.want, got)
		}
	}
}
