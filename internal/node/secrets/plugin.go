// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package secrets runs programs of the node that provide the values of tasks' secret blocks.
//
// A program is in the directory of plugins, which only the operator fills: its presence is the
// permission to use it. It is called as PROGRAM fetch PATH, and answers with one JSON object on its
// standard output: {"result": {"KEY": "VALUE"}, "error": ""}. Its answer reaches no log and no error.
package secrets

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Bounds of a call.
const (
	callTimeout = time.Minute
	maxOutput   = 1 << 20 // bytes
	maxErrors   = 4 << 10
)

// Plugins runs the programs of a directory.
type Plugins struct {
	dir     string
	timeout time.Duration
	slots   chan struct{}
}

// parallel bounds the number of programs that run at a time.
const parallel = 16

// New returns the plugins in a directory, which need not exist.
func New(dir string) *Plugins {
	return &Plugins{dir: dir, timeout: callTimeout, slots: make(chan struct{}, parallel)}
}

// A Request asks a plugin for the values at a path.
type Request struct {
	Plugin, Path     string
	Namespace, JobID string
	Env              map[string]string // from the job file; interpolated
}

// find returns the path of a plugin that only its operator can change.
func (p *Plugins) find(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") || strings.HasPrefix(name, ".") {
		return "", fmt.Errorf("%q is not the name of a plugin", api.Printable(name, 60))
	}
	path := filepath.Join(p.dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("this node has no plugin %q: the operator installs it as %s", name, path)
	}
	if err != nil {
		return "", err
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o100 == 0:
		return "", fmt.Errorf("the plugin %s is not a program: make it an executable file", path)
	case info.Mode().Perm()&0o022 != 0 || st == nil || st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return "", fmt.Errorf("the plugin %s can be changed by other users: give it to the agent's user, with mode 0755", path)
	}
	return path, nil
}

// Fetch calls a plugin.
func (p *Plugins) Fetch(ctx context.Context, r Request) (map[string]string, error) {
	path, err := p.find(r.Plugin)
	if err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.slots }()
	timed, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd := exec.CommandContext(timed, path, "fetch", r.Path)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		cmd.Env = append(cmd.Env, k+"="+r.Env[k])
	}
	cmd.Env = append(cmd.Env, "NOMAD_NAMESPACE="+r.Namespace, "NOMAD_JOB_ID="+r.JobID)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = time.Second // a process that it left may keep its output open
	out, said := &bounded{left: maxOutput}, &bounded{left: maxErrors}
	cmd.Stdout, cmd.Stderr = out, said
	ended := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	again := func(format string, args ...any) error {
		return &driver.RecoverableError{Err: fmt.Errorf("the plugin %q "+format, append([]any{r.Plugin}, args...)...)}
	}
	switch {
	case timed.Err() != nil:
		return nil, again("did not answer within %s", p.timeout)
	case out.over:
		return nil, again("wrote more than %d bytes", maxOutput)
	}
	var answer struct {
		Result map[string]string `json:"result"`
		Error  *string           `json:"error"`
	}
	if err := json.Unmarshal(out.kept.Bytes(), &answer); err != nil {
		if ended != nil {
			return nil, again("failed: %v: %s", ended, api.Printable(said.kept.String(), 300))
		}
		return nil, again("answered with something else than {\"result\": {\"KEY\": \"VALUE\"}, \"error\": \"\"}")
	}
	if answer.Error != nil && *answer.Error != "" {
		return nil, again("reports: %s", api.Printable(*answer.Error, 300))
	}
	if ended != nil {
		return nil, again("failed: %v: %s", ended, api.Printable(said.kept.String(), 300))
	}
	return answer.Result, nil
}

// bounded keeps the beginning of an output.
type bounded struct {
	kept bytes.Buffer // not embedded: its ReadFrom has no bound
	left int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.kept.Write(p[:n])
	b.left -= n
	b.over = b.over || n < len(p)
	return len(p), nil
}
