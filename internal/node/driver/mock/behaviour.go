// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package mock

import (
	"errors"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// A behaviour holds the config of a task.
type behaviour struct {
	runFor      time.Duration // 0: ends immediately; negative: never ends
	exitCode    int
	exitSignal  int
	exitError   string // error of Wait
	startError  string
	recoverable bool // reports whether the start may be retried
	startBlock  time.Duration
	killAfter   time.Duration // delay between a stop and the end
	signalError string
	stdout      string
	repeat      int // number of times that stdout is repeated, at intervals of every
	repeatEvery time.Duration
}

func readBehaviour(t *driver.Task) (b behaviour, err error) {
	var problems []error
	duration := func(key string, to *time.Duration) {
		v, err := t.ConfigDuration(key)
		problems, *to = append(problems, err), v
	}
	number := func(key string, to *int) {
		v, err := t.ConfigInt(key)
		problems, *to = append(problems, err), v
	}
	text := func(key string, to *string) {
		v, err := t.ConfigString(key)
		problems, *to = append(problems, err), v
	}
	duration("run_for", &b.runFor)
	number("exit_code", &b.exitCode)
	number("exit_signal", &b.exitSignal)
	text("exit_err_msg", &b.exitError)
	text("start_error", &b.startError)
	b.recoverable, err = t.ConfigBool("start_error_recoverable")
	problems = append(problems, err)
	duration("start_block_for", &b.startBlock)
	duration("kill_after", &b.killAfter)
	text("signal_error", &b.signalError)
	text("stdout_string", &b.stdout)
	number("stdout_repeat", &b.repeat)
	duration("stdout_repeat_duration", &b.repeatEvery)
	return b, errors.Join(problems...)
}
