// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

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

// ownMemory returns the resident memory of the agent and its supervisor, in bytes.
func (m *machine) ownMemory() int64 {
	return testbed.ResidentBytes(m.PID()) + testbed.ResidentBytes(m.Supervisor())
}
