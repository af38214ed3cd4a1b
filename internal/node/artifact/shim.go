// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/landlock"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// A shim starts fetching processes.
type shim struct {
	root    string   // an empty directory on which their root is made
	extra   []string // further parts of the host that they see
	env     []string // from the agent's environment, as the operator decided
	open    bool     // the operator has disabled the isolation
	started atomic.Uint32
}

// Users of fetching processes: no user database contains them, so no other process runs as one.
const (
	firstUser = 0x70000000
	users     = 65536
)

// Isolation describes how fetching processes are confined.
func Isolation() string {
	var by []string
	if os.Geteuid() == 0 {
		by = append(by, "namespaces")
	}
	if landlock.Version() > 0 {
		by = append(by, "landlock")
	}
	return strings.Join(by, "+")
}

// maxAnswer bounds the outcome of a fetching process, in bytes.
const maxAnswer = 64 << 10

// run fetches into the directory work, which only this process and the fetching one use.
func (s *shim) run(ctx context.Context, work string, r *Request) (*outcome, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, append([]string{wordConfine}, s.extra...)...)
	cmd.Args[0] = "reeve"
	cmd.Dir = work
	cmd.Env = slices.Concat([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent", "GOMEMLIMIT=256MiB", "GOMAXPROCS=2"}, s.env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	var report io.ReadCloser
	switch {
	case s.open:
		cmd.Args = []string{"reeve", wordFetch}
	case os.Geteuid() == 0:
		files, err := s.isolate(cmd, exe, work)
		if err != nil {
			return nil, err
		}
		defer files.close()
		report = files.report
	}
	var answer, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &answer, left: maxAnswer}, &limited{w: &said, left: maxSaid}
	in, err := cmd.StdinPipe() // stays open: the process ends with it
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the fetching process: %w", err)
	}
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	json.NewEncoder(in).Encode(r) // if it fails, the process has ended and says why
	if report != nil {
		if text, _ := io.ReadAll(io.LimitReader(report, maxSaid)); len(text) > 0 {
			said.Write(text)
		}
	}
	ended := cmd.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result := new(outcome)
	if err := json.Unmarshal(answer.Bytes(), result); err != nil {
		return nil, explainEnd(r.Source, ended, said.String())
	}
	if result.Failure != nil {
		return result, result.Failure
	}
	return result, nil
}

// explainEnd makes the failure of a process that gave no answer.
func explainEnd(s *api.ArtifactSource, ended error, said string) error {
	f := &Failure{Text: fmt.Sprintf("fetch %s: the fetching process ended without an answer", Redact(s.URL)), Temporary: true}
	if ended != nil {
		f.Text += " (" + ended.Error() + ")"
	}
	switch {
	case strings.Contains(said, "out of memory"), strings.Contains(said, "cannot allocate memory"):
		f.Text, f.Temporary = fmt.Sprintf("fetch %s: unpacking it needs more than %d MiB of memory", Redact(s.URL), maxMemory>>20), false
		f.Hint = "compress the archive with smaller settings"
	case said != "":
		line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		f.Text += ": " + api.Printable(line, 300)
	}
	return f
}

// isolation holds the files of a process that runs in namespaces.
type isolation struct{ report *os.File }

func (i *isolation) close() { i.report.Close() }

// isolate makes cmd start in namespaces of its own, as a user of its own.
func (s *shim) isolate(cmd *exec.Cmd, exe, work string) (*isolation, error) {
	id := firstUser + int(s.started.Add(1)%users)
	if err := os.Chown(work, id, id); err != nil {
		return nil, err
	}
	passwd := filepath.Join(filepath.Dir(work), "passwd")
	if err := os.WriteFile(passwd, fmt.Appendf(nil, "root:x:0:0:root:/:/bin/false\nfetch:x:%d:%d:fetch:/work:/bin/false\n", id, id), 0o644); err != nil {
		return nil, err
	}
	spec := &isolate.Spec{RootDir: s.root, HostPaths: append(slices.Clone(visible), s.extra...), Mounts: []isolate.Mount{
		{Source: work, Target: "/work"}, {Source: passwd, Target: "/etc/passwd", ReadOnly: true}, {Source: exe, Target: "/reeve", ReadOnly: true},
	}}
	command := isolate.Command{
		Path: "/reeve", Argv: append([]string{"reeve", wordConfine}, s.extra...), Env: cmd.Env, Dir: "/work", Spec: spec,
		User: &isolate.User{UID: uint32(id), GID: uint32(id)},
	}
	fd, err := unix.MemfdCreate("command", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	config := os.NewFile(uintptr(fd), "command")
	err = json.NewEncoder(config).Encode(command)
	if _, seek := config.Seek(0, io.SeekStart); err == nil {
		err = seek
	}
	if err != nil {
		config.Close()
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		config.Close()
		return nil, errors.Join(err)
	}
	cmd.Args = []string{"reeve", wordInit}
	cmd.Dir = "/"
	cmd.Env = []string{"GOMAXPROCS=2", "GOGC=off"}
	cmd.ExtraFiles = []*os.File{config, w}
	cmd.SysProcAttr.Cloneflags = isolate.CloneFlags(spec)
	return &isolation{r}, nil
}
