// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package jepsen

import (
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/internal/testbed/clock"
)

var (
	seed     = flag.Uint64("seed", 1, "seed of faults and operations; 0: random")
	rounds   = flag.Int("rounds", 0, "number of rounds; default: 1, or as many as fit into -duration")
	duration = flag.Duration("duration", 0, "no round starts later than this")
	chosen   = flag.String("faults", "", "comma-separated names of faults; default: all with -rounds or -duration")
	ledger   = flag.String("ledger", "", "file to which a summary of the run is appended")
	evidence = flag.String("evidence", "", "directory for the histories of failed rounds; default: a new one")
	binary   = flag.String("reeve", "", "the binary under test; default: built from this tree")
	servers  = flag.Int("servers", 0, "number of servers; 0: three or five, by the seed")
	points   = flag.Bool("failpoints", false, "test a binary with the tag faults, whose clock and disk the harness controls")
	older    = flag.String("old-binary", "", "a binary of an earlier version; servers are downgraded to it")
	planted  = flag.String("planted", "", "comma-separated build tags of planted defects; fail unless the harness finds them")
)

// reeve is the binary under test, built once.
var reeve string

func TestMain(m *testing.M) {
	flag.Parse()
	if *binary != "" {
		reeve = *binary
		os.Exit(m.Run())
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "reeve-jepsen-bin-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		if reeve, err = build(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// build builds the binary under test.
func build(dir string) (string, error) {
	path := filepath.Join(dir, "reeve")
	args := []string{"build", "-o", path}
	var tags []string
	if *planted != "" {
		tags = strings.Split(*planted, ",")
	}
	if *points {
		overlay, err := clock.Overlay(dir)
		if err != nil {
			return "", err
		}
		tags, args = append(tags, "faults"), append(args, "-overlay", overlay)
	}
	args = append(args, "-tags", strings.Join(tags, ","), "github.com/reeve-run/reeve/cmd/reeve")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
}

// TestFaults runs one round with a fixed seed, or a run with the parameters of the flags.
func TestFaults(t *testing.T) {
	o := Options{
		Reeve: reeve, OldBinary: *older, Failpoints: *points, Servers: *servers, Seed: *seed, Rounds: *rounds, Duration: *duration, Dir: *evidence, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	if *chosen != "" {
		o.Faults = strings.Split(*chosen, ",")
	}
	if o.Rounds == 0 && o.Duration == 0 {
		o.Rounds = 1
		if o.Servers == 0 {
			o.Servers = 3
		}
		if *chosen == "" {
			o.Faults = []string{"kill-leader"}
		}
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(os.TempDir(), "reeve-jepsen-evidence")
	}
	t.Logf("seed %d", o.Seed)
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s.Commit = commit(t)
	t.Logf("%d rounds (%d undecided) %v in %s: %d operations (%d unknown), %d histories (%d undecided), %d violations",
		s.Rounds, len(s.UndecidedRounds), s.Faults, time.Duration(s.Seconds)*time.Second, s.Operations, s.Unknown, s.Histories, s.Undecided, len(s.Violations))
	if *ledger != "" {
		if err := s.Append(*ledger); err != nil {
			t.Error(err)
		}
	}
	if *planted == "" && (s.Operations < 100*s.Rounds || s.Histories < 4*s.Rounds) {
		t.Errorf("only %d operations in %d histories were checked", s.Operations, s.Histories)
	}
	if *planted != "" {
		if len(s.Violations) == 0 {
			t.Error("the harness did not find the planted defect")
		}
		t.Logf("found: %s", strings.Join(s.Violations, "\n"))
		return
	}
	for _, v := range s.Violations {
		t.Error(v)
	}
	for _, reason := range s.UndecidedRounds {
		t.Errorf("undecided: %s", reason)
	}
}

// commit returns the commit of the binary under test; "unknown" outside of a checkout.
func commit(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
