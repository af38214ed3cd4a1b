// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package port

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// handshakeRecord is the first byte of a TLS connection.
const handshakeRecord = 0x16

// receive finds out what a connection speaks, and hands it over. It holds a place among the
// unfinished connections until then, so strangers who connect faster than their connections
// are taken close their own.
func (p *Port) receive(conn *net.TCPConn) {
	defer p.unfinished.remove(conn)
	ctx, cancel := context.WithTimeout(p.ctx, p.timeout)
	defer cancel()
	conn.SetDeadline(time.Now().Add(p.timeout))
	first, err := peek(conn)
	switch {
	case err != nil:
		conn.Close()
	case first == handshakeRecord:
		p.shake(ctx, conn)
	case p.isLocal(conn):
		conn.SetDeadline(time.Time{})
		p.http.put(conn)
	default:
		if first >= 'A' && first <= 'Z' {
			answerPlain(conn)
		}
		conn.Close()
	}
}

// peek waits for the first byte of a connection, and leaves it unread.
func peek(conn *net.TCPConn) (byte, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var first [1]byte
	var n int
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, _, failed = unix.Recvfrom(int(fd), first[:], unix.MSG_PEEK)
			if failed != unix.EINTR {
				return failed != unix.EAGAIN
			}
		}
	})
	if err == nil {
		err = failed
	}
	if err == nil && n == 0 {
		err = io.EOF
	}
	return first[0], err
}

// isLocal reports whether both ends of a connection have loopback addresses.
func isLocal(conn net.Conn) bool {
	for _, a := range []net.Addr{conn.LocalAddr(), conn.RemoteAddr()} {
		at, err := netip.ParseAddrPort(a.String())
		if err != nil || !at.Addr().Unmap().IsLoopback() {
			return false
		}
	}
	return true
}

// shake completes the TLS handshake of a connection, and hands it to the listener of its
// protocol.
func (p *Port) shake(ctx context.Context, conn *net.TCPConn) {
	secured := tls.Server(conn, p.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		p.log.Debug("the handshake of a connection failed", "peer", conn.RemoteAddr(), "error", err)
		conn.Close()
		return
	}
	state := secured.ConnectionState()
	q := p.http
	if !isHTTP(state.NegotiatedProtocol) {
		q = p.stream(state.NegotiatedProtocol)
		if q == nil || len(state.PeerCertificates) == 0 {
			p.log.Debug("a connection was rejected", "peer", conn.RemoteAddr(), "protocol", state.NegotiatedProtocol, "certificates", len(state.PeerCertificates))
			secured.Close()
			return
		}
	}
	if state.Version < tls.VersionTLS13 {
		secured.Close()
		return
	}
	conn.SetDeadline(time.Time{})
	q.put(secured)
}

// lingerTime bounds the wait for a plain caller to read its answer.
const lingerTime = time.Second

// answerPlain explains to a caller on another machine why it is not served. It reads what
// the caller still sends: closing the connection before would discard the answer.
func answerPlain(conn *net.TCPConn) {
	text := fmt.Sprintf("this port speaks TLS: use https://%s, and `reeve login` to trust its certificate\n", conn.LocalAddr())
	conn.SetDeadline(time.Now().Add(lingerTime))
	fmt.Fprintf(conn, "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n"+
		"Connection: close\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
	conn.CloseWrite()
	io.CopyN(io.Discard, conn, 64<<10)
}
