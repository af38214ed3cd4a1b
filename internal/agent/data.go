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

// dataFrom returns a function that fetches the data of allocations on other nodes, which the
// servers locate. It waits for a stopping allocation to end, and fetches nothing from one that
// continues.
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

// endOf returns a function that waits for the end of an allocation on another node. It does
// not wait for unknown allocations or lost nodes.
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
