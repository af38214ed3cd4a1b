// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
)

// BenchmarkBroker passes evaluations of a thousand jobs through the broker:
// from the change feed to their acknowledgement.
func BenchmarkBroker(b *testing.B) {
	store := state.New()
	br := broker.New(broker.Config{Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = br.Run(ctx, store)
	}()
	evals := make([]*api.Evaluation, b.N)
	for i := range evals {
		evals[i] = eval(api.NewID(), fmt.Sprint("job", i%1000), 50)
	}
	b.ResetTimer()
	go func() {
		for i := 0; i < len(evals); i += 64 {
			store.Apply(store.Index()+1, []state.Command{&state.PutEvaluations{Evaluations: evals[i:min(i+64, len(evals))]}})
		}
	}()
	for n := 0; n < b.N; {
		d, err := br.Dequeue(ctx)
		if err != nil {
			b.Fatal(err)
		}
		n += 1 + len(d.Riders)
		br.Ack(d, nil)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evals/s")
	cancel()
	<-done
}

// BenchmarkUnblock wakes 10,000 blocked evaluations of as many jobs by one node.
func BenchmarkUnblock(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		store := state.New()
		evals := make([]*api.Evaluation, 10_000)
		for i := range evals {
			evals[i] = blocked(api.NewID(), fmt.Sprint("job", i), map[string]bool{"x": true})
		}
		store.Apply(1, []state.Command{&state.PutEvaluations{Evaluations: evals}})
		br := broker.New(broker.Config{Logger: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = br.Run(ctx, store)
		}()
		b.StartTimer()
		store.Apply(2, []state.Command{&state.RegisterNode{Node: node("n", "x")}})
		for range evals {
			d, err := br.Dequeue(ctx)
			if err != nil {
				b.Fatal(err)
			}
			br.Ack(d, d.Blocked)
		}
		b.StopTimer()
		cancel()
		<-done
		b.StartTimer()
	}
}

// BenchmarkFreedRoom has 10,000 jobs blocked, in 100 sizes, and frees room for
// one of them again and again: what it costs until that one is handed out, and
// what the broker keeps for each.
func BenchmarkFreedRoom(b *testing.B) {
	const jobs = 10_000
	store := state.New()
	free := room{"n": mb(100)}
	var cmds []state.Command
	for i := range jobs {
		size := 100 + i%100
		job := &api.Job{
			ID: fmt.Sprint("job", i), Type: api.JobTypeBatch, Datacenters: []string{"*"},
			Groups: []*api.Group{{Name: "g", Tasks: []*api.Task{{Name: "t", Driver: "mock", Resources: &api.Resources{MemoryMB: &size}}}}},
		}
		job.Canonicalize()
		e := blocked(api.NewID(), job.ID, map[string]bool{"x": true})
		e.SnapshotIndex, e.QueuedAllocations = 1, map[string]int{"g": 1}
		cmds = append(cmds, &state.RegisterJob{Job: job}, &state.PutEvaluations{Evaluations: []*api.Evaluation{e}})
	}
	store.Apply(1, cmds)
	before := heap()
	br := broker.New(broker.Config{Logger: slog.New(slog.DiscardHandler), Capacity: free})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = br.Run(ctx, store)
	}()
	for br.Stats().Blocked < jobs {
		runtime.Gosched()
	}
	kept := heap() - before
	index := uint64(1)
	for b.Loop() {
		index++
		free["n"] = mb(100)
		store.Apply(index, []state.Command{&state.RegisterNode{Node: node("n", "x")}})
		d, err := br.Dequeue(ctx)
		if err != nil {
			b.Fatal(err)
		}
		free["n"] = mb(0) // it takes the room, and waits for more of it
		stays := d.Blocked.Copy()
		stays.SnapshotIndex = index
		br.Ack(d, stays)
	}
	b.ReportMetric(kept/jobs, "B/blocked")
	cancel()
	<-done
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
