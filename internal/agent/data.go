// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// dataFrom fetches the data of allocations of other nodes: the servers know
// where they are. An allocation that is to stop is waited for; of one that is
// meant to go on nothing is taken.
func dataFrom(c *client.Client) func(ctx context.Context, alloc string) (io.ReadCloser, error) {
	return func(ctx context.Context, alloc string) (io.ReadCloser, error) {
		q := &client.QueryOptions{Wait: time.Minute}
		for {
			a, meta, err := c.Allocations().Get(ctx, alloc, q)
			switch {
			case err != nil:
				return nil, err
			case a.ClientStatus == api.AllocClientLost || a.ClientStatus == api.AllocClientUnknown:
				return nil, fmt.Errorf("its node %s is not reached", api.ShortID(a.NodeID))
			case a.IsClientTerminal():
				return c.FS().Snapshot(ctx, a.ID)
			case !a.IsServerTerminal():
				return nil, nil
			}
			q.Index = meta.Index
		}
	}
}

// endOf waits for the end of allocations of other nodes, which the servers know.
// What is not known any more, or whose node is not heard of, is not waited for.
func endOf(c *client.Client) func(ctx context.Context, alloc string) error {
	return func(ctx context.Context, alloc string) error {
		q := &client.QueryOptions{Wait: time.Minute}
		for {
			a, meta, err := c.Allocations().Get(ctx, alloc, q)
			switch {
			case api.CodeOf(err) == api.CodeNotFound:
				return nil
			case err != nil:
				return err
			case a.IsClientTerminal(), a.IsSuspect():
				return nil
			}
			q.Index = meta.Index
		}
	}
}
