// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/reeve-run/reeve/api"
)

// style colours text, or leaves it alone.
type style struct{ on bool }

func (s style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string   { return s.wrap("1", t) }
func (s style) dim(t string) string    { return s.wrap("2", t) }
func (s style) red(t string) string    { return s.wrap("31", t) }
func (s style) green(t string) string  { return s.wrap("32", t) }
func (s style) yellow(t string) string { return s.wrap("33", t) }
func (s style) cyan(t string) string   { return s.wrap("36", t) }

// status colours a status by what it means.
func (s style) status(t string) string {
	switch t {
	case api.JobStatusRunning, api.EvalStatusComplete, api.DeploymentSuccessful,
		api.NodeStatusReady, api.NodeEligible, api.CheckStatusSuccess, "healthy":
		return s.green(t)
	case api.AllocClientFailed, api.AllocClientLost, api.NodeStatusDown, "silent", api.CheckStatusFailure, "unhealthy":
		return s.red(t)
	case api.JobStatusPending, api.EvalStatusBlocked, api.DeploymentPaused, api.AllocClientUnknown,
		api.NodeStatusInit, api.NodeStatusDisconnected, api.NodeIneligible, "starting":
		return s.yellow(t)
	}
	return t
}

func (c *cli) stdoutStyle() style { return c.styleOf(c.Stdout) }
func (c *cli) stderrStyle() style { return c.styleOf(c.Stderr) }

func (c *cli) styleOf(w io.Writer) style {
	switch {
	case c.flags.noColor, c.Getenv("NO_COLOR") != "":
		return style{}
	case c.flags.forceColor:
		return style{on: true}
	}
	return style{on: isTerminal(w) && c.Getenv("TERM") != "dumb"}
}

// terminalWidth is how many columns a stream has; 0 when it is no terminal.
func terminalWidth(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		return 0
	}
	return width
}

// isTerminal reports whether a stream of the process is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
