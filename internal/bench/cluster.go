// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// trio is the number of servers of a measured cluster.
const trio = 3

// A cluster is a testbed.Cluster with a client for each server over TLS.
type cluster struct {
	*testbed.Cluster
	secure []*client.Client
}

func (b *bench) cluster(ctx context.Context) (*cluster, error) { return b.clusterOf(ctx, trio) }

// clusterOf starts servers with additional flags.
func (b *bench) clusterOf(ctx context.Context, servers int, args ...string) (*cluster, error) {
	tc, err := testbed.NewCluster(ctx, b.reeve, servers, args...)
	if err != nil {
		return nil, err
	}
	c := &cluster{Cluster: tc}
	for i := range tc.Machines {
		secure, err := tc.Secure(ctx, i)
		if err != nil {
			c.Close()
			return nil, err
		}
		c.secure = append(c.secure, secure)
	}
	return c, nil
}

// term returns the term of the leader. It grows with each election.
func (c *cluster) term(ctx context.Context) (uint64, error) {
	list, err := c.secure[0].Servers().List(ctx)
	if err != nil {
		return 0, err
	}
	for _, s := range list {
		if s.Leader {
			return s.LastTerm, nil
		}
	}
	return 0, fmt.Errorf("no server of %d leads", len(list))
}

// processors returns the processor time of all servers since the start of measure, for each of n
// operations that it made.
func (c *cluster) processors(n int64, measure func() error) (time.Duration, error) {
	var pids []int
	for _, m := range c.Machines {
		pids = append(pids, m.PID())
	}
	before := processorTime(pids)
	err := measure()
	return (processorTime(pids) - before) / time.Duration(n), err
}

// steady runs a measurement, and adds a row that counts the elections during it.
func (c *cluster) steady(ctx context.Context, b *bench, run func() error) error {
	before, err := c.term(ctx)
	if err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	after, err := c.term(ctx)
	if err != nil {
		return err
	}
	b.add("... changes of the leader meanwhile", "0", "%d", after-before)
	return nil
}

// fleet keeps a scenario's simulated nodes alive on the host of server i, until stop is called.
// It returns when all instances are placed. The files are those that the scenario names.
func (c *cluster) fleet(ctx context.Context, b *bench, i int, scenario string, files map[string]string, instances int) (stop func(), err error) {
	dir := c.Machines[i].Dir
	file := filepath.Join(dir, "scenario.yaml")
	if err := os.WriteFile(file, []byte(scenario), 0o644); err != nil {
		return nil, err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	var output strings.Builder
	cmd := c.Net.Hosts()[i].Command(b.reeve, "sim", "-quiet", "-detached", "-use-server", "-address", "http://127.0.0.1:"+testbed.MemberPort, file)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	stop = sync.OnceFunc(func() {
		cmd.Process.Signal(os.Interrupt)
		<-ended
	})
	err = c.Machines[i].Poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		select {
		case <-ended:
			return fmt.Errorf("the simulated fleet ended: %s", output.String())
		default:
		}
		return placed(ctx, c.secure[i], instances)
	})
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// placed returns an error unless the jobs have n allocations in total.
func placed(ctx context.Context, c *client.Client, n int) error {
	jobs, _, err := c.Jobs().List(ctx, nil)
	if err != nil {
		return err
	}
	found := 0
	for _, j := range jobs {
		if j.JobSummary == nil {
			continue
		}
		for _, s := range j.JobSummary.Summary {
			found += s.Starting + s.Running
		}
	}
	if found < n {
		return fmt.Errorf("%d of %d instances are placed", found, n)
	}
	return nil
}

// onHost returns a job with one sleeping process on a machine of the cluster.
func onHost(id string, i int) *api.Job {
	j := testbed.Job(id, "raw_exec", 1, sleepForever)
	j.Constraints = append(j.Constraints, &api.Constraint{LTarget: "${node.unique.name}", RTarget: fmt.Sprint("host-", i+1), Operand: "="})
	return j
}
