// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// BenchmarkWaiting registers b.N services that no node has room for, waits until all of them are
// blocked, and opens the server again: memory for each job, before and after, and the time of the
// restart. Use -benchtime 10000x.
func BenchmarkWaiting(b *testing.B) {
	dir := b.TempDir()
	runtime.GC()
	before := heapInUse()
	c := start(b, silent(b, dir))
	if _, err := c.RegisterNode(b.Context(), newNode("small")); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	var clients sync.WaitGroup
	for range 64 {
		clients.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if _, err := c.RegisterJob(b.Context(), &api.RegisterJobRequest{Job: unplaceable(b, i)}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "registered/s")
	c.within(10*time.Minute, "all jobs are blocked", func(snap *state.Snapshot) bool {
		blocked := 0
		for range snap.Jobs() {
			blocked++
		}
		return blocked == b.N && c.blocked() == b.N
	})
	runtime.GC()
	b.ReportMetric((heapInUse()-before)/float64(b.N), "heap-B/job")
	if err := c.Shutdown(b.Context()); err != nil {
		b.Fatal(err)
	}
	c = nil
	runtime.GC()

	cpu, began := cpuTime(), time.Now()
	again, err := server.New(silent(b, dir))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "restart-ms")
	b.ReportMetric(float64((cpuTime() - cpu).Milliseconds()), "restart-cpu-ms")
	runtime.GC()
	b.ReportMetric((heapInUse()-before)/float64(b.N), "restarted-heap-B/job")
	if err := again.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := again.Shutdown(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// blocked returns the number of blocked evaluations.
func (c *cluster) blocked() (n int) {
	for e := range c.Store().Snapshot().Evaluations() {
		if e.Status == api.EvalStatusBlocked {
			n++
		}
	}
	return n
}

// unplaceable returns a service as an HTTP request contains it. No two have the same command,
// environment and owner.
func unplaceable(b *testing.B, i int64) *api.Job {
	id := fmt.Sprintf("unplaceable-%d", i)
	text := fmt.Sprintf(`{"ID": %[1]q, "Meta": {"owner": "team-%[2]d"}, "TaskGroups": [{"Name": "main", "Count": 1, "Tasks": [{
		"Name": "task", "Driver": "raw_exec", "Resources": {"CPU": 100, "MemoryMB": 1048576},
		"Config": {"command": "/opt/%[1]s/bin/serve", "args": ["--listen", "0.0.0.0:8080", "--name", %[1]q]},
		"Env": {"SERVICE": %[1]q, "LOG_LEVEL": "info", "DATABASE": "postgres://db-%[2]d/%[1]s"}
	}]}]}`, id, i%50)
	job := new(api.Job)
	if err := json.Unmarshal([]byte(text), job); err != nil {
		b.Error(err)
	}
	return job
}

// cpuTime returns the processor time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
