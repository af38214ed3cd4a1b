// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// Numbers of a failover's measurement.
const (
	failoverRounds  = 100
	transferRounds  = 20
	failoverNodes   = 5_000
	failoverPlaced  = 100_000
	failoverPerJob  = 1_000
	registerTimeout = 30 * time.Second
)

// failoverScenario fills the state. Its nodes send heartbeats until the end.
var failoverScenario = fmt.Sprintf(`name: failover
limit: 10m
quiet_for: 2h
nodes:
  - {count: %d, name: large, cpu: 4000, memory: 12288, disk: 20000}
jobs:
  - {file: filler.hcl, copies: %d}
`, failoverNodes, failoverPlaced/failoverPerJob)

var fillerJob = fmt.Sprintf(`job "filler" {
  constraint {
    attribute = "${node.unique.name}"
    operator  = "regexp"
    value     = "^large"
  }
  group "main" {
    count = %d
    task "task" {
      driver = "mock"
      config { run_for = "10h" }
      resources {
        cpu    = 10
        memory = 10
      }
    }
  }
}
`, failoverPerJob)

// failover kills the leader of three servers repeatedly, and then lets leaders hand over.
func failover(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	stop, err := c.fleet(ctx, b, 0, failoverScenario, map[string]string{"filler.hcl": fillerJob}, failoverPlaced)
	if err != nil {
		return err
	}
	defer stop()
	var written, started times
	for round := range failoverRounds {
		w, s, err := c.kill(ctx, round)
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		written, started = append(written, w), append(started, s)
	}
	b.add(fmt.Sprintf("leader of three killed, %d nodes and %d allocations in state -> next acknowledged write", failoverNodes, failoverPlaced),
		"p50 <= 750 ms, p99 <= 1.5 s", "%s", written)
	b.add("... -> a new job's process started", "p99 <= 1.8 s", "%s", started)
	waited, err := c.transfers(ctx)
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("planned transfer of leadership: slowest of the writes meanwhile, %d transfers", len(waited)), "<= 50 ms", "%s, most %s", waited, ms(waited.at(1)))
	return nil
}

// kill kills the leader, registers a job with another server at once, and measures from the kill
// to the answer and to the start of the job's process. It returns after the killed server votes.
func (c *cluster) kill(ctx context.Context, round int) (written, started time.Duration, err error) {
	leader, err := c.Leader(ctx, 0)
	if err != nil {
		return 0, 0, err
	}
	other := (leader + 1 + round%2) % trio
	id := fmt.Sprintf("after-%d", round)
	request := &api.RegisterJobRequest{Job: onHost(id, other)}
	begin := time.Now()
	c.Machines[leader].Kill()
	limited, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	if _, err := c.secure[other].Jobs().Register(limited, request); err != nil {
		return 0, 0, err
	}
	written = time.Since(begin)
	m := &machine{Machine: c.Machines[other]}
	if err := m.allRunning(ctx, id, 1); err != nil {
		return 0, 0, err
	}
	list, _, err := c.secure[other].Jobs().Allocations(ctx, id, true, nil)
	if err != nil {
		return 0, 0, err
	}
	started = list[0].TaskStates["task"].StartedAt.Sub(begin)
	if _, err := c.secure[other].Jobs().Deregister(ctx, id, purge); err != nil {
		return 0, 0, err
	}
	if err := c.Join(leader); err != nil {
		return 0, 0, err
	}
	return written, started, c.healthy(ctx, other)
}

// healthy waits until all servers vote, know the leader, and lack nothing.
func (c *cluster) healthy(ctx context.Context, seen int) error {
	if err := c.AllVote(ctx); err != nil {
		return err
	}
	return c.Machines[seen].Poll(ctx, 10*time.Millisecond, func(ctx context.Context) error {
		list, err := c.Machines[seen].Client.Servers().List(ctx)
		if err != nil {
			return err
		}
		for _, s := range list {
			if !s.Healthy {
				return fmt.Errorf("%s is not healthy", s.Name)
			}
		}
		return nil
	})
}

// transfers moves leadership while a client writes without a pause, and returns the slowest
// write of each transfer.
func (c *cluster) transfers(ctx context.Context) (slowest times, err error) {
	for range transferRounds {
		if err := c.healthy(ctx, 0); err != nil {
			return nil, err
		}
		leader, err := c.Leader(ctx, 0)
		if err != nil {
			return nil, err
		}
		done := make(chan error, 1)
		writing, stop := context.WithCancel(ctx)
		var most time.Duration
		m := &machine{Machine: &testbed.Machine{Client: c.secure[(leader+1)%trio]}}
		first := make(chan struct{})
		go func() {
			for n := 0; writing.Err() == nil; n++ {
				begin := time.Now()
				if err := register(ctx, m, testbed.Job("meanwhile", "mock", 0, nil)); err != nil {
					done <- err
					return
				}
				most = max(most, time.Since(begin))
				if n == 0 {
					most = 0 // the first opens the connection
					close(first)
				}
			}
			done <- nil
		}()
		select {
		case <-first:
			_, err = c.secure[leader].Servers().Transfer(ctx, "")
			stop()
		case failed := <-done:
			stop()
			return nil, failed
		}
		if failed := <-done; failed != nil {
			return nil, failed
		}
		if err != nil {
			return nil, err
		}
		slowest = append(slowest, most)
	}
	return slowest, nil
}
