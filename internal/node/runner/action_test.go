// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"

	"github.com/reeve-run/reeve/api"
)

// TestTheNodeDecidesAgainAboutIsolation asks for commands that their caller may run in isolated tasks only.
func TestTheNodeDecidesAgainAboutIsolation(t *testing.T) {
	for _, test := range []struct {
		drivers []string
		task    string
		refused bool
	}{
		{[]string{"exec", "raw_exec"}, "a", false},
		{[]string{"exec", "raw_exec"}, "b", true},
		{[]string{"exec", "raw_exec"}, "", true},
		{[]string{"exec", "raw_exec"}, "none", true},
		{[]string{"container", "docker"}, "", false},
		{[]string{"unknown"}, "a", true},
		{[]string{"a-later-one"}, "a", true},
	} {
		g := &api.Group{}
		for i, d := range test.drivers {
			g.Tasks = append(g.Tasks, &api.Task{Name: string(rune('a' + i)), Driver: d})
		}
		err := (&Runner{group: g}).CheckIsolated(test.task)
		if (api.CodeOf(err) == api.CodeForbidden) != test.refused {
			t.Errorf("task %q of %v: %v", test.task, test.drivers, err)
		}
	}
}
