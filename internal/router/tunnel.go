// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"io"
	"net"
	"sync/atomic"
)

// upgraded forwards all bytes in both directions after an instance changed the
// protocol. c.out holds the head of its response.
func (c *conn) upgraded(u *upstream) {
	c.idle.Store(false)
	first := append(c.out, u.unread()...)
	if c.send(first) != nil {
		u.close()
		return
	}
	if rest := c.unread(); len(rest) > 0 {
		if _, err := u.nc.Write(rest); err != nil {
			u.close()
			return
		}
	}
	c.forever()
	u.forever()
	done := c.router.tunnels.add(u.nc)
	c.record.in, c.record.out = tunnel(c.nc, u.nc)
	c.router.tunnels.remove(done)
	c.body.read.Store(c.record.in)
}

// tunnel copies bytes between two connections until both directions have ended,
// and closes both. It forwards the end of one direction; an error ends both.
func tunnel(client, instance *net.TCPConn) (in, out int64) {
	var answered atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n, err := pass(client, instance)
		answered.Store(n)
		end(client, instance, err)
	}()
	in, err := pass(instance, client)
	end(instance, client, err)
	<-ended
	client.Close()
	instance.Close()
	return in, answered.Load()
}

// pass copies one direction. It copies small messages through a buffer, which
// costs less than the kernel's pipe. From the first large message on, the kernel
// moves the bytes.
func pass(to, from *net.TCPConn) (n int64, err error) {
	room := make([]byte, 4<<10)
	for {
		got, err := from.Read(room)
		if got > 0 {
			if _, err := to.Write(room[:got]); err != nil {
				return n, err
			}
			n += int64(got)
		}
		switch {
		case err == io.EOF:
			return n, nil
		case err != nil:
			return n, err
		case got == len(room):
			rest, err := io.Copy(to, from)
			return n + rest, err
		}
	}
}

// end forwards the end of one direction.
func end(to, from *net.TCPConn, err error) {
	if err == nil && to.CloseWrite() == nil {
		return
	}
	to.Close()
	from.Close()
}
