// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// The hidden words. They are not commands for people.
const (
	wordSupervise = "supervise"
	wordResume    = "supervise-resume"
	wordCheck     = "supervise-check"
	wordInit      = "supervise-init"
	wordEnter     = "supervise-enter"
	wordJoin      = "supervise-join"
	wordBecome    = "supervise-become"
)

// The main thread stays the main goroutine's: the supervisor throws threads away
// together with what it changed in them, which the main thread cannot be. Only
// here is it certain that this runs on it.
func init() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], wordSupervise) {
		runtime.LockOSThread()
	}
}

// Dispatch runs what this process was started for, if that is one of the
// supervisor's hidden words, and returns its exit code. args are the arguments
// without the program's name. It must be the first thing that main does, on the
// main goroutine.
func Dispatch(args []string) (handled bool, code int) {
	if len(args) == 0 {
		return false, 0
	}
	switch args[0] {
	case wordSupervise, wordResume:
		if len(args) != 3 {
			fmt.Fprintf(os.Stderr, "%s is started by the agent; it wants a directory and a kind of cgroups\n", args[0])
			return true, 2
		}
		return true, serve(args[1], args[2], args[0] == wordResume)
	case wordCheck:
		fmt.Println(checkAnswer)
		return true, 0
	case wordInit:
		return true, isolate.Init()
	case wordEnter:
		return true, isolate.Enter()
	case wordJoin, wordBecome:
		return true, isolate.Join()
	}
	return false, 0
}
