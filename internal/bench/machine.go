// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// A machine is a testbed.Machine whose start was timed.
type machine struct {
	*testbed.Machine
	answers time.Duration // from exec to the first answer
	ready   time.Duration // from exec to a node that accepts work
}

func (b *bench) machine(ctx context.Context) (*machine, error) {
	tm, err := testbed.New(b.reeve)
	if err != nil {
		return nil, err
	}
	m := &machine{Machine: tm}
	begin := time.Now()
	if err := m.Start(); err != nil {
		m.Destroy()
		return nil, err
	}
	err = m.poll(ctx, func(ctx context.Context) error { _, err := m.Client.Status().Leader(ctx); return err })
	m.answers = time.Since(begin)
	if err == nil {
		err = m.poll(ctx, m.Ready)
		m.ready = time.Since(begin)
	}
	if err != nil {
		m.Destroy()
		return nil, err
	}
	return m, nil
}

// poll calls try every millisecond, which is the resolution of its measurements.
func (m *machine) poll(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return m.Poll(ctx, time.Millisecond, try)
}

// allRunning waits until the job's summary counts n running allocations. It is told of changes: polling would take a
// share of the processors from what is measured.
func (m *machine) allRunning(ctx context.Context, id string, n int) error {
	return m.follow(ctx, func(ctx context.Context, q *client.QueryOptions) (bool, *client.QueryMeta, error) {
		s, meta, err := m.Client.Jobs().Summary(ctx, id, q)
		return err == nil && s.Summary["main"].Running == n, meta, err
	})
}

// allEnded waits until no allocation of the job runs.
func (m *machine) allEnded(ctx context.Context, id string) error {
	return m.follow(ctx, func(ctx context.Context, q *client.QueryOptions) (bool, *client.QueryMeta, error) {
		list, meta, err := m.Client.Jobs().Allocations(ctx, id, true, q)
		return !slices.ContainsFunc(list, func(a *api.AllocationListStub) bool {
			return a.ClientStatus == api.AllocClientPending || a.ClientStatus == api.AllocClientRunning
		}), meta, err
	})
}

// follow repeats a read at each change of its answer until it is done.
func (m *machine) follow(ctx context.Context, read func(context.Context, *client.QueryOptions) (done bool, meta *client.QueryMeta, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var q client.QueryOptions
	for {
		done, meta, err := read(ctx, &q)
		if done || err != nil {
			return err
		}
		q.Index = meta.Index
	}
}

// ownMemory returns the resident memory of the agent and its supervisor, in bytes.
func (m *machine) ownMemory() int64 {
	return testbed.ResidentBytes(m.PID()) + testbed.ResidentBytes(m.Supervisor())
}
