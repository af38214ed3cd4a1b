// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"
)

func TestActionsOfATask(t *testing.T) {
	many := make([]*Action, maxActions+1)
	for name, c := range map[string]struct {
		actions []*Action
		want    string // "": it is right
	}{
		"right":         {[]*Action{{Name: "flush-cache", Command: "/bin/true", Args: []string{""}}, {Name: "Dump2", Command: "x"}}, ""},
		"no name":       {[]*Action{{Command: "x"}}, `action "": a name must be`},
		"a space":       {[]*Action{{Name: "get info", Command: "x"}}, `action "get info": a name must be`},
		"a slash":       {[]*Action{{Name: "../x", Command: "x"}}, `a name must be`},
		"a long name":   {[]*Action{{Name: strings.Repeat("x", 129), Command: "x"}}, `a name must be`},
		"a line":        {[]*Action{{Name: "x\n", Command: "x"}}, `a name must be`},
		"two":           {[]*Action{{Name: "x", Command: "x"}, {Name: "x", Command: "y"}}, `action "x": the task has two`},
		"no command":    {[]*Action{{Name: "x"}}, `action "x": command is missing`},
		"null":          {[]*Action{nil}, "an entry is null"},
		"too many":      {many, "65 actions"},
		"too many args": {[]*Action{{Name: "x", Command: "x", Args: make([]string, maxActionArgs+1)}}, "at most 256 arguments"},
		"too long":      {[]*Action{{Name: "x", Command: "x", Args: []string{strings.Repeat("x", maxActionText)}}}, "put the text into a script"},
	} {
		var c2 complaints
		(&Task{Actions: c.actions}).validateActions(&c2, `task "t"`)
		found := slices.ContainsFunc(c2, func(s string) bool { return strings.Contains(s, c.want) })
		if c.want == "" && len(c2) > 0 || c.want != "" && !found {
			t.Errorf("%s: got %q, want %q", name, c2, c.want)
		}
	}
}
