// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Limits of a call of a plugin.
const (
	DefaultPatience = 30 * time.Second
	killTime        = 2 * time.Second // for processes that a plugin leaves behind
	maxOutput       = 1 << 20
	maxMessage      = 600 // of a plugin's own words in an error
)

// searchPath is where plugins find the programs of the machine, such as iptables. Plugins see nothing
// else of the agent's environment.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// A complaint is a plugin's error, by the specification.
type complaint struct {
	Code    uint   `json:"code"`
	Message string `json:"msg"`
	Details string `json:"details"`
}

// call runs a plugin with a command for a container. It ends the plugin, and what the plugin started, at the deadline;
// a plugin also ends with the agent, so that the next agent's DEL meets no ADD.
func call(ctx context.Context, path, container string, env []string, config []byte, patience time.Duration) ([]byte, error) {
	if patience <= 0 {
		patience = DefaultPatience
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it did not end within %s, and was killed", patience))
	defer cancel()
	runtime.LockOSThread() // the kernel kills the child when the thread that made it ends
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir, cmd.Env = "/", append([]string{searchPath}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = kill, killTime
	out, words := &bounded{left: maxOutput, full: cancel}, &bounded{left: maxOutput, full: cancel}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(config), out, words
	err := cmd.Run()
	if cmd.Process != nil && err != nil {
		_ = kill() // members of its group that outlived it
		if ctx.Err() != nil || errors.Is(err, exec.ErrWaitDelay) {
			EndStrays(container)
		}
	}
	var c complaint
	isComplaint := json.Unmarshal(out.text, &c) == nil && (c.Code != 0 || c.Message != "")
	switch {
	case out.left < 0 || words.left < 0:
		return nil, fmt.Errorf("it wrote more than %d bytes, and was killed", maxOutput)
	case isComplaint:
		return nil, fmt.Errorf("%s (code %d)", said(c.Message+" "+c.Details), c.Code)
	case ctx.Err() != nil:
		return nil, withWords(context.Cause(ctx), words)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("it left a process behind that holds its output")
	case err != nil:
		if len(words.text) == 0 {
			words = out
		}
		return nil, withWords(err, words)
	}
	return out.text, nil
}

// said returns a plugin's words as a user may read them.
func said(text string) string { return api.Printable(strings.TrimSpace(text), maxMessage) }

func withWords(err error, words *bounded) error {
	if text := said(string(words.text)); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// bounded is a buffer that takes only so many bytes. left is below 0 if there were more.
type bounded struct {
	text []byte
	left int
	full func() // ends the writer
}

var errTooLong = errors.New("the output is too long")

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left < len(p) {
		b.left = -1
		b.full()
		return 0, errTooLong
	}
	b.text = append(b.text, p...)
	b.left -= len(p)
	return len(p), nil
}
