// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A dockerd is a Docker daemon with its own directories and mount namespace.
type dockerd struct {
	dir       string
	processes []*exec.Cmd // the last one ends first
}

func startDockerd(ctx context.Context, dir string) (*dockerd, error) {
	d := &dockerd{dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	address := filepath.Join(dir, "containerd.sock")
	err := d.start(ctx, address, "unshare", "--mount", "--propagation", "slave", "containerd", "--log-level", "error", "--root", dir+"/containers", "--state", dir+"/state", "--address", address)
	if err == nil {
		err = d.start(ctx, d.socket(), "nsenter", "--target", strconv.Itoa(d.processes[0].Process.Pid), "--mount", "dockerd", "--log-level", "error", "--containerd", address,
			"--iptables=false", "--ip-forward=false", "--ip-masq=false", "--bridge=none", "--data-root", dir+"/data", "--exec-root", dir+"/exec", "--pidfile", dir+"/docker.pid", "-H", "unix://"+d.socket())
	}
	if err == nil {
		err = d.docker(ctx, "version")
	}
	if err != nil {
		d.stop()
		return nil, fmt.Errorf("start a Docker daemon (apt-get install docker.io): %w", err)
	}
	return d, nil
}

func (d *dockerd) socket() string { return filepath.Join(d.dir, "docker.sock") }

// start starts a process, and waits for its socket.
func (d *dockerd) start(ctx context.Context, socket string, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	d.processes = append(d.processes, cmd)
	for range 300 {
		if _, err := os.Stat(socket); err == nil {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New(argv[0] + " does not listen on " + socket)
}

func (d *dockerd) stop() {
	for len(d.processes) > 0 {
		last := d.processes[len(d.processes)-1]
		_ = last.Process.Signal(syscall.SIGTERM)
		_ = last.Wait()
		d.processes = d.processes[:len(d.processes)-1]
	}
}

func (d *dockerd) docker(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "docker", append([]string{"-H", "unix://" + d.socket()}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("docker %s: %w: %s", args[0], err, out)
	}
	return nil
}

// pull pulls an image and removes it.
func (d *dockerd) pull(ctx context.Context, image string) (time.Duration, error) {
	begin := time.Now()
	if err := d.docker(ctx, "pull", "-q", image); err != nil {
		return 0, err
	}
	took := time.Since(begin)
	return took, d.docker(ctx, "rmi", "-f", image)
}
