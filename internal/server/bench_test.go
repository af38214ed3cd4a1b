// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

// BenchmarkRegister registers single-instance batch jobs from 64 clients,
// durably, while nodes run them.
func BenchmarkRegister(b *testing.B) {
	for _, clients := range []int{1, 64} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			c := start(b, server.Config{DataDir: b.TempDir()})
			defer c.close()
			var next atomic.Int64
			took := make([]time.Duration, b.N)
			b.ResetTimer()
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for {
						i := int(next.Add(1)) - 1
						if i >= b.N {
							return
						}
						began := time.Now()
						if _, err := c.RegisterJob(b.Context(), &api.RegisterJobRequest{Job: batchJob(fmt.Sprintf("job-%d", i), 1)}); err != nil {
							b.Error(err)
							return
						}
						took[i] = time.Since(began)
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			report(b, took)
		})
	}
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
}

// BenchmarkPlaced measures from a job's registration to its allocation on the
// node's stream, one job at a time, durably.
func BenchmarkPlaced(b *testing.B) {
	c := start(b, server.Config{DataDir: b.TempDir()})
	defer c.close()
	arrived := make(chan string, 1)
	n := c.addBigNode(b, func(a *api.Allocation) { arrived <- a.JobID })
	_ = n
	took := make([]time.Duration, b.N)
	b.ResetTimer()
	for i := range took {
		began := time.Now()
		if _, err := c.RegisterJob(b.Context(), &api.RegisterJobRequest{Job: batchJob(fmt.Sprintf("job-%d", i), 1)}); err != nil {
			b.Fatal(err)
		}
		<-arrived
		took[i] = time.Since(began)
	}
	b.StopTimer()
	report(b, took)
}

// BenchmarkPlacedThousand places 1,000 instances of one job on one node.
func BenchmarkPlacedThousand(b *testing.B) {
	c := start(b, server.Config{DataDir: b.TempDir()})
	defer c.close()
	arrived := make(chan struct{}, 1000)
	c.addBigNode(b, func(*api.Allocation) { arrived <- struct{}{} })
	b.ResetTimer()
	for i := range b.N {
		c.register(batchJob(fmt.Sprintf("job-%d", i), 1000))
		for range 1000 {
			<-arrived
		}
	}
}

// BenchmarkEvaluations runs single-instance jobs through the whole pipeline,
// 64 at a time, until they are on their nodes' streams; durably.
func BenchmarkEvaluations(b *testing.B) {
	c := start(b, server.Config{DataDir: b.TempDir()})
	defer c.close()
	arrived := make(chan struct{}, b.N)
	for range 10 {
		c.addBigNode(b, func(*api.Allocation) { arrived <- struct{}{} })
	}
	var next atomic.Int64
	b.ResetTimer()
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if _, err := c.RegisterJob(b.Context(), &api.RegisterJobRequest{Job: batchJob(fmt.Sprintf("job-%d", i), 1)}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	registered := b.Elapsed()
	for range b.N {
		<-arrived
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "placed/s")
	b.ReportMetric(float64(b.N)/registered.Seconds(), "registered/s")
	stats := c.Replica().Stats()
	b.ReportMetric(float64(stats.Entries)/float64(b.N), "entries/job")
	b.ReportMetric(float64(stats.Proposals)/float64(b.N), "proposals/job")
}
