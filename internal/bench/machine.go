// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/internal/testbed"
)

// machine is a testbed.Machine that was timed while it started.
type machine struct {
	*testbed.Machine
	answers time.Duration // from exec to the first answer
	ready   time.Duration // from exec to a node that takes work
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

// poll asks every millisecond; what it measures is that much coarser.
func (m *machine) poll(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return m.Poll(ctx, time.Millisecond, try)
}

// allRunning waits until the job's summary counts n running allocations.
func (m *machine) allRunning(ctx context.Context, id string, n int) error {
	return m.poll(ctx, func(ctx context.Context) error {
		s, _, err := m.Client.Jobs().Summary(ctx, id, nil)
		if err == nil && s.Summary["main"].Running != n {
			err = fmt.Errorf("%s: %+v", id, s.Summary["main"])
		}
		return err
	})
}

// ownMemory is the resident memory of the agent and its supervisor, in bytes.
func (m *machine) ownMemory() int64 {
	return testbed.ResidentBytes(m.PID()) + testbed.ResidentBytes(m.Supervisor())
}
