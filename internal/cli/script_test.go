// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/agent"
	"github.com/reeve-run/reeve/internal/cli/clitest"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// TestScripts runs the scripts of testdata/script: each has an agent of its
// own, whose address is in REEVE_ADDR, other addresses that are free in
// $FREE_ADDR and $OTHER_ADDR, and the examples in $EXAMPLES.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *clitest.Rewrite,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"capture": capture, "eventually": eventually},
		Setup: func(env *testscript.Env) error {
			address, stop, err := startAgent()
			if err != nil {
				return err
			}
			env.Defer(stop)
			env.Defer(func() { endLeftOver(t, filepath.Join(env.WorkDir, "d")) })
			env.Setenv("REEVE_ADDR", address)
			env.Setenv("FREE_ADDR", freeAddress(t))
			env.Setenv("OTHER_ADDR", freeAddress(t))
			env.Setenv("EXAMPLES", examples)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("GORACE", os.Getenv("GORACE")) // see supervisetest.EndAtOnce
			return nil
		},
	})
}

// freeAddress is an address to listen at, on a port that neither the system nor
// an agent gives to others.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10000+rand.N(9000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no port from 10000 to 19000 is free")
	return ""
}

// endLeftOver ends the tasks and the supervisor that agents of a script, which may
// have failed, left in a data directory.
func endLeftOver(t *testing.T, dir string) {
	if _, err := os.Stat(filepath.Join(dir, "supervisor")); err != nil {
		return
	}
	_, stop, err := runAgent(dir)
	if err != nil {
		t.Errorf("end what runs in %s: %v", dir, err)
		return
	}
	stop()
}

// startAgent runs a server and a node in this process until stop is called.
func startAgent() (address string, stop func(), err error) {
	dir, err := os.MkdirTemp("", "reeve-cli-")
	if err != nil {
		return "", nil, err
	}
	return runAgent(dir)
}

// runAgent runs an agent on a data directory, which stop removes.
func runAgent(dir string) (address string, stop func(), err error) {
	// What the examples about devices and host networks need of their node.
	declared, err := agent.LoadConfig([]string{"../../examples/agent-devices.hcl"})
	if err != nil {
		return "", nil, err
	}
	config := agent.DevConfig()
	config.Client.Devices, config.Client.HostNetworks = declared.Client.Devices, declared.Client.HostNetworks
	config.DataDir, config.HTTPAddr = dir, "127.0.0.1:0"
	config.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	a, err := agent.New(context.Background(), config)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stop = func() {
		grace, done := context.WithTimeout(ctx, 20*time.Second)
		defer done()
		a.StopTasks(grace)
		cancel()
		<-ended
		os.RemoveAll(dir)
	}
	address = "http://" + a.Addr()
	if err := waitForNode(address, a.Token()); err != nil {
		stop()
		return "", nil, err
	}
	return address, stop, nil
}

func waitForNode(address, token string) error {
	cl, err := client.New(client.Config{Address: address, Token: token})
	if err != nil {
		return err
	}
	defer cl.Close()
	c := &cli{Process: Process{Stderr: io.Discard, Now: time.Now, Getenv: func(string) string { return "" }}}
	return c.newDevView(cl).waitForNode(context.Background())
}

// capture sets a variable to what the first group of a pattern matches in the
// output of the last command: "capture NAME PATTERN".
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("no %s: nothing in the output matches %q", args[0], args[1])
	}
	ts.Setenv(args[0], found[1])
}

// patience bounds how long a script waits for what takes time.
const patience = 60 * time.Second

// eventually runs a command until its output matches: "eventually PATTERN
// COMMAND ARG...".
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: eventually PATTERN COMMAND [ARG...]")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	matches := func() bool {
		err := ts.Exec(args[1], args[2:]...)
		return err == nil && pattern.MatchString(ts.ReadFile("stdout"))
	}
	if !wait.Poll(ctx, 100*time.Millisecond, matches) {
		said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
		_ = ts.Exec("reeve", "alloc", "status", "-json")
		ts.Fatalf("%q did not appear within %s in:\n%s\nThe allocations:\n%s", args[0], patience, said, ts.ReadFile("stdout"))
	}
}
