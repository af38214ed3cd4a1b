// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

// machine is one agent, server and node together, with a fresh data directory.
type machine struct {
	dir     string
	cmd     *exec.Cmd
	client  *client.Client
	answers time.Duration // from exec to the first answer
	ready   time.Duration // from exec to a node that takes work
}

func (b *bench) machine(ctx context.Context) (*machine, error) {
	dir, err := os.MkdirTemp("", "reeve-b-")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	m := &machine{dir: dir}
	if m.client, err = client.New(client.Config{Address: "http://" + addr}); err != nil {
		return nil, err
	}
	m.cmd = exec.Command(b.reeve, "agent", "-dev", "-data-dir", dir, "-http-addr", addr)
	log, err := os.Create(filepath.Join(dir, "agent.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	m.cmd.Stdout, m.cmd.Stderr = log, log
	begin := time.Now()
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	if err := poll(ctx, func() bool { _, err := m.client.Status().Leader(ctx); return err == nil }); err != nil {
		m.close()
		return nil, fmt.Errorf("the agent does not answer: %w", err)
	}
	m.answers = time.Since(begin)
	err = poll(ctx, func() bool {
		nodes, _, err := m.client.Nodes().List(ctx, nil)
		return err == nil && len(nodes) == 1 && nodes[0].Status == api.NodeStatusReady
	})
	if err != nil {
		m.close()
		return nil, fmt.Errorf("the node does not become ready: %w", err)
	}
	m.ready = time.Since(begin)
	return m, nil
}

// poll asks every millisecond; what it measures is that much coarser.
func poll(ctx context.Context, ok func() bool) error {
	deadline := time.Now().Add(time.Minute)
	for !ok() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not within a minute")
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// close ends the agent, its supervisor and its tasks.
func (m *machine) close() {
	m.cmd.Process.Kill()
	m.cmd.Wait()
	for _, pid := range m.processes() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && strings.HasPrefix(f[1], m.dir+"/") {
			syscall.Unmount(f[1], syscall.MNT_DETACH)
		}
	}
	os.RemoveAll(m.dir)
}

// processes are those whose command line or environment names the data
// directory: the supervisor and the tasks.
func (m *machine) processes() []int {
	var pids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || pid == m.cmd.Process.Pid {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join("/proc", e.Name(), file))
			if err == nil && bytes.Contains(text, []byte(m.dir)) {
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// ownMemory is the resident memory of the agent and its supervisor, in bytes.
func (m *machine) ownMemory() (total int64) {
	pids := []int{m.cmd.Process.Pid}
	for _, pid := range m.processes() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && bytes.Contains(text, []byte("supervise")) {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
				total += kb << 10
			}
		}
	}
	return total
}
