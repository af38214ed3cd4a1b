// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

// Upgrading by exec.
//
// A new supervisor process cannot take over the tasks of an old one: only a parent learns of
// a child's exit, and a child's parent never changes. But a process that executes another
// program stays the same process: it keeps its pid, its children (including unreaped ones),
// and every open file without the close-on-exec flag. So the supervisor executes the new
// binary, which inherits the pipes, the pidfds, the listening socket and the lock. Their
// description is in an inherited file in memory.
//
// At the moment of exec:
//   - No process is partly created: gate is held.
//   - No reaped exit is unhandled: forks is held, and finishing is awaited. The kernel
//     keeps later exits, and the first reap of the new program finds them.
//   - No output is in this process's memory: pumps write all that they have read before
//     they return, and all of them have returned. Unread output is in the pipes.
//
// The exec closes the connections of clients but not the listening socket, so that a client
// that reconnects waits in its queue and is never refused. Sessions keep their connections.
//
// A broken binary would cost every task. So the supervisor first runs it in another process
// to ask whether it understands this form of handover; and if the exec itself fails, the
// supervisor continues as before.

const (
	handoverVersion = 1
	handoverEnv     = "REEVE_SUPERVISE_HANDOVER"
)

type handover struct {
	Version  int
	Instance string
	Listener int
	Lock     int
	Tasks    []handoverTask
	Sessions []handoverSession
}

type handoverTask struct {
	Status
	PIDFD    int
	Isolated bool
	// Container reports whether an OCI runtime started it.
	Container bool           `json:",omitempty"`
	Daemon    bool           `json:",omitempty"`
	Rest      map[int]uint64 `json:",omitempty"` // of a daemon in the background; see remains
	Last      uint32         `json:",omitempty"`
	Pipes     [2]int         // -1: none
	Logs      driver.Logs
	KillAt    time.Time
	Replaced  int
}

type handoverSession struct {
	ID   uint64
	Conn int
	PID  int
	Exit *ExitState
	// Container reports whether PID is a runtime's call.
	Container bool `json:",omitempty"`
}

// upgrade replaces this program with another one. It returns only if that failed.
func (s *supervisor) upgrade(exe string) error {
	if err := s.ask(exe); err != nil {
		return err
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	s.forks.Lock()
	defer s.forks.Unlock()
	s.finishing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()

	h := handover{Version: handoverVersion, Instance: s.instance}
	var keep []int
	pass := func(c syscall.Conn) int {
		fd := -1
		if raw, err := c.SyscallConn(); err == nil {
			raw.Control(func(n uintptr) { fd = int(n) })
		}
		if fd >= 0 {
			keep = append(keep, fd)
		}
		return fd
	}
	h.Listener, h.Lock = pass(s.listener), pass(s.lock)
	for _, t := range s.tasks {
		ht := handoverTask{
			Status: t.status(), PIDFD: t.pidfd, Isolated: t.isolated, Container: t.container, Pipes: [2]int{-1, -1},
			KillAt: t.killAt, Replaced: int(t.replaced),
		}
		if ht.Daemon = t.daemon; t.remains != nil {
			ht.Rest, ht.Last = t.remains.seen, uint32(t.remains.last)
		}
		if t.pidfd >= 0 {
			keep = append(keep, t.pidfd)
		}
		for i, p := range t.output {
			if p == nil {
				continue
			}
			p.stop()
			ht.Pipes[i] = pass(p.pipe)
			ht.Logs = p.to.logs(i, ht.Logs)
		}
		h.Tasks = append(h.Tasks, ht)
	}
	for _, ss := range s.sessions {
		h.Sessions = append(h.Sessions, handoverSession{ID: ss.id, Conn: pass(ss.conn), PID: ss.pid, Exit: ss.exit, Container: ss.container})
	}
	state, err := memFile("handover", encodeBody(h))
	if err == nil {
		keep = append(keep, state)
		for _, fd := range keep {
			unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
		}
		env := append(os.Environ(), handoverEnv+"="+strconv.Itoa(state))
		err = syscall.Exec(exe, []string{"reeve", wordResume, s.dir, string(s.cgroups)}, env)
		unix.Close(state)
	}
	for _, fd := range keep {
		unix.CloseOnExec(fd)
	}
	for _, t := range s.tasks {
		for i, p := range t.output {
			if p != nil {
				p.pipe.SetReadDeadline(time.Time{})
				t.output[i] = newPump(p.pipe, p.to)
			}
		}
	}
	return fmt.Errorf("upgrade the supervisor to %s: %w", exe, err)
}

// ask runs the new binary to ask whether it can take over.
func (s *supervisor) ask(exe string) error {
	r, w, err := pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	null := int(s.devNull.Fd())
	p := process{path: exe, argv: []string{"reeve", wordCheck}, env: os.Environ(), dir: "/", group: &cgroup.Group{}, stdio: [3]int{null, w, null}}
	err = s.spawn(&p, func(_, pidfd int) { unix.Close(pidfd) }, func(unix.WaitStatus) {})
	unix.Close(w)
	if err != nil {
		return startError(&Spec{Path: exe, Dir: "/"}, err)
	}
	r.SetReadDeadline(time.Now().Add(10 * time.Second))
	answer, err := io.ReadAll(io.LimitReader(r, 4096))
	if err != nil || strings.TrimSpace(string(answer)) != checkAnswer {
		return fmt.Errorf("%s cannot take over from this supervisor: asked to, it answered %q, not %q", exe, answer, checkAnswer)
	}
	return nil
}

var checkAnswer = fmt.Sprintf("reeve supervisor, handover %d", handoverVersion)

// resume takes over from the program that this process ran before.
func (s *supervisor) resume() error {
	fd, err := strconv.Atoi(os.Getenv(handoverEnv))
	if err != nil {
		return errors.New("there is nothing to take over")
	}
	os.Unsetenv(handoverEnv)
	file := os.NewFile(uintptr(fd), "handover")
	defer file.Close()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var h handover
	if err := json.NewDecoder(file).Decode(&h); err != nil {
		return fmt.Errorf("read the handover: %w", err)
	}
	s.instance = h.Instance
	unix.CloseOnExec(h.Lock)
	s.lock = os.NewFile(uintptr(h.Lock), lockName)
	listener := os.NewFile(uintptr(h.Listener), socketName)
	ln, err := net.FileListener(listener)
	listener.Close()
	if err != nil {
		return fmt.Errorf("take over the socket: %w", err)
	}
	s.listener = ln.(*net.UnixListener)
	s.listener.SetUnlinkOnClose(false)
	var problems error
	s.tree, problems = cgroupTree(s.dir, s.cgroups)
	s.machine = probe(s.tree, s.dir, problems)
	if s.journal, err = openJournal(s.dir); err != nil {
		return err
	}
	for _, ht := range h.Tasks {
		s.takeTask(ht)
	}
	for _, hs := range h.Sessions {
		s.takeSession(hs)
	}
	return nil
}

func (s *supervisor) takeTask(h handoverTask) {
	t := &task{
		id: h.ID, marker: markerOf(s.dir, h.ID), pid: h.PID, startTime: h.StartTime, startedAt: h.StartedAt, isolated: h.Isolated, container: h.Container,
		group: cgroup.Load(h.Cgroups), ended: make(chan struct{}), pidfd: h.PIDFD, exit: h.Exit, replaced: unix.Signal(h.Replaced),
	}
	s.tasks[t.id] = t
	if t.exit != nil {
		close(t.ended)
		return
	}
	unix.CloseOnExec(t.pidfd)
	for i, fd := range h.Pipes {
		if fd >= 0 {
			unix.CloseOnExec(fd)
			prefix := []string{h.Logs.StdoutPrefix, h.Logs.StderrPrefix}[i]
			t.output[i] = newPump(os.NewFile(uintptr(fd), "pipe"), newLogFile(h.Logs, prefix, s.log))
		}
	}
	t.daemon = h.Daemon
	if h.Background {
		t.remains = newRemains(h.Rest)
		t.remains.last = unix.WaitStatus(h.Last)
		s.daemons[t] = true
		go s.watchRemains(t)
	} else {
		s.children[t.pid] = func(ws unix.WaitStatus) { s.finish(t, ws) }
	}
	if !h.KillAt.IsZero() {
		s.mu.Lock()
		s.killLater(t, h.KillAt)
		s.mu.Unlock()
	}
}

func (s *supervisor) takeSession(h handoverSession) {
	file := os.NewFile(uintptr(h.Conn), "session")
	conn, err := net.FileConn(file)
	file.Close()
	if err != nil {
		s.log.Error("cannot take over a session", "error", err)
		return
	}
	ss := &session{id: h.ID, conn: conn.(*net.UnixConn), pid: h.PID, container: h.Container}
	ended := make(chan *ExitState, 1)
	s.sessions[ss.pid] = ss
	if h.Exit != nil {
		ended <- h.Exit
	} else {
		s.children[ss.pid] = func(ws unix.WaitStatus) { s.endSession(ss, ws, ended) }
	}
	go func() {
		defer ss.conn.Close()
		s.keepSession(ss, ended)
	}()
}
