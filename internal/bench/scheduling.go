// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
)

// placing measures the placement of 1,000 instances at a time: alone, and with plan, placement
// and the applier's check.
func placing(ctx context.Context, b *bench) error {
	m := metrics{}
	for _, run := range [][3]string{
		{"internal/placement", "^BenchmarkPlace$/^(plain|affinity|spread|everything)$/^nodes=10000$", "200x"},
		{"internal/placement", "^BenchmarkPlaceSystem$/^nodes=10000$", "20x"},
		{"internal/plan", "^BenchmarkEvaluation$/^(plain|affinity|spread|everything|system)$/^nodes=10000$", "100x"},
	} {
		if err := m.run(ctx, run[0], run[1], run[2]); err != nil {
			return err
		}
	}
	const rate, words = "placements/s", "placements/s"
	return b.show(m, []figure{
		{"1,000 instances of a service, 10,000 nodes: placement alone", "Place/plain/nodes=10000", rate, words, ">= 500,000/s"},
		{"... through plan, placement and the applier's check", "Evaluation/plain/nodes=10000", rate, words, ">= 100,000/s"},
		{"... with an affinity: placement alone", "Place/affinity/nodes=10000", rate, words, ""},
		{"... with an affinity: through all three", "Evaluation/affinity/nodes=10000", rate, words, ">= 100,000/s"},
		{"... with a spread over zones: placement alone", "Place/spread/nodes=10000", rate, words, ""},
		{"... with a spread over zones: through all three", "Evaluation/spread/nodes=10000", rate, words, ">= 100,000/s"},
		{"... regexp, version, static port, distinct_hosts, device: placement alone", "Place/everything/nodes=10000", rate, words, ""},
		{"... regexp, version, static port, distinct_hosts, device: through all three", "Evaluation/everything/nodes=10000", rate, words, ">= 100,000/s"},
		{"system job over 10,000 nodes: placement alone", "PlaceSystem/nodes=10000", rate, words, ""},
		{"system job over 10,000 nodes: through all three", "Evaluation/system/nodes=10000", rate, words, ">= 300,000/s"},
		{"garbage per placed allocation (including stored objects)", "Evaluation/plain/nodes=10000", "B/placement", "B", "<= 600 B"},
		{"... objects", "Evaluation/plain/nodes=10000", "objects/placement", "objects", "<= 4"},
	})
}

// growing measures the placement of one instance in fleets of growing size.
func growing(ctx context.Context, b *bench) error {
	m := metrics{}
	if err := m.run(ctx, "internal/placement", "^BenchmarkPlaceOne$/^(plain|constraint|spread)$", "20000x"); err != nil {
		return err
	}
	for _, kind := range []string{"plain", "constraint", "spread"} {
		var each []any
		for _, nodes := range []int{1000, 10000, 100000} {
			v, err := m.of(fmt.Sprintf("PlaceOne/%s/nodes=%d", kind, nodes), "ns/op")
			if err != nil {
				return err
			}
			each = append(each, v/1000)
		}
		b.add("one instance at 1,000, 10,000 and 100,000 nodes: "+kind, "", "%.1f, %.1f and %.1f µs", each...)
	}
	return nil
}

// evaluating measures single-instance batch jobs from their registration to the committed
// allocation, with a durable log.
func evaluating(ctx context.Context, b *bench) error {
	m := metrics{}
	if err := m.run(ctx, "internal/server", "^BenchmarkPipeline(Registered|Pending)$/^nodes=(10000|100000)$", "20000x"); err != nil {
		return err
	}
	for _, kind := range []struct{ benchmark, what string }{
		{"PipelineRegistered", "evaluations of single-instance batch jobs, registering included"},
		{"PipelinePending", "evaluations of single-instance batch jobs that are registered"},
	} {
		small, err := m.of(kind.benchmark+"/nodes=10000", "evals/s")
		if err != nil {
			return err
		}
		large, err := m.of(kind.benchmark+"/nodes=100000", "evals/s")
		if err != nil {
			return err
		}
		cpu, err := m.of(kind.benchmark+"/nodes=10000", "cpu-us/eval")
		if err != nil {
			return err
		}
		b.add(kind.what+", durable: 10,000 nodes", ">= 10,000/s", "%s/s, %.0f µs of processor time each", amount(small), cpu)
		b.add("... 100,000 nodes", ">= 0.5 x that", "%s/s, %.2f x", amount(large), large/small)
	}
	return nil
}
