// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// checking measures the cost of a node's checks, and the delay until the servers know of their
// results.
func checking(ctx context.Context, b *bench) error {
	m := metrics{}
	if err := m.run(ctx, "internal/node/check", "^BenchmarkTenThousandChecks$", "10x"); err != nil {
		return err
	}
	if err := m.run(ctx, "internal/node", "^BenchmarkFlipOfReadiness$", "300x"); err != nil {
		return err
	}
	return b.show(m, []figure{
		{"10,000 http checks at 10 s, each on a connection of its own", "TenThousandChecks/http", "cores", "of a core", "<= 0.25 of a core"},
		{"10,000 tcp checks at 10 s", "TenThousandChecks/tcp", "cores", "of a core", "<= 0.25 of a core"},
		{"a readiness check fails -> the node has told the servers", "FlipOfReadiness", "p50-ms", "ms p50", ""},
		{"... the slowest in a hundred", "FlipOfReadiness", "p99-ms", "ms p99", "<= 20 ms"},
	})
}
