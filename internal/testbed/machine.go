// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package testbed runs the real binary on this machine, for end-to-end tests and benchmarks:
// an agent (server and node together) with its own data directory and its own port on the
// loopback interface. It uses only Reeve's command line, API and processes.
package testbed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/output"
)

// A Machine is one agent with its child processes.
type Machine struct {
	Reeve  string   // the binary
	Dir    string   // its data directory
	Addr   string   // host:port of its API
	Args   []string // flags that select the kind of agent; default: a server and a node
	Client *client.Client
	// Command makes the command that runs the agent; default: exec.Command.
	Command func(name string, args ...string) *exec.Cmd

	cmd    *exec.Cmd
	exited chan struct{}
	output *output.Text
}

// New creates a data directory and chooses an address. It starts nothing.
func New(reeve string) (*Machine, error) {
	dir, err := os.MkdirTemp("", "reeve-m-")
	if err != nil {
		return nil, err
	}
	addr, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{Address: "http://" + addr})
	if err != nil {
		return nil, err
	}
	return &Machine{Reeve: reeve, Dir: dir, Addr: addr, Client: c, output: &output.Text{}}, nil
}

// FreeAddress returns a loopback address without a listener, which no other call
// of this process returned. Its port is below those that nodes give to tasks and Linux to outgoing
// connections: the address stays free while an agent is restarted.
func FreeAddress() (string, error) {
	const first, count = 12_000, 8_000
	if nextPort.Load() == 0 {
		nextPort.CompareAndSwap(0, 1+rand.Int64N(count))
	}
	for range 1000 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+nextPort.Add(1)%count))
		if err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", errors.New("find a free port: 1000 ports in a row are taken")
}

// nextPort counts the ports that FreeAddress tried, from a random one.
var nextPort atomic.Int64

// Start starts the agent, which may not answer yet.
func (m *Machine) Start() error {
	kind := m.Args
	if len(kind) == 0 {
		kind = []string{"-dev"}
	}
	command := exec.Command
	if m.Command != nil {
		command = m.Command
	}
	m.cmd = command(m.Reeve, append([]string{"agent", "-data-dir", m.Dir, "-http-addr", m.Addr}, kind...)...)
	m.output.Reset()
	m.cmd.Stdout, m.cmd.Stderr = m.output, m.output
	if err := m.cmd.Start(); err != nil {
		return err
	}
	cmd, exited := m.cmd, make(chan struct{})
	m.exited = exited
	go func() {
		cmd.Wait()
		close(exited)
	}()
	return nil
}

// Exited returns a channel that is closed when the agent has ended.
func (m *Machine) Exited() <-chan struct{} { return m.exited }

// PID returns the agent's process id.
func (m *Machine) PID() int { return m.cmd.Process.Pid }

// Output returns the agent's output since its last start.
func (m *Machine) Output() string { return m.output.String() }

// Ready returns the reason why the agent's node does not accept work yet; nil if it does.
func (m *Machine) Ready(ctx context.Context) error {
	nodes, _, err := m.Client.Nodes().List(ctx, nil)
	if err != nil {
		return err
	}
	if len(nodes) != 1 || nodes[0].Status != api.NodeStatusReady {
		return fmt.Errorf("nodes: %+v", nodes)
	}
	return nil
}

// Poll calls try at an interval until it succeeds, or the agent or ctx ends; it then returns
// the last failure.
func (m *Machine) Poll(ctx context.Context, interval time.Duration, try func(context.Context) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	var last error
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil && last != nil {
			err = last // describes more than the timeout
		}
		last = err
		select {
		case <-tick.C:
		case <-m.exited:
			return fmt.Errorf("the agent ended; last: %w; output:\n%s", err, m.Output())
		case <-ctx.Done():
			return err
		}
	}
}

// Kill kills the agent as a crash would. Its supervisor and tasks continue.
func (m *Machine) Kill() {
	m.cmd.Process.Kill()
	<-m.exited
}

// Destroy stops all processes of the machine, and removes its directory, mounts and cgroups.
func (m *Machine) Destroy() {
	if m.cmd != nil && m.cmd.Process != nil {
		m.Kill()
	}
	m.Client.Close()
	groups := map[string]bool{}
	for pids := m.Processes(); len(pids) > 0; pids = m.Processes() {
		for _, pid := range pids {
			noteGroups(pid, groups)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	for group := range groups {
		removeGroup(group)
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for _, line := range slices.Backward(strings.Split(string(mounts), "\n")) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], m.Dir+"/") {
			syscall.Unmount(f[1], syscall.MNT_DETACH)
		}
	}
	os.RemoveAll(m.Dir)
}

// Supervisor returns the process id of the machine's supervisor, or 0.
func (m *Machine) Supervisor() int {
	for _, pid := range m.Processes() {
		if argv := CommandLine(pid); len(argv) > 1 && argv[1] == "supervise" {
			return pid
		}
	}
	return 0
}
