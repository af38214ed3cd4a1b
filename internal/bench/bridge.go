// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "context"

// bridges are the figures of the networks of allocations. It needs root.
func bridges(ctx context.Context, b *bench) error {
	f := metrics{}
	if err := f.run(ctx, "internal/node/network", "^BenchmarkNetwork$", "100x"); err != nil {
		return err
	}
	if err := f.run(ctx, "internal/node/network", "^BenchmarkThroughput$", "10x"); err != nil {
		return err
	}
	return b.show(f, []figure{
		{"bridge: namespace, link and 4 ports of an allocation, p50", "Network", "up-p50-ns", "ns", "<= 30 ms"},
		{"bridge: their removal, p50", "Network", "down-p50-ns", "ns", "<= 30 ms"},
		{"bridge: throughput through a port of the node", "Throughput", "of-direct", "x direct", ">= 0.9 x direct"},
	})
}
