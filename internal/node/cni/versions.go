// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"

	"github.com/reeve-run/reeve/api"
)

// Versions knows the versions of plugins. It asks a plugin once per content of its file.
type Versions struct {
	mu    sync.Mutex
	known map[string]version
}

type version struct {
	size int64
	time time.Time
	text string
}

const versionPatience = 5 * time.Second

var versionLine = regexp.MustCompile(`(?m)^CNI \S+ plugin (?:version )?(\S{1,64})\s*$`)

// Of returns the version of the plugin at path, by what it says without a command; "" if it does not
// say it.
func (v *Versions) Of(ctx context.Context, path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return ""
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if k, ok := v.known[path]; ok && k.size == st.Size() && k.time.Equal(st.ModTime()) {
		return k.text
	}
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	words := &bounded{left: 64 << 10, full: cancel}
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir, cmd.Env, cmd.WaitDelay = "/", []string{searchPath}, killTime
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Stdin, cmd.Stderr = bytes.NewReader(nil), words
	_ = cmd.Run() // some end with an error after they said it
	found := version{size: st.Size(), time: st.ModTime()}
	if m := versionLine.FindSubmatch(words.text); m != nil && string(m[1]) != "unknown" {
		found.text = api.Printable(string(m[1]), 64)
	}
	if v.known == nil {
		v.known = map[string]version{}
	}
	v.known[path] = found
	return found.text
}
