// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// converging measures the comparison of desired and running instances.
func converging(ctx context.Context, b *bench) error {
	m := metrics{}
	if err := m.run(ctx, "internal/server/control", "^BenchmarkConverge$", "20x"); err != nil {
		return err
	}
	for _, f := range []struct{ benchmark, of, bar string }{
		{"Converge/instances=1000", "250 jobs of 1,000", "<= 250 ms"},
		{"Converge/instances=5", "50,000 jobs of 5", ""},
	} {
		took, err := m.of(f.benchmark, "ns/op")
		if err != nil {
			return err
		}
		kept, err := m.of(f.benchmark, "B/op")
		if err != nil {
			return err
		}
		b.add("convergence pass over 250,000 instances on 1,000 nodes with nothing to do: "+f.of, f.bar, "%s ms, %s KiB allocated", amount(took/1e6), amount(kept/1024))
	}
	return nil
}
