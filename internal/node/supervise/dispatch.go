// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Hidden command-line words. Users do not call them. Package step has those of the steps.
const (
	wordSupervise = "supervise"
	wordResume    = "supervise-resume"
	wordCheck     = "supervise-check"
)

// init locks the main goroutine to the main thread. The supervisor discards threads whose
// attributes it has changed, which is impossible for the main thread. Only init is certain
// to run on it.
func init() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], wordSupervise) {
		runtime.LockOSThread()
	}
}

// Dispatch runs this process as a supervisor if the first argument is one of the hidden words, and returns
// its exit code. args are the arguments without the program's name. Call it first in main, on the main
// goroutine. It is not reached with the word of a step.
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
	}
	return false, 0
}
