// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the figures of docs/benchmarks.md: it starts the real binary on this
// machine, uses it as a client would, and prints each figure beside its target. It asserts
// nothing, because absolute times depend on the machine.
//
//	go run ./internal/bench -reeve bin/reeve [-only NAME] [-write docs/benchmarks.md]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// A measurement is one part of the table.
type measurement struct {
	name string
	run  func(ctx context.Context, b *bench) error
}

var measurements = []measurement{
	{"size", binarySize},
	{"start", startTime},
	{"idle", idleMemory},
	{"start-raw-exec", startRawExec},
	{"start-exec", startExec},
	{"crash", crash},
	{"step to step", stepToStep},
	{"derive", deriving},
	{"plans", listing},
	{"register-one", registerOne},
	{"register-many", registerMany},
	{"dispatch-many", dispatchMany},
	{"mock-1000", mockThousand},
	{"memory-1000", taskMemory},
	{"containers", containers},
	{"pull", pulling},
	{"restart", restart},
	{"two-million", restartLarge},
	{"running-10000", runningMemory},
	{"state", stateBenchmarks},
	{"place", placing},
	{"grow", growing},
	{"evaluate", evaluating},
	{"nodes", nodes},
	{"converge", converging},
	{"checks", checking},
	{"attached", attached},
	{"router", routing},
	{"bridge", bridges},
	{"rolling", rolling},
	{"templates", templatesOfNode},
	{"traffic", traffic},
	{"catalog", catalogBenchmarks},
	{"streams", streams},
	{"instances", askingInstances},
	{"lifecycle", lifecycleStacks},
	{"three-servers", threeServers},
	{"access", access},
	{"access-policy", accessPolicy},
	{"access-identity", accessIdentity},
	{"access-variables", accessVariables},
	{"idle-three", idleThree},
	{"failover", failover},
	{"catch-up", catchUp},
	{"c2m", replay},
	{"c2m-three", replayOnThree},
}

// A bench is one run of the measurements.
type bench struct {
	reeve string
	rows  []row
	begun processors // at the start
}

func main() {
	reeve := flag.String("reeve", "bin/reeve", "the binary to measure")
	only := flag.String("only", "", "measure only what has this in its name")
	write := flag.String("write", "", "put the table into this page, between its markers")
	proxyTo := flag.String("proxy-to", "", "be nothing but the standard library's proxy to an address, for the router to be compared with")
	flag.Parse()
	if *proxyTo != "" {
		fmt.Fprintln(os.Stderr, standardProxy(*proxyTo))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	path, err := filepath.Abs(*reeve) // jobs run it, too
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	b := &bench{reeve: path, begun: readProcessors()}
	failed := false
	for _, m := range measurements {
		if !strings.Contains(m.name, *only) {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s\n", m.name)
		if err := m.run(ctx, b); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", m.name, err)
			failed = true
		}
	}
	table := b.table()
	fmt.Print(table)
	if *write != "" {
		if err := writeInto(*write, table); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}
