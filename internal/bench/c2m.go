// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/internal/testbed"
)

// c2mScenario is the file of two million instances, in the directory of the repository.
const c2mScenario = "examples/sim/c2m.yaml"

// replayOnThree runs the two million instances with three servers. The simulated nodes are
// connected to the leader's host.
func replayOnThree(ctx context.Context, b *bench) error {
	c, err := b.clusterOf(ctx, trio)
	if err != nil {
		return err
	}
	defer c.Close()
	file, err := filepath.Abs(c2mScenario)
	if err != nil {
		return err
	}
	leader, err := c.Leader(ctx, 0)
	if err != nil {
		return err
	}
	before, err := c.term(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	inside := c.Net.Hosts()[leader].Command(b.reeve, "sim", "-quiet", "-json", "-use-server", "-address", "http://127.0.0.1:"+testbed.MemberPort, file)
	cmd := exec.CommandContext(ctx, inside.Path, inside.Args[1:]...)
	s, err := b.report(cmd)
	if err != nil {
		return err
	}
	b.add("C2M on three servers: all placed", "<= 90 s", "%.1f s (%s of %s), %s/s",
		s.AllPlaced.Seconds(), amount(float64(s.Instances.Placed)), amount(float64(s.Instances.Wanted)), amount(s.PlacementsPerSecond))
	var most []string
	for i, m := range c.Machines {
		bytes, err := peakMemory(m.PID())
		if err != nil {
			return err
		}
		what := "follower"
		if i == leader {
			what = "leader"
		}
		most = append(most, fmt.Sprintf("%s %.2f GiB", what, float64(bytes)/(1<<30)))
	}
	b.add("... memory of each server at its most", "<= 3 GiB", "%s", strings.Join(most, ", "))
	after, err := c.term(ctx)
	if err != nil {
		return err
	}
	b.add("... changes of the leader meanwhile", "0", "%d", after-before)
	return nil
}

// peakMemory returns the largest resident memory that a process had, in bytes.
func peakMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	return kilobytes << 10, err
}
