// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/node/supervise/oci"
)

// idleGrace is how long a supervisor without tasks waits for the next agent before it ends.
const idleGrace = 2 * time.Second

// A supervisor is the process that owns tasks. Its locks, in order:
//
//   - gate: held shared by operations that an upgrade must not interrupt; held
//     exclusively by the upgrade and the end.
//   - forks: held shared from a fork until its pid is in the maps; held exclusively for
//     reaping, so that no exit is reaped before its process is known.
//   - mu: guards the maps.
type supervisor struct {
	dir      string
	cgroups  CgroupUse
	log      *slog.Logger
	lock     *os.File
	listener *net.UnixListener
	devNull  *os.File
	journal  *journal
	tree     *cgroup.Tree
	program  programFile
	runtimes runtimeFiles
	machine  Machine
	instance string

	gate      sync.RWMutex
	forks     sync.RWMutex
	finishing sync.WaitGroup // reaped exits that are being handled

	mu       sync.Mutex
	tasks    map[string]*task
	children map[int]func(unix.WaitStatus) // exit handlers by pid
	sessions map[int]*session              // by pid
	conns    map[*serverConn]bool
	daemons  map[*task]bool // daemons in the background
	idle     *time.Timer
	adopting int                     // containers that are being started
	orphans  map[int]unix.WaitStatus // exits of unknown children meanwhile, by pid

	usersMu sync.Mutex
	users   map[oci.IDs]*os.File // user namespaces that describe a range
}

// serve is the main function of the supervisor.
func serve(dir, cgroups string, resume bool) int {
	debug.SetGCPercent(50)
	unix.Umask(0o022)
	s := &supervisor{
		dir:      dir,
		cgroups:  CgroupUse(cgroups),
		log:      slog.New(slog.NewTextHandler(os.Stderr, nil)),
		tasks:    map[string]*task{},
		children: map[int]func(unix.WaitStatus){},
		sessions: map[int]*session{},
		conns:    map[*serverConn]bool{},
		daemons:  map[*task]bool{},
		orphans:  map[int]unix.WaitStatus{},
		users:    map[oci.IDs]*os.File{},
	}
	var ready *os.File
	if !resume { // otherwise descriptor 3 has another meaning
		ready = os.NewFile(3, "ready")
		unix.CloseOnExec(3)
		closeInherited()
	}
	if err := s.open(resume); err != nil {
		s.log.Error("cannot start the supervisor", "error", err)
		if ready != nil {
			fmt.Fprint(ready, err)
		}
		return 1
	}
	if ready != nil {
		fmt.Fprint(ready, "ok")
		ready.Close()
	}
	s.run()
	return 0
}

func (s *supervisor) open(resume bool) error {
	// Orphans of tasks become children of the supervisor instead of init: it reaps them, and
	// a walk of its descendants finds them.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the subreaper: %w", err)
	}
	var err error
	if s.devNull, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return err
	}
	if resume {
		err := s.resume()
		closeInherited() // all inherited files are in use by now; earlier versions kept others open
		return err
	}
	if s.lock, err = os.OpenFile(filepath.Join(s.dir, lockName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := takeLock(s.lock); err != nil {
		return fmt.Errorf("another supervisor has %s", s.dir)
	}
	s.instance = api.NewID()
	var problems error
	s.tree, problems = cgroupTree(s.dir, s.cgroups)
	s.machine = probe(s.tree, s.dir, problems)
	if s.journal, err = openJournal(s.dir); err != nil {
		return err
	}
	s.reclaim()
	go s.tree.Sweep()
	s.listener, err = listenSocket(s.dir)
	return err
}

// lockTimeout bounds the wait for a supervisor that has ended but not exited: its socket is
// removed before its lock.
const lockTimeout = 3 * time.Second

func takeLock(f *os.File) error {
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// run serves requests until the supervisor is not needed.
func (s *supervisor) run() {
	// Handled signals, unlike ignored ones, are reset in a new task.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGPIPE, unix.SIGUSR1, unix.SIGUSR2)
	exits := make(chan os.Signal, 1)
	signal.Notify(exits, unix.SIGCHLD)
	go func() {
		for range signals {
			// It ends after its tasks when no agent is left, or by force.
		}
	}()
	go func() {
		s.reap()
		for range exits {
			s.reap()
		}
	}()
	s.mu.Lock()
	s.watchIdle()
	s.mu.Unlock()
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			select {} // an upgrade or the end is in progress
		}
		if err != nil {
			s.log.Error("cannot accept a connection", "error", err)
			time.Sleep(10 * time.Millisecond) // out of files: slow down
			continue
		}
		go s.serveConn(conn)
	}
}

// watchIdle schedules the end of an unneeded supervisor. The caller holds mu.
func (s *supervisor) watchIdle() {
	if s.needed() {
		return
	}
	if s.idle == nil {
		s.idle = time.AfterFunc(idleGrace, s.endIfIdle)
		return
	}
	s.idle.Reset(idleGrace)
}

func (s *supervisor) needed() bool {
	if len(s.conns) > 0 {
		return true
	}
	for _, t := range s.tasks {
		if t.exit == nil {
			return true
		}
	}
	return false
}

func (s *supervisor) endIfIdle() {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.needed() {
		s.end()
	}
}

// end ends the process. Unacknowledged exits are in the journal.
func (s *supervisor) end() {
	s.listener.Close()
	os.Remove(filepath.Join(s.dir, socketName))
	s.tree.Remove()
	os.Exit(0)
}

// A serverConn is the supervisor's side of a client's connection.
type serverConn struct {
	c        *net.UnixConn
	mu       sync.Mutex // of writes
	watching bool       // guarded by supervisor.mu
}

// send writes a message. It disconnects a client that does not read.
func (c *serverConn) send(f *frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.c.SetWriteDeadline(time.Now().Add(10 * time.Second))
	if err := writeFrame(c.c, f); err != nil {
		c.c.Close()
	}
}

func (s *supervisor) serveConn(uc *net.UnixConn) {
	c := &serverConn{c: uc}
	s.mu.Lock()
	s.conns[c] = true
	s.mu.Unlock()
	defer func() {
		uc.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
		s.watchIdle()
	}()
	for {
		f, err := readFrame(uc)
		if err != nil {
			if err != io.EOF && !errors.Is(err, net.ErrClosed) {
				s.log.Warn("client", "error", err)
			}
			return
		}
		if f.Verb == verbExec {
			s.serveSession(uc, f)
			return
		}
		go s.answer(c, f)
	}
}

func (s *supervisor) answer(c *serverConn, f *frame) {
	body, err := s.handle(c, f)
	if err != nil {
		c.send(&frame{ID: f.ID, Error: toWire(err)})
		return
	}
	c.send(&frame{ID: f.ID, Body: encodeBody(body)})
	if f.Verb == verbShutdown {
		s.end()
	}
}
