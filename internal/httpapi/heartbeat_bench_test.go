// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
)

// BenchmarkHeartbeatsOf10000Nodes is what heartbeats cost a durable server and
// their senders together, over HTTP in one process. Heartbeats of nodes that
// are up write nothing.
func BenchmarkHeartbeatsOf10000Nodes(b *testing.B) {
	const nodes = 10_000
	s, c := durable(b, server.Config{HeartbeatTTL: time.Hour})
	ids := make([]string, nodes)
	began := time.Now()
	var registered atomic.Int64
	done := make(chan error, 64)
	for range 64 {
		go func() {
			for {
				i := int(registered.Add(1)) - 1
				if i >= nodes {
					done <- nil
					return
				}
				ids[i] = api.NewID()
				if _, err := s.RegisterNode(b.Context(), &api.Node{ID: ids[i], Name: fmt.Sprint("n", i)}); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range 64 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
	registering := time.Since(began)
	index, used := s.Store().Index(), processorTime(b)
	var n atomic.Int64
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Nodes().Heartbeat(b.Context(), ids[int(n.Add(1))%nodes]); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	if got := s.Store().Index(); got != index {
		b.Errorf("%d heartbeats made %d log entries", b.N, got-index)
	}
	each := (processorTime(b) - used).Seconds() / float64(b.N)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "heartbeats/s")
	b.ReportMetric(each*1e6, "cpu-us/heartbeat")
	b.ReportMetric(100*each*nodes/(10.0/3), "%srv-at-10000-nodes")
	b.ReportMetric(registering.Seconds(), "s-to-register-10000")
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
