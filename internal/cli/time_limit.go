// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// exitTimeout is the exit code of a command whose -timeout ends its watch: that of timeout(1).
const exitTimeout = 124

// checkTimeout rejects a limit that is not above 0.
func (d *command) checkTimeout(r *call) error {
	if (d.follow || d.limit) && r.flags.Changed("timeout") && r.timeout <= 0 {
		return usagef("-timeout %s is not above 0; leave the flag out to watch without limit", r.timeout)
	}
	return nil
}

// limited returns a call that ends after -timeout.
func (r *call) limited() (*call, context.CancelFunc) {
	if r.timeout == 0 {
		return r, func() {}
	}
	within := *r
	var cancel context.CancelFunc
	within.ctx, cancel = context.WithTimeoutCause(r.ctx, r.timeout, errNotInTime)
	return &within, cancel
}

// isLate reports whether a watch failed because its limit has passed.
func isLate(ctx context.Context, err error) bool {
	var e *exit
	return err != nil && !errors.As(err, &e) && errors.Is(context.Cause(ctx), errNotInTime)
}

// lateError returns the error of a watch whose limit has passed, with the command that continues it.
func lateError(what string, limit time.Duration, next string) error {
	return &exit{code: exitTimeout, err: fmt.Errorf("%s did not end within %s; it continues without this command\nContinue to watch:  %s", what, limit, next)}
}
