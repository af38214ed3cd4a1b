// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// exitStackFailed is the exit code of a deployment whose stack did not get its traffic.
const exitStackFailed = 2

// errStackFailed reports that a followed stack failed, with what the screen showed already.
var errStackFailed = errors.New("the deployment did not succeed")

// followStacks follows new stacks until they are ready, or until their traffic is shifted.
func (r *call) followStacks(res *api.DeployStacksResponse, untilReady bool) error {
	failed := false
	for i, s := range res.Stacks {
		if res.Existing[i] {
			fmt.Fprintf(r.Stderr, "Version %s of %s is deployed already, as %s.\n", s.Version, s.Unit, s.Name)
		}
		cl := r.cl.WithNamespace(s.Namespace)
		last, err := r.followStack(cl, s)
		if err != nil {
			return r.stackInterrupted(err)
		}
		res.Stacks[i] = last
		if last.Status != api.StackReady {
			failed = true
			continue
		}
		if !untilReady && last.ShiftID != "" {
			shift, err := r.followShift(cl, last.ShiftID)
			if err != nil {
				return r.stackInterrupted(err)
			}
			failed = failed || shift.Status != api.ShiftComplete
		}
		if res.Stacks[i], _, err = cl.Stacks().Get(r.ctx, s.Name, nil); err != nil {
			return r.stackInterrupted(err)
		}
	}
	if err := r.show(res, func(p *term.Page) { view.Deployed(p, res) }); err != nil {
		return err
	}
	if failed {
		return &exit{code: exitStackFailed, err: errStackFailed}
	}
	return nil
}

func (r *call) stackInterrupted(err error) error {
	if r.ctx.Err() != nil {
		fmt.Fprintln(r.Stderr, "The deployment continues without this command.  See its state:  reeve stack list")
		return exitWith(exitInterrupted)
	}
	return err
}

// followStack prints the changes of a stack until it is ready or has failed.
func (r *call) followStack(cl *client.Client, s *api.StackStatus) (*api.StackStatus, error) {
	var index uint64
	shown := ""
	for {
		stack, meta, err := cl.Stacks().Get(r.ctx, s.Name, &client.QueryOptions{Index: index})
		if err != nil {
			return nil, err
		}
		index = meta.Index
		if line := view.StackLine(stack); line != shown {
			fmt.Fprintln(r.Stderr, line)
			shown = line
		}
		switch stack.Status {
		case api.StackPending, api.StackDeploying, api.StackWarming:
		default:
			return stack, nil
		}
	}
}

// followShift prints the progress of a shift until it ends or waits for an operator.
func (r *call) followShift(cl *client.Client, id string) (*api.Shift, error) {
	var index uint64
	shown := ""
	for {
		shift, meta, err := cl.Shifts().Get(r.ctx, id, &client.QueryOptions{Index: index})
		if err != nil {
			return nil, err
		}
		index = meta.Index
		if line := view.ShiftLine(shift); line != shown {
			fmt.Fprintln(r.Stderr, line)
			shown = line
		}
		if !shift.IsActive() || shift.Status == api.ShiftPaused || shift.Status == api.ShiftWaiting {
			return shift, nil
		}
	}
}
