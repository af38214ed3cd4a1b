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
