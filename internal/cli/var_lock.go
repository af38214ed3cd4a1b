// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

// lockAgain is the pause between two attempts to take a lock.
const lockAgain = time.Second

func varLockCommand(c *cli) *command {
	var lock api.VariableLock
	var ttl, delay, wait time.Duration
	return &command{
		use:   "lock PATH COMMAND [ARG...]",
		short: "Run a command while you hold the lock of a variable",
		long: `Take the lock of a variable, run a command, and release the lock when the
command ends. Before that, wait until the lock is free. The command has
REEVE_LOCK_ID and REEVE_LOCK_INDEX in its environment. The index is a fencing
number, higher than that of every earlier holder: a store that refuses lower
numbers is safe from holders that have lost the lock without noticing. If the
lock is lost, the command receives SIGTERM, and SIGKILL 10 seconds later.`,
		example:   "reeve var lock shop/migration ./migrate.sh",
		exitCodes: "the command's own; 1 if the lock was not taken, or was lost: stderr has the reason",
		passArgs:  true,
		ownArgs:   true,
		flags: func(f *pflag.FlagSet) {
			f.DurationVar(&ttl, "ttl", api.DefaultLockTTL, "the lock ends `D` after its holder vanishes")
			f.DurationVar(&delay, "delay", api.DefaultLockTTL, "after that, servers refuse it to others for `D`")
			f.DurationVar(&wait, "wait", 0, "stop waiting for the lock after `D` (default: never)")
		},
		check: func(r *call) error {
			switch {
			case r.arg(0) == "":
				return usagef("missing argument PATH")
			case r.arg(1) == "":
				return usagef("missing argument COMMAND")
			case ttl < api.MinLockTTL || ttl > api.MaxLockTTL:
				return usagef("-ttl %s is not between %s and %s", ttl, api.MinLockTTL, api.MaxLockTTL)
			case delay < 0 || delay > api.MaxLockTTL:
				return usagef("-delay %s is not between 0s and %s", delay, api.MaxLockTTL)
			}
			lock.TTL, lock.LockDelay = ttl.String(), delay.String()
			return nil
		},
		run: func(r *call) error {
			held, err := r.acquire(r.args[0], lock, wait)
			if err != nil {
				return err
			}
			err = c.holding(r, held, ttl)
			release, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), ttl)
			defer cancel()
			if _, failed := r.cl.Variables().Release(release, held.Path, held.Lock.ID); failed != nil && err == nil {
				err = fmt.Errorf("release the lock: %w", failed)
			}
			return err
		},
	}
}

// acquire waits until it has the lock.
func (r *call) acquire(path string, lock api.VariableLock, wait time.Duration) (*api.Variable, error) {
	ctx := r.ctx
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	var taken error // by another holder
	for {
		held, err := r.cl.Variables().Acquire(ctx, &api.Variable{VariableMetadata: api.VariableMetadata{Path: path, Lock: &lock}})
		switch {
		case err == nil:
			return held, nil
		case api.CodeOf(err) == api.CodeConflict:
			if taken == nil {
				fmt.Fprintf(r.Stderr, "Waiting: %v\n", err)
			}
			taken = err
		case ctx.Err() == nil || r.ctx.Err() != nil:
			return nil, err
		}
		select {
		case <-ctx.Done():
			if r.ctx.Err() != nil {
				return nil, r.ctx.Err()
			}
			return nil, api.Errorf(api.CodeConflict, "the lock of %q was not free within %s: %v", path, wait, cmp.Or(taken, err))
		case <-time.After(lockAgain):
		}
	}
}

// holding runs the command, and renews the lock meanwhile.
func (c *cli) holding(r *call, held *api.Variable, ttl time.Duration) error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, r.args[1], r.args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	if _, isFile := c.Stdin.(*os.File); !isFile {
		cmd.Stdin = io.LimitReader(c.Stdin, 0)
	}
	cmd.Env = append(os.Environ(), "REEVE_LOCK_ID="+held.Lock.ID, fmt.Sprintf("REEVE_LOCK_INDEX=%d", held.ModifyIndex))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		cancel(c.renewLock(ctx, r, held, ttl))
	}()
	err := cmd.Run()
	lost := context.Cause(ctx)
	cancel(nil)
	<-renewed
	var ended *exec.ExitError
	switch {
	case lost != nil && r.ctx.Err() == nil:
		return lost
	case errors.As(err, &ended) && ended.ExitCode() > 0:
		return exitWith(ended.ExitCode())
	}
	return err
}

// renewLock renews a lock until ctx ends, which is no error, or until the lock is lost. Between, it
// repeats requests that fail, for as long as the lock lasts.
func (c *cli) renewLock(ctx context.Context, r *call, held *api.Variable, ttl time.Duration) error {
	until := time.Now().Add(ttl)
	for pause := ttl / 3; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		asked := time.Now()
		request, cancel := context.WithDeadline(ctx, until)
		_, err := r.cl.Variables().Renew(request, held.Path, held.Lock.ID)
		cancel()
		switch {
		case err == nil:
			until, pause = asked.Add(ttl), ttl/3
			continue
		case ctx.Err() != nil:
			return nil
		case api.CodeOf(err) == api.CodeConflict, api.CodeOf(err) == api.CodeNotFound, api.CodeOf(err) == api.CodeForbidden, !time.Now().Before(until):
			return fmt.Errorf("the lock of %q was lost: %w", held.Path, err)
		}
		pause = min(time.Until(until), lockAgain)
	}
}
