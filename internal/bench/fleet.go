// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// simulation holds the used part of the report of "reeve sim -json".
type simulation struct {
	Limit     bool
	Nodes     struct{ PerSecond float64 }
	Instances struct {
		Wanted, Placed, Started, Waiting int64
	}
	AllPlaced, AllRunning time.Duration
	PlacementsPerSecond   float64
	Placed, Running       struct{ P50, P99 time.Duration }
	Requests              struct{ Heartbeats, Failed int64 }
	Server                struct {
		PeakMemory, PlacedMemory, LogBytes, Written int64
		CPUTime, PerPlaced                          time.Duration
		Quiet                                       struct {
			CPUTime, Took time.Duration
		}
	}
}

// simulate runs a scenario with the measured binary.
func (b *bench) simulate(ctx context.Context, args ...string) (*simulation, error) {
	return b.report(exec.CommandContext(ctx, b.reeve, append([]string{"sim", "-quiet", "-json"}, args...)...))
}

// report runs a command that prints the report of a simulation.
func (b *bench) report(cmd *exec.Cmd) (*simulation, error) {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	s := new(simulation)
	if parseErr := json.Unmarshal(out, s); parseErr != nil {
		return nil, fmt.Errorf("%w\n%s", errors.Join(err, parseErr), stderr.Bytes())
	}
	return s, nil
}

// replay runs the two million instances of examples/sim/c2m.yaml.
func replay(ctx context.Context, b *bench) error {
	s, err := b.simulate(ctx, "examples/sim/c2m.yaml")
	if err != nil {
		return err
	}
	b.add("C2M: 2,000,000 instances in 2,000 jobs, 6,100 simulated nodes: all placed", "<= 60 s", "%.1f s (%s of %s), %s/s",
		s.AllPlaced.Seconds(), amount(float64(s.Instances.Placed)), amount(float64(s.Instances.Wanted)), amount(s.PlacementsPerSecond))
	b.add("... all known to run", "", "%.1f s (%s)", s.AllRunning.Seconds(), amount(float64(s.Instances.Started)))
	b.add("... server's memory at its most", "<= 3 GiB", "%.2f GiB (%.2f when all were placed)",
		float64(s.Server.PeakMemory)/(1<<30), float64(s.Server.PlacedMemory)/(1<<30))
	b.add("... server's processor time, for each instance", "", "%.1f s, %.1f µs", s.Server.CPUTime.Seconds(), float64(s.Server.PerPlaced)/1e3)
	b.add("... written to the disk", "", "%.0f MB", float64(s.Server.Written)/1e6)
	return nil
}

// heartbeatScenario is an idle fleet.
const heartbeatScenario = `name: heartbeats
limit: 2m
quiet_for: 20s
nodes:
  - {count: 10000}
`

// nodes registers 10,000 nodes and leaves them idle.
func nodes(ctx context.Context, b *bench) error {
	dir, err := os.MkdirTemp("", "reeve-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "heartbeats.yaml")
	if err := os.WriteFile(file, []byte(heartbeatScenario), 0o644); err != nil {
		return err
	}
	s, err := b.simulate(ctx, file)
	if err != nil {
		return err
	}
	quiet := s.Server.Quiet
	b.add("node registrations over HTTP, durable: 10,000 nodes", ">= 5,000/s", "%s/s", amount(s.Nodes.PerSecond))
	b.add("10,000 idle nodes, each with its stream and heartbeats: server", "", "%.1f %% of one processor, %.0f MB",
		100*quiet.CPUTime.Seconds()/quiet.Took.Seconds(), float64(s.Server.PeakMemory)/1e6)
	return nil
}

// attached compares the server's cost of an instance with and without nodes that run it: the
// same jobs on nodes that are registered but not connected.
func attached(ctx context.Context, b *bench) error {
	with, err := b.simulate(ctx, "-scale", "0.1", "examples/sim/c2m.yaml")
	if err != nil {
		return err
	}
	without, err := b.simulate(ctx, "-scale", "0.1", "-detached", "examples/sim/c2m.yaml")
	if err != nil {
		return err
	}
	b.add("server's processor time for each of 200,000 instances", "", "%.1f µs with nodes that run them, %.1f µs placed only",
		float64(with.Server.PerPlaced)/1e3, float64(without.Server.PerPlaced)/1e3)
	return nil
}
