// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/internal/testbed"
)

// patience bounds each wait for a cluster, or for its work.
const patience = 2 * time.Minute

// An impatience is the error of a wait that exceeded the harness's patience. It decides nothing: a
// busy machine may need longer.
type impatience struct{ last error }

func (i *impatience) Error() string { return fmt.Sprintf("after %s: %v", patience, i.last) }
func (i *impatience) Unwrap() error { return i.last }

// A contradiction is an observation that more patience does not explain.
type contradiction struct{ error }

// contradict returns a contradiction.
func contradict(format string, args ...any) error {
	return contradiction{fmt.Errorf(format, args...)}
}

// await calls try until it succeeds, for the harness's patience. It ends early if the machine's agent ends.
func await(ctx context.Context, m *testbed.Machine, interval time.Duration, try func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return judge(m.Poll(waiting, interval, try), waiting.Err() != nil && ctx.Err() == nil)
}

// judge returns the error of a wait: an impatience if the wait took too long without a contradiction.
func judge(err error, tooLong bool) error {
	if _, wrong := errors.AsType[contradiction](err); err == nil || wrong || !tooLong {
		return err
	}
	return &impatience{err}
}

// findings are the results of the checks of a round.
type findings struct {
	violations []string
	undecided  []string // reasons why a check decided nothing
}

// violate adds a violation.
func (f *findings) violate(format string, args ...any) {
	f.violations = append(f.violations, fmt.Sprintf(format, args...))
}

// add adds the error of a wait: a violation unless it only took too long.
func (f *findings) add(err error) {
	if _, tooLong := errors.AsType[*impatience](err); tooLong {
		f.undecided = append(f.undecided, err.Error())
	} else if err != nil {
		f.violations = append(f.violations, err.Error())
	}
}

// clean reports whether the checks found nothing.
func (f *findings) clean() bool { return len(f.violations)+len(f.undecided) == 0 }
