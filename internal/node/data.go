// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"net/http"

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
	ctx, cancel := context.WithCancel(n.host.Context)
	defer cancel()
	n.tasks.Go(func() {
		select {
		case <-r.Ended(): // it is not wanted any more
			cancel()
		case <-ctx.Done():
		}
	})
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
