// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
)

func serverCommand(*cli) *command {
	return &command{
		use:   "server",
		short: "List, promote and remove servers",
		long: `The servers of a cluster replicate its state. A majority of the voting servers
must run: three servers survive the failure of one, five the failure of two. New
servers vote after 10 s, and dead ones are removed once they were replaced.`,
		verbs: []constructor{serverListCommand, serverPromoteCommand, serverTransferCommand, serverLeaveCommand, serverRemoveCommand, serverRecoverCommand},
	}
}

// handOver has another server lead if the named one leads, so that it can go.
func (r *call) handOver(server string) error {
	list, err := r.cl.Servers().List(r.ctx)
	if err != nil {
		return err
	}
	leads := func(m *api.ServerStatus) bool {
		return m.Leader && (m.ID == server || m.Name == server || m.Address == server)
	}
	if !slices.ContainsFunc(list, leads) {
		return nil
	}
	if _, err := r.cl.Servers().Transfer(r.ctx, ""); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.ctx, handOverLimit)
	defer cancel()
	for {
		list, err := r.cl.Servers().List(ctx)
		if err == nil && slices.ContainsFunc(list, func(m *api.ServerStatus) bool {
			return m.Leader && m.Status == api.ServerAlive && !leads(m)
		}) {
			return nil
		}
		select {
		case <-time.After(handOverPoll):
		case <-ctx.Done():
			return api.Errorf(api.CodeUnavailable, "no other server leads after %s: see reeve server list, and try again", handOverLimit)
		}
	}
}

const (
	handOverLimit = 10 * time.Second
	handOverPoll  = 100 * time.Millisecond
)
