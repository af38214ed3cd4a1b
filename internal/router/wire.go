// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// A wire is a TCP connection with a read buffer.
//
// Its deadlines are coarse: it keeps a deadline that is late enough, because
// setting one for each read would cost as much as the read.
type wire struct {
	nc   *net.TCPConn
	raw  syscall.RawConn
	buf  []byte
	r, w int // buf[r:w] holds the unread bytes

	readBy, writeBy time.Time // the current deadlines

	look   func(fd uintptr) // peek's callback, allocated once
	seen   int
	seenBy syscall.Errno
}

func newWire(nc *net.TCPConn, room int) (wire, error) {
	raw, err := nc.SyscallConn()
	return wire{nc: nc, raw: raw, buf: make([]byte, room)}, err
}

func (c *wire) close() { c.nc.Close() }

// unread returns the unread bytes.
func (c *wire) unread() []byte { return c.buf[c.r:c.w] }

// compact moves the unread bytes to the front of the buffer.
func (c *wire) compact() {
	if c.r > 0 {
		c.w = copy(c.buf, c.buf[c.r:c.w])
		c.r = 0
	}
}

// grow makes room in the buffer, whose size it limits. It returns false if the
// buffer is full.
func (c *wire) grow(limit int) bool {
	if c.w < len(c.buf) {
		return true
	}
	if c.r > 0 {
		c.compact()
		return true
	}
	if len(c.buf) >= limit {
		return false
	}
	larger := make([]byte, min(2*len(c.buf), limit))
	copy(larger, c.buf[:c.w])
	c.buf = larger
	return true
}

// fill reads once.
func (c *wire) fill() error {
	n, err := c.nc.Read(c.buf[c.w:])
	c.w += n
	if n > 0 {
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// write writes all of b. It fails if the peer accepts no byte within the limit; a
// limit of 0 or less is none.
func (c *wire) write(b []byte, limit time.Duration) (sent int, err error) {
	since := time.Now()
	c.waitWrite(since, limit/2)
	for {
		n, err := c.nc.Write(b[sent:])
		if sent += n; err == nil || !isTimeout(err) {
			return sent, err
		}
		now := time.Now()
		if n > 0 {
			since = now
		} else if now.Sub(since) >= limit {
			return sent, err
		}
		c.writeBy = since.Add(limit)
		c.nc.SetWriteDeadline(c.writeBy)
	}
}

// waitRead limits reads to at least d from now, and to at most twice as long. A d
// of 0 or less is no limit.
func (c *wire) waitRead(now time.Time, d time.Duration) {
	if d <= 0 {
		if !c.readBy.IsZero() {
			c.readExactlyBy(time.Time{})
		}
		return
	}
	if left := c.readBy.Sub(now); left < d || left > 2*d {
		c.readBy = now.Add(2 * d)
		c.nc.SetReadDeadline(c.readBy)
	}
}

// waitWrite limits writes as waitRead limits reads.
func (c *wire) waitWrite(now time.Time, d time.Duration) {
	if d <= 0 {
		if !c.writeBy.IsZero() {
			c.writeBy = time.Time{}
			c.nc.SetWriteDeadline(c.writeBy)
		}
		return
	}
	if left := c.writeBy.Sub(now); left < d || left > 2*d {
		c.writeBy = now.Add(2 * d)
		c.nc.SetWriteDeadline(c.writeBy)
	}
}

// readExactlyBy sets an exact deadline for reads.
func (c *wire) readExactlyBy(t time.Time) {
	c.readBy = t
	c.nc.SetReadDeadline(t)
}

// forever removes the deadlines.
func (c *wire) forever() {
	c.readBy, c.writeBy = time.Time{}, time.Time{}
	c.nc.SetDeadline(time.Time{})
}

// isQuiet reports whether the peer has neither closed the connection nor sent
// anything. Any other idle connection is unusable.
func (c *wire) isQuiet() bool {
	if c.r != c.w {
		return false
	}
	_, err := c.peek()
	return err == syscall.EAGAIN
}

// isGone reports whether the peer has closed the connection.
func (c *wire) isGone() bool {
	n, err := c.peek()
	return n == 0 && err != syscall.EAGAIN
}

// peek returns the number of bytes that a read would return, without reading or
// waiting. The raw system call bypasses Go's scheduler, because it cannot block.
func (c *wire) peek() (n int, err error) {
	if c.look == nil {
		c.look = func(fd uintptr) {
			var one [1]byte
			for c.seenBy = syscall.EINTR; c.seenBy == syscall.EINTR; {
				n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&one)), 1, syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
				c.seen, c.seenBy = int(n), e
			}
		}
	}
	if err := c.raw.Control(c.look); err != nil {
		return 0, err
	}
	if c.seenBy != 0 {
		return 0, c.seenBy
	}
	return c.seen, nil
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// bodyRoom holds buffers for bodies.
var bodyRoom = sync.Pool{New: func() any { return new([32 << 10]byte) }}
