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

// Exit codes. The help of commands lists other codes.
const (
	exitOK      = 0
	exitError   = 1   // the command failed
	exitBlocked = 2   // job run: registered, but some instances were not placed
	exitChanges = 1   // job plan: registration would change allocations
	exitPlan    = 255 // job plan: the plan failed
)

// exit ends the program with a code, after printing its error.
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

// exitWith returns an error that ends the program with a code and prints nothing.
func exitWith(code int) error { return &exit{code: code} }

// annotationErrorCode is the exit code of a command's errors, if it is not exitError.
const annotationErrorCode = "reeve/error-code"

// finish prints the error of a command, and returns the exit code.
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

// explain formats an error for the operator.
func (c *cli) explain(err error) string {
	return cmp.Or(c.connectionHint(err), err.Error())
}

// usageError is the error of an invalid command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}
