// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/step"
)

// Sessions: commands beside a task.
//
// A session has its own connection. The client sends the request, then, after a
// confirmation, the three files for the command's standard streams: data never passes
// through the supervisor. The supervisor answers with the pid, and at the end with the exit.
// The command ends with the connection.

type execRequest struct {
	TaskID string
	TTY    bool // reports whether the files are a terminal
	Command
}

// A Command describes a process to run beside a task.
type Command struct {
	Path      string
	Argv      []string
	Env       []string
	Dir       string
	User      *User
	Isolation *isolate.Spec // the task's isolation
	Container bool          `json:",omitempty"` // runs in the task's container, as its user; Path and User have no meaning
	Network   string        `json:",omitempty"` // the task's network namespace; "": the host's
}

// A session is a command that runs beside a task.
type session struct {
	id   uint64 // of the request's frame
	conn *net.UnixConn
	pid  int
	exit *ExitState // guarded by supervisor.mu
	// container reports whether pid is the runtime's call that runs the command.
	container bool
}

func (s *supervisor) serveSession(uc *net.UnixConn, f *frame) {
	c := &serverConn{c: uc}
	ended := make(chan *ExitState, 1)
	ss, err := s.startSession(c, f, ended)
	if err != nil {
		c.send(&frame{ID: f.ID, Error: toWire(err)})
		return
	}
	s.keepSession(ss, ended)
}

// keepSession waits for the end of the command or of the client.
func (s *supervisor) keepSession(ss *session, ended <-chan *ExitState) {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		var b [1]byte
		for {
			if _, err := ss.conn.Read(b[:]); err != nil {
				return
			}
		}
	}()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, ss.pid)
	}()
	select {
	case e := <-ended:
		(&serverConn{c: ss.conn}).send(&frame{ID: ss.id, Body: encodeBody(e)})
		ss.conn.Close()
		<-gone
	case <-gone:
		s.mu.Lock()
		if s.children[ss.pid] != nil { // not reaped yet, so the pid is still valid
			if ss.container {
				killSession(ss.pid)
			}
			unix.Kill(-ss.pid, unix.SIGKILL)
			unix.Kill(ss.pid, unix.SIGKILL)
		}
		s.mu.Unlock()
		<-ended
	}
}

func (s *supervisor) startSession(c *serverConn, f *frame, ended chan<- *ExitState) (*session, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	var r execRequest
	if err := decodeBody(f, &r); err != nil {
		return nil, err
	}
	t, err := s.find(r.TaskID)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	over := t.exit != nil
	s.mu.Unlock()
	if over {
		return nil, ErrTaskEnded
	}
	c.send(&frame{ID: f.ID, Verb: verbExec}) // confirm the request
	files, err := receiveFiles(c.c, 3)
	if err != nil {
		return nil, err
	}
	defer closeAll(files)
	p := process{
		path: r.Path, argv: r.Argv, env: r.Env, dir: r.Dir, user: r.User, group: t.group,
		stdio: [3]int{files[0], files[1], files[2]}, cores: coresOf(s.pidOf(t)),
	}
	if t.container {
		if p, err = s.containerCommand(t, &r); err != nil {
			return nil, err
		}
		defer p.closeExtra()
		defer s.runtimes.use(&p)()
		p.stdio = [3]int{files[0], files[1], files[2]}
	}
	if t.group.IsZero() {
		p.env = append(p.env, t.marker)
	}
	p.attr.Setctty, p.attr.Ctty = r.TTY, 0
	var report *os.File
	if word := stepFor(r.Isolation, t.group, step.Enter); word != "" && !t.container {
		if report, err = p.step(word, r.Isolation, false); err != nil {
			return nil, err
		}
		defer report.Close()
		defer p.closeExtra()
		if word == step.Enter {
			if err := p.enter(t, r.Isolation); err != nil {
				return nil, err
			}
		}
	}
	leave, err := p.joinNetwork(r.Network)
	if err != nil {
		return nil, err
	}
	defer leave()
	ss := &session{id: f.ID, conn: c.c, container: t.container}
	err = s.spawn(&p, func(pid, pidfd int) {
		unix.Close(pidfd)
		ss.pid = pid
		s.sessions[pid] = ss
	}, func(ws unix.WaitStatus) {
		s.endSession(ss, ws, ended)
	})
	if err != nil && s.exited(t) {
		return nil, ErrTaskEnded
	} else if err != nil && t.container {
		return nil, explainRuntime(p.argv[0], err)
	} else if err != nil {
		return nil, startError(&Spec{Path: r.Path, Dir: r.Dir, User: r.User}, err)
	}
	if report != nil {
		p.closeExtra()
		if err := readReport(report); err != nil {
			if s.exited(t) {
				err = ErrTaskEnded
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.sessions, ss.pid)
			return nil, err
		}
	}
	return ss, nil
}

func (s *supervisor) endSession(ss *session, ws unix.WaitStatus, ended chan<- *ExitState) {
	e := (&task{group: &cgroup.Group{}}).exitState(ws)
	s.mu.Lock()
	ss.exit = e
	s.mu.Unlock()
	ended <- e
}

// exited reports whether the main process has exited, which it may do while a command enters its namespaces.
func (s *supervisor) exited(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.exit != nil || t.pidfd < 0 {
		return true
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(t.pidfd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// enter gives the step the files to enter the task's namespaces. The forking thread enters
// the pid namespace, because only children of a process in it belong to it.
func (p *process) enter(t *task, spec *isolate.Spec) error {
	target, err := unix.FcntlInt(uintptr(t.pidfd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return ErrTaskEnded
	}
	p.extra = append(p.extra, target)
	if !spec.HostPID {
		p.prepare = append(p.prepare, func() error {
			if err := unix.Setns(target, unix.CLONE_NEWPID); err != nil {
				return fmt.Errorf("enter the task's pid namespace: %w", err)
			}
			return nil
		})
	}
	return nil
}

// sendFiles passes open files over a connection.
func sendFiles(c *net.UnixConn, fds ...int) error {
	_, _, err := c.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil)
	return err
}

func receiveFiles(c *net.UnixConn, n int) ([]int, error) {
	b, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4*n))
	_, oobn, _, _, err := c.ReadMsgUnix(b, oob)
	if err != nil {
		return nil, fmt.Errorf("receive the command's files: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("receive the command's files: none arrived")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != n {
		closeAll(fds)
		return nil, fmt.Errorf("receive the command's files: %d arrived, not %d", len(fds), n)
	}
	for _, fd := range fds {
		unix.CloseOnExec(fd)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
