// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes. Commands that use others say so in their help.
const (
	exitOK      = 0
	exitError   = 1   // the command could not do what it was asked
	exitBlocked = 2   // job run: registered, but not all of it could be placed
	exitChanges = 1   // job plan: registering would change something
	exitPlan    = 255 // job plan: could not plan
)

// exit ends the program with a code. With an error, that is printed.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return "exit code " + strconv.Itoa(e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// exitWith ends the program with a code and says nothing more.
func exitWith(code int) error { return &exit{code: code} }

// annotationErrorCode is the exit code of a command's errors when it is not
// exitError.
const annotationErrorCode = "reeve/error-code"

// finish prints the error that a command ended with and returns the exit code.
func (c *cli) finish(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	code := exitError
	if cmd != nil && cmd.Annotations[annotationErrorCode] != "" {
		code, _ = strconv.Atoi(cmd.Annotations[annotationErrorCode])
	}
	var e *exit
	if errors.As(err, &e) {
		code = e.code
		if e.err == nil {
			return code
		}
		err = e.err
	}
	red := c.stderrStyle().Red("Error:")
	fmt.Fprintln(c.Stderr, red, strings.TrimRight(c.explain(err), "\n"))
	var usage *usageError
	if errors.As(err, &usage) && cmd != nil {
		fmt.Fprintf(c.Stderr, "\nUsage: %s\nRun \"%s -help\" for details.\n", useLine(cmd), cmd.CommandPath())
	}
	return code
}

// explain is an error in words for whoever typed the command.
func (c *cli) explain(err error) string {
	return cmp.Or(c.connectionHint(err), err.Error())
}

// usageError is a command line that makes no sense.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}
