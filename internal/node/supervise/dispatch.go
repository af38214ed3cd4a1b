// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// Hidden command-line words. Users do not call them.
const (
	wordSupervise = "supervise"
	wordResume    = "supervise-resume"
	wordCheck     = "supervise-check"
	wordInit      = "supervise-init"
	wordEnter     = "supervise-enter"
	wordJoin      = "supervise-join"
	wordBecome    = "supervise-become"
	wordContainer = "supervise-container"
	wordSession   = "supervise-session"
	wordIdle      = "supervise-idle"
)

// WordReap makes this executable the first process of a container: it runs the program that
// follows, passes signals on to it, and reaps all other processes.
const WordReap = "supervise-reap"

// init locks the main goroutine to the main thread. The supervisor discards threads whose
// attributes it has changed, which is impossible for the main thread. Only init is certain
// to run on it.
func init() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], wordSupervise) {
		runtime.LockOSThread()
	}
}

// Dispatch runs this process as a supervisor or as one of its steps if the first argument is
// one of the hidden words, and returns its exit code. args are the arguments without the
// program's name. Call it first in main, on the main goroutine.
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
	case wordContainer:
		return true, oci.Prepare()
	case wordSession:
		return true, oci.EnterContainer(args[1:])
	case wordIdle:
		return true, idle()
	case WordReap:
		return true, oci.Reap(args[1:])
	}
	return false, 0
}
