// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

func TestCommandsThatWriteTheSameStackShareNoEntry(t *testing.T) {
	s := fullStack("shop", "1.0.0", "aaaaaaaa", api.StackPending)
	want := AppendWrites(nil, PutStack(s))
	for what, c := range map[string]Command{
		"a deletion":   ForgetStack(s),
		"a deployment": &DeployStacks{Stacks: []*api.Stack{nil, s}, Jobs: []*api.Job{nil, testJob(s.Name)}},
		"an extension": &SweepStacks{Extended: []StackExtension{{Stacks: []string{jobName("default", s.Name)}}}},
		"a verb":       &Decide{Decision: fullDecision(), Stack: s},
		"a decision":   &SweepStacks{Decided: []StackDecision{{Namespace: "default", Name: s.Name}}},
	} {
		if diff := cmp.Diff(want, AppendWrites(nil, c)); diff != "" {
			t.Errorf("%s of a stack (-put +got):\n%s", what, diff)
		}
	}
}
