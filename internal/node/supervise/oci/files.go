// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/opencontainers/runtime-spec/specs-go"
)

// MakeDir creates a container's directory. The description in it serves commands beside the
// container.
func MakeDir(dir string, s *Spec) error {
	err := os.RemoveAll(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		b, _ := json.Marshal(Spec{Runtime: s.Runtime, Config: s.Config}) // a plain struct
		err = os.WriteFile(filepath.Join(dir, specName), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("make the container's directory: %w", err)
	}
	return nil
}

// PID returns the first process of a container that the runtime has started.
func PID(dir string) (int, error) {
	b, err := os.ReadFile(filepath.Join(dir, pidName))
	if err != nil {
		return 0, fmt.Errorf("find the container's process: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("find the container's process: the runtime recorded %.40q", b)
	}
	return pid, nil
}

// maxLog bounds the part of a runtime's log that is read, in bytes.
const maxLog = 64 << 10

// Failure returns why the runtime did not start a container, in words for a user.
func Failure(dir string, status string) error {
	b, _ := os.ReadFile(filepath.Join(dir, logName))
	if len(b) > maxLog {
		b = b[len(b)-maxLog:]
	}
	var last string
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var entry struct{ Level, Msg string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && (entry.Level == "error" || entry.Level == "fatal") {
			last = entry.Msg
		}
	}
	if last == "" {
		return fmt.Errorf("the container runtime ended with %s and no reason", status)
	}
	return explain(last)
}

// explain shortens a message of runc to what its user can change.
func explain(text string) error {
	text = strings.TrimPrefix(text, "runc create failed: ")
	text = strings.TrimPrefix(text, "runc run failed: ")
	text = strings.TrimPrefix(text, "unable to start container process: ")
	text = strings.TrimPrefix(text, "error during container init: ")
	if rest, ok := strings.CutPrefix(text, "exec: "); ok {
		name, cause, _ := strings.Cut(rest, ": ")
		switch {
		case strings.Contains(cause, "executable file not found") || strings.Contains(cause, "no such file"):
			return fmt.Errorf("command not found in the image: %s", name)
		case strings.Contains(cause, "permission denied"):
			return fmt.Errorf("permission denied: %s of the image cannot be executed by the task's user", name)
		}
	}
	if strings.Contains(text, "exec format error") {
		return errors.New("the image's program is not for this machine: use an image for its processor")
	}
	return fmt.Errorf("start the container: %s", text)
}

// A Session is a command beside a container.
type Session struct {
	Argv []string
	Env  []string // added to the container's
	Dir  string   // working directory; "": the container's
	TTY  bool
}

// Exec returns the runtime's call that runs a command in a container, and the description of
// the process, which the runtime reads from processPath.
func Exec(dir, id, processPath string, s Session) (argv []string, process []byte, err error) {
	b, err := os.ReadFile(filepath.Join(dir, specName))
	var saved Spec
	if err == nil {
		err = json.Unmarshal(b, &saved)
	}
	var config specs.Spec
	if err == nil {
		err = json.Unmarshal(saved.Config, &config)
	}
	if err == nil && config.Process == nil {
		err = errors.New("it has no process")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the description of the container: %w", err)
	}
	p := *config.Process
	p.Args, p.Terminal, p.Env = s.Argv, s.TTY, append(p.Env, s.Env...)
	if s.Dir != "" {
		p.Cwd = s.Dir
	}
	process, err = json.Marshal(p)
	return []string{saved.Runtime, "--root", filepath.Join(dir, stateName), "exec", "--process", processPath, id}, process, err
}
