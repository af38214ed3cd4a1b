// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package testbed runs the real binary on this machine, for end-to-end tests
// and benchmarks: an agent (server and node together) with an own data
// directory, on an own port of the loopback interface. It knows Reeve only from
// outside: its command line, its API and its processes.
package testbed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// A Machine is one agent and whatever it started.
type Machine struct {
	Reeve  string   // the binary
	Dir    string   // its data directory
	Addr   string   // host:port of its API
	Args   []string // what kind of agent it is; a server and a node when empty
	Client *client.Client

	cmd    *exec.Cmd
	exited chan struct{}
	output *buffer
}

// New makes a data directory and chooses an address; nothing runs yet.
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
	return &Machine{Reeve: reeve, Dir: dir, Addr: addr, Client: c, output: &buffer{}}, nil
}

// FreeAddress returns a loopback address that nobody listens on, and that no other call
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

// Start starts the agent; it may not answer yet.
func (m *Machine) Start() error {
	kind := m.Args
	if len(kind) == 0 {
		kind = []string{"-dev"}
	}
	m.cmd = exec.Command(m.Reeve, append([]string{"agent", "-data-dir", m.Dir, "-http-addr", m.Addr}, kind...)...)
	m.output.reset()
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

// Exited is closed when the agent has ended.
func (m *Machine) Exited() <-chan struct{} { return m.exited }

// PID is the agent's process id.
func (m *Machine) PID() int { return m.cmd.Process.Pid }

// Output is what the agent has written since its last start.
func (m *Machine) Output() string { return m.output.String() }

// Ready reports, as an error, why the agent's node does not take work yet.
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

// Poll tries every interval until it succeeds, the agent ends, or ctx does; it
// returns the last failure then.
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
			err = last // says more than that the time was over
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

// Kill ends the agent as a crash would: it does not run another instruction.
// Its supervisor and tasks go on.
func (m *Machine) Kill() {
	m.cmd.Process.Kill()
	<-m.exited
}

// Destroy ends everything that the machine started, and removes what is left of
// it: directory, mounts and cgroups.
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

// Supervisor is the process id of the machine's supervisor, or 0.
func (m *Machine) Supervisor() int {
	for _, pid := range m.Processes() {
		if argv := CommandLine(pid); len(argv) > 1 && argv[1] == "supervise" {
			return pid
		}
	}
	return 0
}

// buffer is written by a process while others read.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *buffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Reset()
}
