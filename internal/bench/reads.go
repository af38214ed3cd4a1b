// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/client"
)

// clusterReads is the number of reads of one kind.
const clusterReads = 2_000

// reads reads one job through the leader and through a follower, which asks the leader for the
// index of its log, and as old as a follower may be.
func (c *cluster) reads(ctx context.Context, b *bench, leader int, job string) error {
	follower := (leader + 1) % trio
	for _, one := range []struct {
		what  string
		by    int
		stale bool
	}{
		{"... read a job, 1 client, through the leader, which confirms that it leads", leader, false},
		{"... through a follower, which answers from its own state", follower, false},
		{"... through a follower, with stale", follower, true},
	} {
		var t times
		each, err := c.processors(clusterReads, func() error {
			for range clusterReads {
				begin := time.Now()
				if _, _, err := c.secure[one.by].Jobs().Get(ctx, job, &client.QueryOptions{Stale: one.stale}); err != nil {
					return err
				}
				t = append(t, time.Since(begin))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", one.what, err)
		}
		b.add(one.what, "", "%s; %d µs of the servers' processor time each", t, each.Microseconds())
	}
	return nil
}
