// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A pump moves a task's output from its pipe into its log files. It waits in the runtime's
// poller, and takes a buffer only while output is available: a silent stream costs a parked
// goroutine.
type pump struct {
	pipe *os.File // the reading end
	to   *logFile
	done chan struct{} // closed when run returned
	quit atomic.Bool   // stop even if more output is available
}

// buffers is shared by all pumps. The size is that of a pipe.
var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

func newPump(pipe *os.File, to *logFile) *pump {
	p := &pump{pipe: pipe, to: to, done: make(chan struct{})}
	go p.run()
	return p
}

func (p *pump) run() {
	defer close(p.done)
	conn, err := p.pipe.SyscallConn()
	if err != nil {
		return
	}
	conn.Read(func(fd uintptr) bool { return p.drain(int(fd)) })
}

// drain moves the available output. It returns false to be called again for more.
func (p *pump) drain(fd int) bool {
	buf := buffers.Get().(*[64 << 10]byte)
	defer buffers.Put(buf)
	for !p.quit.Load() {
		n, err := unix.Read(fd, buf[:])
		switch {
		case err == unix.EAGAIN:
			return false
		case err == unix.EINTR:
		case err != nil || n == 0:
			return true
		default:
			p.to.write(buf[:n])
		}
	}
	return true
}

// stop makes run return immediately. Unread output stays in the pipe.
func (p *pump) stop() {
	p.quit.Store(true)
	p.pipe.SetReadDeadline(time.Unix(1, 0))
	<-p.done
}

// close waits for the end of the stream, but no longer than d: a process outside of the task
// may hold the pipe.
func (p *pump) close(d time.Duration) {
	if p == nil {
		return
	}
	late := time.AfterFunc(d, p.stop)
	<-p.done
	late.Stop()
	p.pipe.Close()
	p.to.close()
}

// pipe creates a pipe of which only the reading end is polled. The writing end is for a task,
// which expects blocking writes.
func pipe() (r *os.File, w int, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, -1, os.NewSyscallError("pipe2", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, -1, err
	}
	return os.NewFile(uintptr(fds[0]), "pipe"), fds[1], nil
}
