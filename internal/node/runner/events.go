// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

func event(kind, words string) *api.TaskEvent {
	return &api.TaskEvent{Type: kind, Time: time.Now().UnixNano(), DisplayMessage: words, Message: words}
}

func received() *api.TaskEvent { return event(api.EventReceived, "The task is on its node") }

func message(format string, args ...any) *api.TaskEvent {
	e := event(api.EventDriverMessage, fmt.Sprintf(format, args...))
	e.DriverMessage = e.DisplayMessage
	return e
}

func setupFailure(err error) *api.TaskEvent {
	e := event(api.EventSetupFailure, "Setup failed: "+err.Error())
	e.SetupError, e.FailsTask = err.Error(), true
	return e
}

func driverFailure(err error) *api.TaskEvent {
	e := event(api.EventDriverFailure, "The driver could not start the task: "+err.Error())
	e.DriverError = err.Error()
	return e
}

// terminated makes the event of a process that ended.
func terminated(x driver.Exit) *api.TaskEvent {
	kind := api.EventTerminated
	if errors.Is(x.Err, driver.ErrTaskLost) || errors.Is(x.Err, driver.ErrTaskUnknown) {
		kind = api.EventLost
	}
	e := event(kind, describeExit(x))
	if !x.At.IsZero() {
		e.Time = x.At.UnixNano()
	}
	e.ExitCode, e.Signal = x.Code, x.Signal
	e.Details = map[string]string{"exit_code": strconv.Itoa(x.Code), "signal": strconv.Itoa(x.Signal)}
	if x.OOMKilled {
		e.Details["oom_killed"] = "true"
	}
	return e
}

// describeExit describes an exit, as the start of an event's sentence.
func describeExit(x driver.Exit) string {
	if x.Err != nil {
		words := x.Err.Error()
		return strings.ToUpper(words[:1]) + words[1:]
	}
	words := []string{fmt.Sprintf("Exit Code: %d", x.Code)}
	if x.Signal != 0 {
		words = append(words, fmt.Sprintf("Signal: %d", x.Signal))
	}
	if x.OOMKilled {
		words = append(words, "out of memory: killed by the kernel (OOM)")
	}
	return strings.Join(words, ", ")
}

func restarting(v restartDecision) *api.TaskEvent {
	if !v.restart {
		e := event(api.EventNotRestarting, v.message)
		e.RestartReason, e.FailsTask = v.message, true
		return e
	}
	e := event(api.EventRestarting, v.message)
	e.RestartReason, e.StartDelay = v.message, int64(v.delay)
	e.Details = map[string]string{"start_delay": strconv.FormatInt(int64(v.delay), 10)}
	return e
}

// killing makes the event of a task that is being stopped, with the reason and the signal.
func killing(why cause, signal string, timeout time.Duration) *api.TaskEvent {
	how := fmt.Sprintf("Sent %s, SIGKILL follows after %s", signal, formatDelay(timeout))
	e := event(api.EventKilling, how)
	if why.message != "" {
		e.DisplayMessage = why.message + ". " + how
	}
	e.KillReason, e.KillTimeout, e.TaskSignal = why.message, timeout, signal
	e.Details = map[string]string{"kill_timeout": timeout.String()}
	return e
}

// siblingEvent makes the event that precedes killing if another task is the reason; nil
// otherwise.
func siblingEvent(why cause) *api.TaskEvent {
	if why.event == api.EventKilling {
		return nil
	}
	e := event(why.event, why.message)
	if why.event == api.EventSiblingFailed {
		e.FailedSibling = why.sibling
		e.Details = map[string]string{"failed_sibling": why.sibling}
	}
	return e
}
