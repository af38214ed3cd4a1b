// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Numbers of the measurement of a follower that catches up.
const (
	bulkJobs   = 20_000
	bulkBytes  = 10_000 // of each job's meta
	writeRate  = 2_000  // per second
	writers    = 32
	catchUpMin = 10 * time.Second // of writing without a follower that lags
)

// catchUp fills the state, then removes a follower with its data, and lets it join again while
// clients write at a constant rate.
func catchUp(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	text := strings.Repeat("0123456789", bulkBytes/10)
	_, _, err = flood(ctx, bulkJobs, func(i int64) error {
		job := testbed.Job(fmt.Sprintf("bulk-%d", i), "mock", 0, nil)
		job.Meta = map[string]string{"text": fmt.Sprint(i, text)}
		return register(ctx, &machine{Machine: &testbed.Machine{Client: c.secure[int(i)%trio]}}, job)
	})
	if err != nil {
		return err
	}
	leader, err := c.Leader(ctx, 0)
	if err != nil {
		return err
	}
	lagging := (leader + 1) % trio
	if lagging == 0 { // the first machine has the tokens with which others join
		lagging = (leader + 2) % trio
	}
	writing := c.secure[leader]
	alone, err := constantly(ctx, writing, "alone", func(ctx context.Context) error { return pause(ctx, catchUpMin) })
	if err != nil {
		return err
	}
	if err := c.forget(ctx, leader, lagging); err != nil {
		return err
	}
	begin := time.Now()
	var took time.Duration
	meanwhile, err := constantly(ctx, writing, "meanwhile", func(ctx context.Context) error {
		if err := c.Join(lagging); err != nil {
			return err
		}
		err := c.caughtUp(ctx, leader, lagging)
		took = time.Since(begin)
		return err
	})
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("a follower without data catches up with %.0f MB of jobs while %d writes/s continue", bulkJobs*bulkBytes/1e6, writeRate), "", "%.1f s", took.Seconds())
	b.add("... writes meanwhile, against those before", "rate >= 0.9 x", "%.2f x of %.0f/s; %s, before %s", meanwhile.rate/alone.rate, alone.rate, meanwhile.times, alone.times)
	return nil
}

// forget removes a server from the cluster with all its data.
func (c *cluster) forget(ctx context.Context, leader, i int) error {
	if err := c.Machines[leader].Client.Servers().Remove(ctx, fmt.Sprint("host-", i+1), "it will join again"); err != nil {
		return err
	}
	c.Machines[i].Kill()
	if err := os.RemoveAll(c.Machines[i].Dir); err != nil {
		return err
	}
	return os.Mkdir(c.Machines[i].Dir, 0o700)
}

// caughtUp waits until a follower's own data lacks less than a tenth of a second's writes.
func (c *cluster) caughtUp(ctx context.Context, leader, follower int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	index := func(i int) (uint64, error) {
		_, meta, err := c.Machines[i].Client.Jobs().List(ctx, &client.QueryOptions{Stale: true, PerPage: 1})
		if err != nil {
			return 0, err
		}
		return meta.Index, nil
	}
	return c.Machines[follower].Poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		want, err := index(leader)
		if err != nil {
			return err
		}
		has, err := index(follower)
		if err == nil && has+writeRate/10 < want {
			err = fmt.Errorf("the follower's data is of index %d, the leader's of %d", has, want)
		}
		return err
	})
}

// writes holds the writes of constantly.
type writes struct {
	times
	rate float64 // per second
}

// constantly registers jobs at writeRate, also if earlier ones are not answered yet as long as
// a writer is free, until run returns.
func constantly(ctx context.Context, c *client.Client, prefix string, run func(context.Context) error) (writes, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var stopped atomic.Bool
	var mu sync.Mutex
	var w writes
	var wg sync.WaitGroup
	m := &machine{Machine: &testbed.Machine{Client: c}}
	begin := time.Now()
	for range writers {
		wg.Go(func() {
			var own times
			for !stopped.Load() && ctx.Err() == nil {
				i := next.Add(1)
				due := begin.Add(time.Duration(i) * time.Second / writeRate)
				time.Sleep(time.Until(due))
				if err := register(ctx, m, testbed.Job(fmt.Sprintf("%s-%d", prefix, i%1000), "mock", 0, nil)); err != nil {
					cancel(err)
					return
				}
				own = append(own, time.Since(due))
			}
			mu.Lock()
			w.times = append(w.times, own...)
			mu.Unlock()
		})
	}
	err := run(ctx)
	stopped.Store(true)
	w.rate = 0
	wg.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return w, cause
	}
	w.rate = float64(len(w.times)) / time.Since(begin).Seconds()
	return w, err
}
