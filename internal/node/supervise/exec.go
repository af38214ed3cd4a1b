// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// Exec runs a command beside the task, in its cgroup and, with Isolation, in its namespaces
// and root. It returns the exit code. The command ends with ctx. e.Stdin is read until it
// ends, which may be after Exec returned.
func (p *Process) Exec(ctx context.Context, cmd Command, e driver.Exec) (int, error) {
	conn, err := dialSocket(ctx, p.c.cfg.Dir)
	if err != nil {
		return 0, fmt.Errorf("connect to the supervisor: %w", err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	exit, err := runSession(conn, execRequest{TaskID: p.id, TTY: e.TTY, Command: cmd}, e)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, err
	}
	return exit.Code, nil
}

func runSession(conn *net.UnixConn, r execRequest, e driver.Exec) (*ExitState, error) {
	if err := writeFrame(conn, &frame{ID: 1, Verb: verbExec, Body: encodeBody(r)}); errors.Is(err, errTooLarge) {
		return nil, err
	} else if err != nil {
		return nil, errLinkLost
	}
	if _, err := readAnswer(conn); err != nil {
		return nil, err
	}
	io, err := openStreams(e)
	if err != nil {
		return nil, err
	}
	err = sendFiles(conn, io.remote[0], io.remote[1], io.remote[2])
	io.closeRemote()
	if err != nil {
		io.close()
		return nil, errLinkLost
	}
	f, err := readAnswer(conn)
	io.close()
	if err != nil {
		return nil, err
	}
	exit := new(ExitState)
	return exit, json.Unmarshal(f.Body, exit)
}

func readAnswer(conn *net.UnixConn) (*frame, error) {
	f, err := readFrame(conn)
	if err != nil {
		return nil, errLinkLost
	}
	if f.Error != nil {
		return nil, f.Error.err()
	}
	return f, nil
}

// streams holds both sides of a command's standard files.
type streams struct {
	remote [3]int     // the command's side
	local  []*os.File // files from which output is copied
	input  *os.File   // file to which stdin is copied; the terminal is in own, too
	tty    *os.File
	done   chan struct{} // one value per finished copy of output
	copies int
	ended  chan struct{}
}

func openStreams(e driver.Exec) (*streams, error) {
	s := &streams{remote: [3]int{-1, -1, -1}, done: make(chan struct{}, 2), ended: make(chan struct{})}
	var err error
	if e.TTY {
		err = s.openTerminal(e)
	} else {
		err = s.openPipes(e)
	}
	if err != nil {
		s.closeRemote()
		s.close()
		return nil, err
	}
	if e.Stdin != nil && s.input != nil {
		go func() {
			io.Copy(s.input, e.Stdin)
			if !e.TTY {
				s.input.Close()
			}
		}()
	}
	return s, nil
}

func (s *streams) openTerminal(e driver.Exec) error {
	master, slave, err := pty.Open()
	if err != nil {
		return fmt.Errorf("open a terminal: %w", err)
	}
	s.tty, s.input = master, master
	s.local = append(s.local, master)
	raw, err := slave.SyscallConn()
	if err != nil {
		return err
	}
	raw.Control(func(fd uintptr) {
		for i := range s.remote {
			s.remote[i], _ = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
		}
	})
	unix.SetNonblock(s.remote[0], false)
	slave.Close()
	s.copyOut(e.Stdout, master)
	if e.Resize != nil {
		go s.followSize(e.Resize)
	}
	return nil
}

func (s *streams) followSize(sizes <-chan driver.Size) {
	for {
		select {
		case size, ok := <-sizes:
			if !ok {
				return
			}
			// Unlike Fd, Control may be called while the terminal is being closed.
			if raw, err := s.tty.SyscallConn(); err == nil {
				raw.Control(func(fd uintptr) {
					unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(size.Rows), Col: uint16(size.Cols)})
				})
			}
		case <-s.ended:
			return
		}
	}
}

func (s *streams) openPipes(e driver.Exec) error {
	var err error
	if e.Stdin == nil {
		s.remote[0], err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	} else {
		s.remote[0], s.input, err = inputPipe()
	}
	if err != nil {
		return err
	}
	for i, to := range []io.Writer{e.Stdout, e.Stderr} {
		r, w, err := pipe()
		if err != nil {
			return err
		}
		s.remote[i+1] = w
		s.local = append(s.local, r)
		s.copyOut(to, r)
	}
	return nil
}

// inputPipe makes a pipe of which only the writing end is polled.
func inputPipe() (r int, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, nil, os.NewSyscallError("pipe2", err)
	}
	unix.SetNonblock(fds[1], true)
	return fds[0], os.NewFile(uintptr(fds[1]), "pipe"), nil
}

func (s *streams) copyOut(to io.Writer, from *os.File) {
	if to == nil {
		to = io.Discard
	}
	s.copies++
	go func() {
		defer func() { s.done <- struct{}{} }()
		_, err := io.Copy(to, onlyReader{from})
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// The command has ended, but a process that it started holds the stream: read the
			// available output.
			from.SetReadDeadline(time.Time{})
			if raw, err := from.SyscallConn(); err == nil {
				raw.Read(func(fd uintptr) bool {
					buf := buffers.Get().(*[64 << 10]byte)
					defer buffers.Put(buf)
					for {
						n, err := unix.Read(int(fd), buf[:])
						if err != nil || n <= 0 {
							return true
						}
						if _, err := to.Write(buf[:n]); err != nil {
							return true
						}
					}
				})
			}
		}
	}()
}

// onlyReader hides WriteTo, which would splice past the deadline's error.
type onlyReader struct{ io.Reader }

func (s *streams) closeRemote() {
	for _, fd := range s.remote {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	s.remote = [3]int{-1, -1, -1}
}

// sessionDrain bounds the wait for output of processes that an ended command left behind.
const sessionDrain = 200 * time.Millisecond

func (s *streams) close() {
	for _, f := range s.local {
		f.SetReadDeadline(time.Now().Add(sessionDrain))
	}
	for range s.copies {
		<-s.done
	}
	close(s.ended)
	for _, f := range s.local {
		f.Close()
	}
	if s.input != nil && s.input != s.tty {
		s.input.Close()
	}
}
