// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Draw draws a plan as a tree of text.
func Draw(p *api.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s strategy) (%s)", p.Name, p.Strategy, p.Status)
	write(&b, p.Message)
	for i, ph := range p.Phases {
		branch, trunk := "├─ ", "│  "
		if i == len(p.Phases)-1 {
			branch, trunk = "└─ ", "   "
		}
		strategy := ph.Strategy
		if ph.MaxParallel > 1 {
			strategy += fmt.Sprintf(", %d at a time", ph.MaxParallel)
		}
		fmt.Fprintf(&b, "%s%s (%s strategy) (%s)", branch, ph.Name, strategy, ph.Status)
		write(&b, unlessQueued(ph.Message))
		for j, st := range ph.Steps {
			leaf := "├─ "
			if j == len(ph.Steps)-1 {
				leaf = "└─ "
			}
			fmt.Fprintf(&b, "%s%s%s", trunk, leaf, st.Name)
			if st.Node != "" {
				fmt.Fprintf(&b, " on %s", api.ShortID(st.Node))
			}
			fmt.Fprintf(&b, " (%s)", st.Status)
			if st.Recovery != "" {
				b.WriteString(" " + st.Recovery)
			}
			write(&b, unlessQueued(st.Message))
		}
	}
	return b.String()
}

func write(b *strings.Builder, message string) {
	if message != "" {
		b.WriteString(" " + message)
	}
	b.WriteByte('\n')
}

// unlessQueued leaves out what the tree shows anyway: what comes before it.
func unlessQueued(message string) string {
	if strings.HasPrefix(message, tree.ComesAfter) {
		return ""
	}
	return message
}
