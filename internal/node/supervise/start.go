// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
)

// stepPatience is for a step that hangs, on a mount that does not answer say.
const stepPatience = 30 * time.Second

// start makes a task's process.
func (s *supervisor) start(r startRequest) (Status, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	spec := &r.Spec
	t := &task{id: spec.ID, marker: markerOf(s.dir, spec.ID), startedAt: time.Now(), isolated: spec.Isolation != nil, ended: make(chan struct{}), starting: true, pidfd: -1}
	s.mu.Lock()
	if old := s.tasks[t.id]; old != nil {
		defer s.mu.Unlock()
		if !r.Again || old.starting {
			return Status{}, fmt.Errorf("task %s exists already", t.id)
		}
		return old.status(), nil
	}
	s.tasks[t.id] = t
	s.mu.Unlock()
	if err := s.launch(t, spec); err != nil {
		s.mu.Lock()
		delete(s.tasks, t.id)
		s.watchIdle()
		s.mu.Unlock()
		return Status{}, errors.Join(err, s.journal.forget(t.id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.starting = false
	return t.status(), nil
}

func (s *supervisor) launch(t *task, spec *Spec) (err error) {
	var limits cgroup.Limits
	if spec.Limits != (Limits{}) {
		limits = cgroup.Limits(spec.Limits)
	}
	if t.group, err = s.tree.Create(groupName(t.id), limits); err != nil {
		return err
	}
	if err := s.journal.put(t.status()); err != nil {
		t.group.Remove()
		return err
	}
	files, err := s.openOutput(t, spec)
	defer func() {
		for _, fd := range files {
			unix.Close(fd)
		}
	}()
	if err == nil {
		err = s.fork(t, spec, files)
	}
	if err != nil {
		for _, p := range t.output {
			p.close(0)
		}
		t.group.Remove()
	}
	return err
}

// openOutput makes the pipes of a task's output, and returns the writing ends.
func (s *supervisor) openOutput(t *task, spec *Spec) (writers []int, err error) {
	if spec.Logs.Disabled || spec.Logs.StdoutPrefix == "" {
		return nil, nil
	}
	for i, prefix := range []string{spec.Logs.StdoutPrefix, spec.Logs.StderrPrefix} {
		r, w, err := pipe()
		if err != nil {
			return writers, fmt.Errorf("make a pipe for the task's output: %w", err)
		}
		writers = append(writers, w)
		if spec.User != nil {
			// So that the task can open /dev/stdout.
			unix.Fchown(w, int(spec.User.UID), int(spec.User.GID))
		}
		t.output[i] = newPump(r, newLogFile(spec.Logs, prefix, s.log))
	}
	return writers, nil
}

// fork makes the process, and returns when it runs what it is for.
func (s *supervisor) fork(t *task, spec *Spec, output []int) error {
	p := process{
		path: spec.Path, argv: spec.Argv, env: spec.Env, dir: spec.Dir, user: spec.User, group: t.group,
		stdio: [3]int{int(s.devNull.Fd()), int(s.devNull.Fd()), int(s.devNull.Fd())},
	}
	if len(output) == 2 {
		p.stdio[1], p.stdio[2] = output[0], output[1]
	}
	if t.group.IsZero() {
		p.env = append(p.env, t.marker)
	}
	var report *os.File
	if word := stepFor(spec.Isolation, t.group, wordInit); word != "" {
		var err error
		if report, err = p.step(word, spec.Isolation); err != nil {
			return err
		}
		defer report.Close()
		defer p.closeExtra()
		if word == wordInit {
			p.attr.Cloneflags = isolate.CloneFlags(spec.Isolation)
		}
	}
	known := make(chan struct{}) // whether it was started is known
	failed := false
	err := s.spawn(&p, func(pid, pidfd int) {
		t.pid, t.pidfd = pid, pidfd
	}, func(ws unix.WaitStatus) {
		<-known
		if !failed {
			s.finish(t, ws)
		}
	})
	if err != nil {
		return startError(spec, err)
	}
	defer close(known)
	if st, err := readStat(t.pid); err == nil {
		t.startTime = st.StartTime
	}
	// This record comes before that of the exit, which waits for known.
	err = s.journal.put(t.status())
	if err == nil && report != nil {
		p.closeExtra()
		err = readReport(report)
	}
	if err != nil {
		failed = true
		t.killAll()
		s.mu.Lock()
		unix.Close(t.pidfd)
		t.pid, t.pidfd = 0, -1
		s.mu.Unlock()
	}
	return err
}

// A process is what is needed to fork and exec.
type process struct {
	path    string
	argv    []string
	env     []string
	dir     string
	user    *User
	group   *cgroup.Group
	stdio   [3]int
	extra   []int // further files for it, from 3
	attr    syscall.SysProcAttr
	prepare func() error // runs on the thread that forks, which is then thrown away
}

// stepFor is the word of the step that is needed in front of a program: with
// isolation that word, to join v1 cgroups wordJoin, else none.
func stepFor(s *isolate.Spec, g *cgroup.Group, word string) string {
	switch {
	case s != nil:
		return word
	case len(g.JoinDirs()) > 0:
		return wordJoin
	}
	return ""
}

// step turns p into one that first runs a step of package isolate, in this
// package's own executable, which then becomes what p was. What goes wrong there
// is in the report.
func (p *process) step(word string, spec *isolate.Spec) (report *os.File, err error) {
	c := isolate.Command{Path: p.path, Argv: p.argv, Env: p.env, Dir: p.dir, Join: p.group.JoinDirs(), Spec: spec}
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

// spawn forks. born is called with the pid before anything can be known of its
// end; ended, with how it ended.
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
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		born(pid, pidfd)
		s.children[pid] = ended
		return nil
	}
	if p.prepare == nil {
		return fork()
	}
	return onThread(func() error {
		if err := p.prepare(); err != nil {
			return err
		}
		return fork()
	})
}

// onThread runs f on an operating system thread of its own that ends with it.
// A child inherits what the thread that forks it has changed about itself, such
// as the pid namespace of children: f changes it for the child alone.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked
		done <- f()
	}()
	return <-done
}

// readReport returns what went wrong before a program ran; nothing when it runs:
// running it closes the report.
func readReport(r *os.File) error {
	r.SetReadDeadline(time.Now().Add(stepPatience))
	b, err := io.ReadAll(io.LimitReader(r, 64<<10))
	if err == nil && len(b) > 0 {
		err = errors.New(strings.TrimSpace(string(b)))
	}
	return err
}

// memFile is a file in memory, for a child to read.
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

// startError says in a user's words why a program could not be executed.
func startError(spec *Spec, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		if _, statErr := os.Stat(spec.Dir); statErr != nil {
			return fmt.Errorf("working directory %s does not exist", spec.Dir)
		}
		if _, statErr := os.Stat(spec.Path); statErr == nil {
			return fmt.Errorf("cannot run %s: the interpreter or loader that it names does not exist", spec.Path)
		}
		return fmt.Errorf("command not found: %s", spec.Path)
	case errors.Is(err, unix.EACCES):
		return fmt.Errorf("permission denied: %s cannot be executed by the task's user, or working directory %s cannot be entered", spec.Path, spec.Dir)
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("cannot run %s: it is neither a program for this machine nor a script with a #! line", spec.Path)
	case errors.Is(err, unix.EPERM) && spec.User != nil:
		return fmt.Errorf("cannot run %s as user %d: the agent does not run as root", spec.Path, spec.User.UID)
	}
	return fmt.Errorf("run %s: %w", spec.Path, err)
}
