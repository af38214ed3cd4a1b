// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Numbers of registered jobs.
const (
	spreadJobs    = 20_000
	evaluatedJobs = 6_000
)

// emptyPool is a pool without nodes.
const emptyPool = "empty"

// pairs is the number of alternating pairs of a comparison.
const pairs = 10

// threeServers registers jobs with three servers, durable, over TLS.
func threeServers(ctx context.Context, b *bench) error {
	alone, err := oneServer(ctx, b)
	if err != nil {
		return err
	}
	c, err := b.cluster(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	leader, err := c.Leader(ctx, 0)
	if err != nil {
		return err
	}
	return c.steady(ctx, b, func() error {
		for _, one := range []struct {
			what string
			to   int
		}{
			{"three servers, TLS: register, 1 client, through the leader", leader},
			{"... through a follower", (leader + 1) % trio},
		} {
			t, err := registerBy(ctx, c.secure[one.to], one.to, 500)
			if err != nil {
				return err
			}
			b.add(one.what, "p50 <= 2 ms", "%s", t)
		}
		if err := c.reads(ctx, b, leader, fmt.Sprintf("one-%d-0", leader)); err != nil {
			return err
		}
		var all times
		var rate float64
		each, err := c.processors(spreadJobs, func() (err error) {
			all, rate, err = c.flood(ctx, "spread", spreadJobs, 0, c.secure)
			return err
		})
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("... register, %d clients spread over all servers", manyClients), ">= 4,000 jobs/s",
			"%.0f jobs/s (%.2f of one server with TLS), %s; %d µs of the servers' processor time each", rate, rate/alone, all, each.Microseconds())
		each, err = c.processors(evaluatedJobs, func() (err error) {
			rate, err = c.evaluate(ctx, evaluatedJobs)
			return err
		})
		if err != nil {
			return err
		}
		b.add("... service jobs registered and evaluated, one instance each that waits for a node", ">= 3,000/s",
			"%.0f/s; %d µs of the servers' processor time each", rate, each.Microseconds())
		return c.compareTLS(ctx, b)
	})
}

// oneServer returns the jobs per second that a cluster of one server registers over TLS, as the
// baseline of three on the same machine.
func oneServer(ctx context.Context, b *bench) (float64, error) {
	c, err := b.clusterOf(ctx, 1)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	_, rate, err := c.flood(ctx, "alone", spreadJobs, 0, c.secure)
	return rate, err
}

func registerBy(ctx context.Context, c *client.Client, by, n int) (t times, err error) {
	m := &machine{Machine: &testbed.Machine{Client: c}}
	for i := range n {
		begin := time.Now()
		if err := register(ctx, m, testbed.Job(fmt.Sprintf("one-%d-%d", by, i), "mock", 0, nil)); err != nil {
			return nil, err
		}
		t = append(t, time.Since(begin))
	}
	return t, nil
}

// flood registers jobs of count instances from many clients, spread over the servers.
func (c *cluster) flood(ctx context.Context, prefix string, total int64, count int, clients []*client.Client) (times, float64, error) {
	return flood(ctx, total, func(i int64) error {
		m := &machine{Machine: &testbed.Machine{Client: clients[int(i)%len(clients)]}}
		job := testbed.Job(fmt.Sprintf("%s-%d", prefix, i), "mock", count, nil)
		if count > 0 {
			job.NodePool = emptyPool
		}
		return register(ctx, m, job)
	})
}

// evaluate registers jobs whose instances no node can take, and returns the number of jobs per
// second until all of them are evaluated.
func (c *cluster) evaluate(ctx context.Context, total int64) (float64, error) {
	if _, err := c.secure[0].NodePools().Put(ctx, &api.NodePool{Name: emptyPool}); err != nil {
		return 0, err
	}
	begin := time.Now()
	if _, _, err := c.flood(ctx, "evaluated", total, 1, c.secure); err != nil {
		return 0, err
	}
	err := c.Machines[0].Poll(ctx, 5*time.Millisecond, func(ctx context.Context) error {
		count, _, err := c.secure[0].Evaluations().Count(ctx, &client.QueryOptions{Filter: `Status == "blocked"`})
		if err == nil && count < int(total) {
			err = fmt.Errorf("%d of %d jobs are evaluated", count, total)
		}
		return err
	})
	return float64(total) / time.Since(begin).Seconds(), err
}

// compareTLS registers jobs over TLS and over plain HTTP on loopback, in turns.
func (c *cluster) compareTLS(ctx context.Context, b *bench) error {
	var plain []*client.Client
	for _, m := range c.Machines {
		plain = append(plain, m.Client)
	}
	var ratios []float64
	for i := range pairs {
		_, secured, err := c.flood(ctx, fmt.Sprint("tls-", i), 3000, 0, c.secure)
		if err != nil {
			return err
		}
		_, open, err := c.flood(ctx, fmt.Sprint("plain-", i), 3000, 0, plain)
		if err != nil {
			return err
		}
		ratios = append(ratios, secured/open)
	}
	b.add(fmt.Sprintf("... clients' TLS against plain HTTP on loopback, %d pairs", pairs), "ratio >= 0.85", "median ratio %.2f", median(ratios))
	return nil
}
