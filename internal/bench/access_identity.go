// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

// accessIdentity starts tasks with an identity and without, in turns.
func accessIdentity(ctx context.Context, b *bench) error {
	const n = 1000
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	start := func(id string, identity *api.Identity) (float64, error) {
		job := testbed.Job(id, "raw_exec", n, sleepForever)
		job.Groups[0].Tasks[0].Identity = identity
		begin := time.Now()
		if err := register(ctx, m, job); err != nil {
			return 0, err
		}
		if err := m.allRunning(ctx, id, n); err != nil {
			return 0, err
		}
		took := time.Since(begin)
		if _, err := m.Client.Jobs().Deregister(ctx, id, purge); err != nil {
			return 0, err
		}
		return float64(took), m.noneRuns(ctx, id)
	}
	var ratios, with, without []float64
	for i := range pairs {
		var took [2]float64 // without, with
		for j := range took {
			k := (i + j) % 2 // each begins as often as the other
			if took[k], err = start(fmt.Sprintf("job-%d-%d", i, k), []*api.Identity{nil, {Env: true, File: true}}[k]); err != nil {
				return err
			}
		}
		o, a := took[0], took[1]
		ratios, with, without = append(ratios, a/o), append(with, a), append(without, o)
	}
	b.add(fmt.Sprintf("1,000 raw_exec tasks with identities against without, %d pairs", pairs), "ratio <= 1.05",
		"median ratio %.2f (%s, %s)", median(ratios), ms(time.Duration(median(with))), ms(time.Duration(median(without))))
	return nil
}

// noneRuns waits until no allocation of a job runs.
func (m *machine) noneRuns(ctx context.Context, id string) error {
	return m.poll(ctx, func(ctx context.Context) error {
		list, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
		for _, a := range list {
			if a.ClientStatus == api.AllocClientRunning {
				return fmt.Errorf("%s still runs", a.Name)
			}
		}
		return err
	})
}
