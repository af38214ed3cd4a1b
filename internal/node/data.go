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

// isSticky reports whether the allocation inherits the data of its predecessor if that was on
// this node.
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

// migrates reports whether the allocation inherits the data of its predecessor on any node.
func migrates(a *api.Allocation) bool {
	d := diskOf(a)
	return a.Recovery != api.RecoveryPermanent && d != nil && d.Migrate != nil && *d.Migrate
}

// recreates reports whether the allocation must not run together with its predecessor.
func recreates(a *api.Allocation) bool {
	if a.Job == nil {
		return false
	}
	g := a.Job.Group(a.Group)
	return g != nil && g.Migrate != nil && g.Migrate.Recreate != nil && *g.Migrate.Recreate
}

// awaitEnd waits until the previous allocation, on another node, has ended or is abandoned.
func (n *Node) awaitEnd(r *runner.Runner, previous string) {
	ctx, cancel := n.contextOf(r)
	defer cancel()
	pause := newBackoff(100*time.Millisecond, 5*time.Second)
	for {
		err := n.config.Ended(ctx, previous)
		if err == nil || ctx.Err() != nil {
			return
		}
		n.log.Warn("cannot wait for the end of an allocation on another node", "allocation", r.ID(), "previous", previous, "error", err)
		if !pause.wait(ctx) {
			return
		}
	}
}

// contextOf returns a context that ends with the allocation.
func (n *Node) contextOf(r *runner.Runner) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(n.host.Context)
	n.tasks.Go(func() {
		select {
		case <-r.Ended(): // it is no longer wanted
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

// takeOver fetches the previous allocation's data from another node. On failure it logs a
// warning, and the new allocation starts without data; the other node keeps the data as
// long as it keeps ended allocations.
func (n *Node) takeOver(r *runner.Runner, previous string) {
	ctx, cancel := n.contextOf(r)
	defer cancel()
	data, err := n.config.Data(ctx, previous)
	if err == nil && data != nil {
		err = n.dirs.Unpack(r.ID(), r.TaskNames(), data)
		data.Close()
	}
	if err != nil && ctx.Err() == nil {
		n.log.Warn("cannot take over an allocation's data from another node", "allocation", r.ID(), "previous", previous, "error", err)
	}
}

// serveSnapshot sends the data of an ended allocation.
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
		n.log.Warn("cannot send an allocation's data", "allocation", run.ID(), "error", err)
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
	return nil
}
