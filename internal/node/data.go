// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"net/http"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/runner"
)

// isSticky reports whether the allocation is to have the data of the one before
// it, if that was on this node.
func isSticky(a *api.Allocation) bool {
	switch a.Recovery {
	case api.RecoveryTransient:
		return true
	case api.RecoveryPermanent:
		return false
	}
	d := diskOf(a)
	return d != nil && d.Sticky != nil && *d.Sticky || migrates(a)
}

// migrates reports whether the allocation is to have the data of the one before
// it, wherever that was.
func migrates(a *api.Allocation) bool {
	d := diskOf(a)
	return a.Recovery != api.RecoveryPermanent && d != nil && d.Migrate != nil && *d.Migrate
}

// recreates reports whether the allocation may not run together with the one
// before it.
func recreates(a *api.Allocation) bool {
	if a.Job == nil {
		return false
	}
	g := a.Job.Group(a.Group)
	return g != nil && g.Migrate != nil && g.Migrate.Recreate != nil && *g.Migrate.Recreate
}

// awaitEnd waits until the previous allocation, on another node, has ended, or is
// given up.
func (n *Node) awaitEnd(r *runner.Runner, previous string) {
	ctx, cancel := n.whileWanted(r)
	defer cancel()
	pause := newBackoff(100*time.Millisecond, 5*time.Second)
	for {
		err := n.config.Ended(ctx, previous)
		if err == nil || ctx.Err() != nil {
			return
		}
		n.log.Warn("wait for the end of an allocation on another node", "allocation", r.ID(), "previous", previous, "error", err)
		if !pause.wait(ctx) {
			return
		}
	}
}

// whileWanted returns a context that ends with the allocation.
func (n *Node) whileWanted(r *runner.Runner) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(n.host.Context)
	n.tasks.Go(func() {
		select {
		case <-r.Ended(): // it is not wanted any more
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, cancel
}

func diskOf(a *api.Allocation) *api.EphemeralDisk {
	if a.Job == nil {
		return nil
	}
	if g := a.Job.Group(a.Group); g != nil {
		return g.EphemeralDisk
	}
	return nil
}

// takeOver fetches what another node keeps of the previous allocation. If that
// does not work, the new one starts with nothing: it is told in the log, and the
// node that has the data keeps it as long as it keeps ended allocations.
func (n *Node) takeOver(r *runner.Runner, previous string) {
	ctx, cancel := n.whileWanted(r)
	defer cancel()
	data, err := n.config.Data(ctx, previous)
	if err == nil && data != nil {
		err = n.dirs.Unpack(r.ID(), r.TaskNames(), data)
		data.Close()
	}
	if err != nil && ctx.Err() == nil {
		n.log.Warn("take over an allocation's data from another node", "allocation", r.ID(), "previous", previous, "error", err)
	}
}

// serveSnapshot sends the data of an allocation that has ended.
func (n *Node) serveSnapshot(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	if !hasEnded(run) {
		return api.Errorf(api.CodeConflict, "allocation %s has not ended: its data may still change", api.ShortID(run.ID()))
	}
	w.Header().Set("Content-Type", "application/x-tar")
	if err := n.dirs.Pack(run.ID(), run.TaskNames(), w); err != nil {
		n.log.Warn("send an allocation's data", "allocation", run.ID(), "error", err)
		panic(http.ErrAbortHandler) // whoever reads it must not take it for whole
	}
	return nil
}
