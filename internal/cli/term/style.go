// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package term

import (
	"os"

	"golang.org/x/term"

	"github.com/reeve-run/reeve/api"
)

// A Style colours text, or returns it unchanged.
type Style struct{ On bool }

func (s Style) wrap(code, text string) string {
	if !s.On || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) Bold(t string) string { return s.wrap("1", t) }

func (s Style) Dim(t string) string { return s.wrap("2", t) }

func (s Style) Red(t string) string { return s.wrap("31", t) }

func (s Style) Green(t string) string { return s.wrap("32", t) }

func (s Style) Yellow(t string) string { return s.wrap("33", t) }

func (s Style) Cyan(t string) string { return s.wrap("36", t) }

// Status colours a status by its meaning.
func (s Style) Status(t string) string {
	switch t {
	case api.JobStatusRunning, api.EvalStatusComplete, api.DeploymentSuccessful,
		api.NodeStatusReady, api.NodeEligible, api.CheckStatusSuccess, "healthy":
		return s.Green(t)
	case api.AllocClientFailed, api.AllocClientLost, api.NodeStatusDown, "silent", api.CheckStatusFailure, "unhealthy":
		return s.Red(t)
	case api.JobStatusPending, api.EvalStatusBlocked, api.DeploymentPaused, api.AllocClientUnknown,
		api.NodeStatusInit, api.NodeStatusDisconnected, api.NodeIneligible, "starting":
		return s.Yellow(t)
	}
	return t
}

// Width returns the number of columns of a stream; 0 if it is not a terminal.
func Width(stream any) int {
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

// IsTerminal reports whether a stream of the process is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
