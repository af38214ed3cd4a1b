// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openOrStart connects to the supervisor of a directory, and starts one if none runs. If
// several clients try at the same time, one starts it and the others wait.
func (c *Client) openOrStart(ctx context.Context) (*net.UnixConn, error) {
	cfg := c.cfg
	if conn, err := dialSocket(ctx, cfg.Dir); err == nil {
		return conn, nil
	}
	lock, err := os.OpenFile(filepath.Join(cfg.Dir, startLock), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	defer lock.Close() // releases the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	conn, err := dialSocket(ctx, cfg.Dir)
	if err == nil {
		return conn, nil
	}
	if !errors.Is(err, unix.ECONNREFUSED) && !errors.Is(err, unix.ENOENT) {
		return nil, fmt.Errorf("connect to the supervisor: %w", err)
	}
	if err := c.startSupervisor(ctx); err != nil {
		return nil, err
	}
	return dialSocket(ctx, cfg.Dir)
}

// startSupervisor starts a supervisor, and returns when it listens.
func (c *Client) startSupervisor(ctx context.Context) error {
	cfg := c.cfg
	output, err := os.OpenFile(filepath.Join(cfg.Dir, outputName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	defer output.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	cmd := exec.Command(cfg.Exe, wordSupervise, cfg.Dir, string(cfg.Cgroups))
	cmd.Args[0] = "reeve"
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = output, output
	cmd.ExtraFiles = []*os.File{w}
	// In its own session, it does not receive signals to the agent's terminal or process
	// group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	c.reapSupervisor()
	c.child = cmd.Process.Pid
	defer cmd.Process.Release()
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(30 * time.Second)
	}
	r.SetReadDeadline(deadline)
	answer, err := io.ReadAll(r)
	switch {
	case err != nil:
		cmd.Process.Kill()
		return fmt.Errorf("start the supervisor: it does not answer: %w", err)
	case string(answer) == "ok":
		return nil
	case len(answer) == 0:
		return fmt.Errorf("start the supervisor: it ended immediately; read its log %s", output.Name())
	}
	return fmt.Errorf("start the supervisor: %s", answer)
}

// reapSupervisor reaps a supervisor that this process started and that has ended. A running
// one is meant to outlive this process.
func (c *Client) reapSupervisor() {
	if c.child > 0 {
		if pid, err := unix.Wait4(c.child, nil, unix.WNOHANG, nil); pid == c.child || err == unix.ECHILD {
			c.child = 0
		}
	}
}
