// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// manyClients is the number of clients that flood a server.
const manyClients = 64

// flood calls do from many clients, as fast as possible.
func flood(ctx context.Context, total int64, do func(i int64) error) (all times, rate float64, err error) {
	var next atomic.Int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	begin := time.Now()
	for range manyClients {
		wg.Go(func() {
			var own times
			for i := next.Add(1); i <= total && ctx.Err() == nil; i = next.Add(1) {
				t := time.Now()
				if failure := do(i); failure != nil {
					mu.Lock()
					err = failure
					mu.Unlock()
					break
				}
				own = append(own, time.Since(t))
			}
			mu.Lock()
			all = append(all, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return all, float64(len(all)) / time.Since(begin).Seconds(), err
}

// registerMany lets 64 clients register jobs without instances. So it measures registration
// (job and evaluation, durable) while evaluations are processed in parallel.
func registerMany(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	all, rate, err := flood(ctx, 20000, func(i int64) error {
		return register(ctx, m, testbed.Job(fmt.Sprintf("many-%d", i), "mock", 0, nil))
	})
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("register, durable, %d clients", manyClients), ">= 5,000 jobs/s", "%.0f jobs/s, %s", rate, all)
	return nil
}

// dispatchMany lets 64 clients dispatch one parameterized job with a little meta and payload.
// Its group has count 0, as in registerMany. It measures the agent's memory before and after.
func dispatchMany(ctx context.Context, b *bench) error {
	const total = 10000
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	parent := testbed.Job("parent", "mock", 0, nil)
	parent.Type = api.JobTypeBatch
	parent.Groups[0].Update = nil
	parent.Parameterized = &api.Parameterized{MetaOptional: []string{"n"}}
	if err := register(ctx, m, parent); err != nil {
		return err
	}
	before := m.ownMemory()
	all, rate, err := flood(ctx, total, func(i int64) error {
		_, err := m.Client.Jobs().Dispatch(ctx, &api.DispatchJobRequest{
			JobID: "parent", Meta: map[string]string{"n": fmt.Sprint(i)}, Payload: []byte("a hundred bytes or so"),
		})
		return err
	})
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("dispatch, durable, %d clients", manyClients), "like registering", "%.0f jobs/s, %s", rate, all)
	b.add(fmt.Sprintf("memory for %d dispatched jobs", total), "", "%.1f MB", float64(m.ownMemory()-before)/1e6)
	return nil
}
