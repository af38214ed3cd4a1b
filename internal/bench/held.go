// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// idleThree measures the processor time of each of three servers that have nothing to do.
func idleThree(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	leader, err := c.Leader(ctx, 0)
	if err != nil {
		return err
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	var before [trio]time.Duration
	for i, m := range c.Machines {
		before[i] = processorTime([]int{m.PID()})
	}
	begin := time.Now()
	if err := pause(ctx, 6*settle); err != nil {
		return err
	}
	took, follower := time.Since(begin), 0.0
	var leading float64
	for i, m := range c.Machines {
		share := 100 * (processorTime([]int{m.PID()}) - before[i]).Seconds() / took.Seconds()
		if i == leader {
			leading = share
		} else {
			follower = max(follower, share)
		}
	}
	b.add("three idle servers, TLS: processor time of the leader", "<= 1 % of one processor", "%.2f %%", leading)
	b.add("... of the busier follower", "<= 1 % of one processor", "%.2f %%", follower)
	return nil
}

// runningScenario places ten instances on each of a thousand nodes, and leaves them alone.
const runningScenario = `name: running
limit: 2m
quiet_for: 40s
nodes:
  - {count: 1000, cpu: 4000, memory: 12288, disk: 20000}
jobs:
  - {file: running.hcl, copies: 10}
`

// runningJob is a job of a thousand instances that the simulated nodes run.
const runningJob = `job "running" {
  group "main" {
    count = 1000
    task "main" {
      driver = "mock"
      config {
        run_for = "24h"
      }
      resources {
        cpu    = 20
        memory = 20
      }
    }
  }
}
`

// runningMemory measures a server with 10,000 running allocations.
func runningMemory(ctx context.Context, b *bench) error {
	m, err := b.server()
	if err != nil {
		return err
	}
	defer m.Destroy()
	if err := m.poll(ctx, func(ctx context.Context) error { _, err := m.Client.Status().Leader(ctx); return err }); err != nil {
		return err
	}
	file := filepath.Join(m.Dir, "running.yaml")
	for path, text := range map[string]string{file: runningScenario, filepath.Join(m.Dir, "running.hcl"): runningJob} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := b.simulate(ctx, "-use-server", "-address", "http://"+m.Addr, file)
		ended <- err
	}()
	defer func() { cancel(); <-ended }()
	if err := m.Poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		return placed(ctx, m.Client, 10_000)
	}); err != nil {
		return err
	}
	if err := pause(ctx, 2*settle); err != nil {
		return err
	}
	b.add("a server with 10,000 running allocations on 1,000 connected nodes", "<= 100 MB RSS", "%.0f MB RSS", float64(testbed.ResidentBytes(m.PID()))/1e6)
	return nil
}

// server starts an agent that is only a server.
func (b *bench) server() (*machine, error) {
	tm, err := testbed.New(b.reeve)
	if err != nil {
		return nil, err
	}
	m := &machine{Machine: tm}
	m.Args = []string{"-server"}
	if err := m.Start(); err != nil {
		m.Destroy()
		return nil, err
	}
	return m, nil
}

// restartLarge starts a server with the data of two million instances in 2,000 jobs.
func restartLarge(ctx context.Context, b *bench) error {
	tm, err := testbed.New(b.reeve)
	if err != nil {
		return err
	}
	m, root := &machine{Machine: tm}, tm.Dir
	m.Args = []string{"-server"}
	defer os.RemoveAll(root)
	defer m.Destroy()
	if s, err := b.report(exec.CommandContext(ctx, b.reeve, "sim", "-quiet", "-json", "-data-dir", m.Dir, c2mScenario)); err != nil {
		return err
	} else if s.Instances.Placed != s.Instances.Wanted {
		return fmt.Errorf("%d of %d instances were placed", s.Instances.Placed, s.Instances.Wanted)
	}
	m.Dir = filepath.Join(root, "data") // where a simulation keeps its server's data
	var answers, processor times
	for range 3 {
		begin := time.Now()
		if err := m.Start(); err != nil {
			return err
		}
		if err := m.poll(ctx, func(ctx context.Context) error {
			_, _, err := m.Client.Allocations().List(ctx, &client.QueryOptions{PerPage: 1})
			return err
		}); err != nil {
			return err
		}
		answers, processor = append(answers, time.Since(begin)), append(processor, processorTime([]int{m.PID()}))
		m.Kill()
	}
	b.add("a server with 2,000,000 instances in 2,000 jobs, started -> it returns one of them", "<= 5 s", "%s", answers)
	b.add("... processor time until then", "", "%s", processor)
	return nil
}
