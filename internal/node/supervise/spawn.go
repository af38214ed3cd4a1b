// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/step"
	"github.com/reeve-run/reeve/internal/node/thread"
)

// A process holds the parameters of a fork and exec.
type process struct {
	path     string
	other    string // to start if path cannot be; "": none
	argv     []string
	env      []string
	dir      string
	user     *User
	group    *cgroup.Group
	stdio    [3]int
	extra    []int // further files, from descriptor 3
	attr     syscall.SysProcAttr
	cores    *unix.CPUSet   // the only cores to run on; nil: the supervisor's
	oomScore int            // see Spec; only with a step
	prepare  []func() error // run on the forking thread, which is then discarded
}

// stepFor returns the word of the step that must run before a program: the given word with
// isolation, step.Join to join v1 cgroups, or "".
func stepFor(s *isolate.Spec, g *cgroup.Group, word string) string {
	switch {
	case s != nil:
		return word
	case len(g.JoinDirs()) > 0:
		return step.Join
	}
	return ""
}

// step changes p so that it first runs a step of package isolate in this executable, which
// then becomes the original process. The returned file reports its errors.
func (p *process) step(word string, spec *isolate.Spec, daemon bool) (report *os.File, err error) {
	c := isolate.Command{Path: p.path, Argv: p.argv, Env: p.env, Dir: p.dir, Join: p.group.JoinDirs(), Spec: spec, OOMScore: p.oomScore}
	if daemon {
		c.Become = step.Become
	}
	if p.user != nil {
		c.User = &isolate.User{UID: p.user.UID, GID: p.user.GID, Groups: p.user.Groups}
	}
	config, err := memFile("command", encodeBody(c))
	if err != nil {
		return nil, err
	}
	report, w, err := pipe()
	if err != nil {
		unix.Close(config)
		return nil, err
	}
	p.extra = []int{config, w}
	p.path, p.argv, p.env, p.dir, p.user = "/proc/self/exe", []string{"reeve", word}, []string{"GOMAXPROCS=2", "GOGC=off"}, "/", nil
	return report, nil
}

func (p *process) closeExtra() {
	for _, fd := range p.extra {
		unix.Close(fd)
	}
	p.extra = nil
}

// spawn forks. It calls born with the pid before the exit can be reaped, and ended with the
// exit.
func (s *supervisor) spawn(p *process, born func(pid, pidfd int), ended func(unix.WaitStatus)) error {
	attr := &syscall.ProcAttr{Dir: p.dir, Env: p.env, Sys: &p.attr}
	for _, fd := range append(p.stdio[:], p.extra...) {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	pidfd := -1
	p.attr.PidFD = &pidfd
	p.attr.Setsid = true
	if p.user != nil {
		p.attr.Credential = &syscall.Credential{Uid: p.user.UID, Gid: p.user.GID, Groups: p.user.Groups}
	}
	in, err := p.group.OpenUnified()
	if err != nil {
		return fmt.Errorf("open the task's cgroup: %w", err)
	}
	if in != nil {
		defer in.Close()
		p.attr.UseCgroupFD, p.attr.CgroupFD = true, int(in.Fd())
	}
	fork := func() error {
		s.forks.RLock()
		defer s.forks.RUnlock()
		pid, err := syscall.ForkExec(p.path, p.argv, attr)
		if err != nil && p.other != "" {
			pid, err = syscall.ForkExec(p.other, p.argv, attr)
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		born(pid, pidfd)
		s.children[pid] = ended
		return nil
	}
	if p.prepare == nil && p.cores == nil {
		return fork()
	}
	return thread.Run(func() error {
		if p.cores != nil {
			if err := unix.SchedSetaffinity(0, p.cores); err != nil {
				return fmt.Errorf("run on the task's cores: %w", err)
			}
		}
		for _, prepare := range p.prepare {
			if err := prepare(); err != nil {
				return err
			}
		}
		return fork()
	})
}

// stepTimeout bounds a step and the mounts of a container, which may hang, for example on a mount that does not answer.
const stepTimeout = 30 * time.Second

// readReport returns the error of a step; nil if the program runs, which closes the report.
func readReport(r *os.File) error {
	r.SetReadDeadline(time.Now().Add(stepTimeout))
	b, err := io.ReadAll(io.LimitReader(r, 64<<10))
	if err == nil && len(b) > 0 {
		err = errors.New(strings.TrimSpace(string(b)))
	}
	return err
}

// duplicate returns a new descriptor of an open file.
func duplicate(f *os.File) (int, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	return fd, os.NewSyscallError("fcntl", err)
}

// memFile creates a file in memory for a child to read.
func memFile(name string, content []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("memfd_create", err)
	}
	if _, err := unix.Write(fd, content); err != nil {
		unix.Close(fd)
		return -1, err
	}
	unix.Seek(fd, 0, io.SeekStart)
	return fd, nil
}
