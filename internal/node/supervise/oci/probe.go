// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/thread"
)

// A Probe finds out what the kernel can do, by mounting the root of a container that is never
// started.
type Probe struct {
	Exe   string // an executable with package step
	Idle  string // its hidden word of a process that waits for the end of its input
	Dir   string // an empty directory on the file system of the images
	Stage string // as in Spec, and Root
	Root  string
	IDs   *IDs // nil: without a user namespace
}

// Run returns nil if the mounts work.
func (p Probe) Run() error {
	t := Task{Spec: &Spec{Layers: []string{p.Dir + "/layer"}, Upper: p.Dir + "/upper", Work: p.Dir + "/work", Stage: p.Stage, Root: p.Root, IDs: p.IDs}}
	for _, dir := range []string{t.Spec.Layers[0], t.Spec.Upper, t.Spec.Work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if p.IDs != nil {
		var err error
		if t.Users, err = p.userNamespace(); err != nil {
			return fmt.Errorf("make a user namespace: %w", err)
		}
		defer t.Users.Close()
	}
	return thread.Run(t.Prepare)
}

func (p Probe) userNamespace() (*os.File, error) {
	mapping := []syscall.SysProcIDMap{{HostID: int(p.IDs.First), Size: int(p.IDs.Size)}}
	cmd := exec.Command(p.Exe, p.Idle)
	cmd.Args[0] = "reeve"
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: mapping, GidMappings: mapping}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer cmd.Wait()
	defer in.Close()
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		return nil, err
	}
	return os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
}
