// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Probe finds out what the kernel can do, by mounting the root of a container that is never
// started.
type Probe struct {
	Exe   string   // an executable with package step
	Words []string // its hidden words: of Prepare, and of a process that waits for the end of its input
	Dir   string   // an empty directory on the file system of the images
	Stage string   // as in Spec, and Root
	Root  string
	IDs   *IDs // nil: without a user namespace
}

// Run returns nil if the mounts work.
func (p Probe) Run() error {
	t := Task{Spec: &Spec{Layers: []string{p.Dir + "/layer"}, Upper: p.Dir + "/upper", Work: p.Dir + "/work", Stage: p.Stage, Root: p.Root, IDs: p.IDs}, Users: -1}
	for _, dir := range []string{t.Spec.Layers[0], t.Spec.Upper, t.Spec.Work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	var users *os.File
	if p.IDs != nil {
		var err error
		if users, err = p.userNamespace(); err != nil {
			return fmt.Errorf("make a user namespace: %w", err)
		}
		defer users.Close()
		t.Users = 5
	}
	return p.mount(t, users)
}

func (p Probe) mount(t Task, users *os.File) error {
	task, taskEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer task.Close()
	report, reportEnd, err := os.Pipe()
	if err != nil {
		taskEnd.Close()
		return err
	}
	defer report.Close()
	cmd := exec.Command(p.Exe, p.Words[0])
	cmd.Args[0] = "reeve"
	cmd.ExtraFiles = []*os.File{task, reportEnd}
	if users != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, users)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	err = cmd.Start()
	reportEnd.Close()
	if err != nil {
		taskEnd.Close()
		return err
	}
	err = json.NewEncoder(taskEnd).Encode(t)
	taskEnd.Close()
	text, _ := io.ReadAll(io.LimitReader(report, 64<<10))
	waitErr := cmd.Wait()
	if len(text) > 0 {
		return errors.New(strings.TrimSpace(string(text)))
	}
	return errors.Join(err, waitErr)
}

func (p Probe) userNamespace() (*os.File, error) {
	mapping := []syscall.SysProcIDMap{{HostID: int(p.IDs.First), Size: int(p.IDs.Size)}}
	cmd := exec.Command(p.Exe, p.Words[1])
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
