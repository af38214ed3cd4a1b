// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/plantree"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// exitStackFailed is the exit code of a deployment whose stack did not get its traffic.
const exitStackFailed = 2

// stackFailure returns a line of the error about a stack that is not ready, or did not get its traffic.
func stackFailure(stack, what, why string) string {
	return fmt.Sprintf("%s %s: %s; see its history: reeve stack why %s", stack, what, cmp.Or(why, "no reason is known"), stack)
}

// followStacks follows new stacks until they are ready, or until their traffic is shifted, for the time of
// -timeout.
func (r *call) followStacks(res *api.DeployStacksResponse, untilReady bool) error {
	limited, cancel := r.limited()
	defer cancel()
	at := 0
	err := limited.followEach(res, untilReady, &at)
	if isLate(limited.ctx, err) {
		s := res.Stacks[at]
		return lateError("the deployment of "+s.Name, r.timeout, "reeve plan show -watch "+view.JobArgs(s.Namespace, s.Name))
	}
	return err
}

// followEach follows one stack after the other. It keeps in at which one it follows.
func (r *call) followEach(res *api.DeployStacksResponse, untilReady bool, at *int) error {
	var failures []string
	for i, s := range res.Stacks {
		*at = i
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
			failures = append(failures, stackFailure(s.Name, "is "+last.Status, last.StatusText()))
			continue
		}
		if !untilReady && last.ShiftID != "" {
			fmt.Fprintln(r.Stderr, view.StackLine(last))
			shift, err := r.followShift(cl, last.ShiftID)
			if err != nil {
				return r.stackInterrupted(err)
			}
			if shift.Status != api.ShiftComplete {
				failures = append(failures, stackFailure(s.Name, "did not get its traffic", cmp.Or(shift.Reason, "its shift is "+shift.Status)))
			}
		}
		if res.Stacks[i], _, err = cl.Stacks().Get(r.ctx, s.Name, nil); err != nil {
			return r.stackInterrupted(err)
		}
	}
	if err := r.show(res, func(p *term.Page) { view.Deployed(p, res) }); err != nil {
		return err
	}
	if len(failures) > 0 {
		return &exit{code: exitStackFailed, err: errors.New(strings.Join(failures, "\n"))}
	}
	return nil
}

func (r *call) stackInterrupted(err error) error {
	if r.ctx.Err() != nil && !errors.Is(context.Cause(r.ctx), errNotInTime) {
		fmt.Fprintln(r.Stderr, "The deployment continues without this command.  See its state:  reeve stack list")
		return exitWith(exitInterrupted)
	}
	return err
}

// warmUpShown is the time between two looks at a warm-up.
const warmUpShown = 2 * time.Second

// followStack prints the changes of a stack until it is ready or has failed, the troubles of its instances,
// and the operators' decisions that it waits for. It does not print that the stack is ready, because the
// command's result says that.
func (r *call) followStack(cl *client.Client, s *api.StackStatus) (*api.StackStatus, error) {
	out := term.NewLive(r.Stderr)
	troubles := r.teller(cl, s.Name, out)
	ctx, cancel := context.WithCancel(r.ctx)
	var telling sync.WaitGroup
	stop := sync.OnceFunc(func() { cancel(); telling.Wait() })
	defer stop()
	begin := sync.OnceFunc(func() { telling.Go(func() { troubles.follow(ctx, cl) }) })
	var index, stackIndex uint64
	shown, waits := "", ""
	for {
		q := &client.QueryOptions{Index: index}
		if s.Spec != nil && s.Spec.Warm != nil {
			q.Wait = warmUpShown // the progress of a warm-up changes no plan
		}
		plans, meta, err := cl.Plans().OfJob(r.ctx, s.Name, q)
		wait := &client.QueryOptions{}
		switch {
		case err == nil:
			index = meta.Index
		case api.CodeOf(err) == api.CodeNotFound:
			wait.Index = stackIndex // a stack without plans
		default:
			return nil, err
		}
		stack, meta, err := cl.Stacks().Get(r.ctx, s.Name, wait)
		if err != nil {
			return nil, err
		}
		stackIndex = meta.Index
		if line := view.StackLine(stack); line != shown && stack.Status != api.StackReady {
			out.Say("%s", line)
			shown = line
		}
		switch stack.Status {
		case api.StackPending:
		case api.StackDeploying, api.StackWarming:
			begin() // its job exists now
		default:
			stop()
			if stack.Status == api.StackFailed {
				list, _, _ := cl.Jobs().Troubles(r.ctx, s.Name, nil)
				troubles.sumUp(r.ctx, list)
			}
			return stack, nil
		}
		if line := r.deployWaits(cl, s.Name, plans); line != waits {
			waits = tellWait(out, line)
		}
	}
}

// deployWaits returns the reason why the plan deploy waits for an operator, with commands; "" if it
// does not wait.
func (r *call) deployWaits(cl *client.Client, stack string, plans []*api.Plan) string {
	for _, pl := range plans {
		if pl.Name != api.PlanDeploy || pl.Status != api.PlanWaiting {
			continue
		}
		if tree, _, err := cl.Plans().Get(r.ctx, stack, pl.Name, nil); err == nil {
			pl = tree
		}
		if why := waitsFor(pl); why != "" {
			return strings.Join(append([]string{why}, plantree.Next(pl)...), "\n  ")
		}
	}
	return ""
}

// tellWait prints the reason of a wait, if any, and returns it.
func tellWait(out *term.Live, line string) string {
	if line != "" {
		out.Say("Waiting: %s", line)
	}
	return line
}

// figuresEvery is the time after which the figures of a shift that stands still are read again.
const figuresEvery = 5 * time.Second

// followShift prints the progress of a shift until it ends. While it waits for an operator, it
// shows the commands that continue it.
func (r *call) followShift(cl *client.Client, id string) (*api.Shift, error) {
	var index uint64
	shown, waits := "", ""
	for {
		shift, meta, err := cl.Shifts().Get(r.ctx, id, &client.QueryOptions{Index: index, Wait: figuresEvery})
		if err != nil {
			return nil, err
		}
		index = meta.Index
		if line := view.ShiftLine(shift); line != shown {
			fmt.Fprintln(r.Stderr, line)
			shown = line
		}
		line := ""
		switch {
		case !shift.IsActive():
			return shift, nil
		case shift.Status == api.ShiftPaused || shift.Status == api.ShiftWaiting:
			line = strings.Join(append([]string{cmp.Or(shift.Reason, "an operator must continue the shift")}, view.ShiftCommands(shift)...), "\n  ")
		}
		if line != waits {
			waits = tellWait(term.NewLive(r.Stderr), line)
		}
	}
}
