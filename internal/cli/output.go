// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"

	"github.com/reeve-run/reeve/internal/cli/term"
)

func (c *cli) live() *term.Live { return term.NewLive(c.Stderr) }

func (c *cli) page() *term.Page {
	return &term.Page{Style: c.stdoutStyle(), Now: c.Now(), Width: term.Width(c.Stdout)}
}

func (c *cli) stdoutStyle() term.Style { return c.styleOf(c.Stdout) }

func (c *cli) stderrStyle() term.Style { return c.styleOf(c.Stderr) }

func (c *cli) styleOf(w io.Writer) term.Style {
	switch {
	case c.flags.noColor, c.Getenv("NO_COLOR") != "":
		return term.Style{}
	case c.flags.forceColor:
		return term.Style{On: true}
	}
	return term.Style{On: term.IsTerminal(w) && c.Getenv("TERM") != "dumb"}
}
