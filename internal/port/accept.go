// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package port

import (
	"context"
	"errors"
	"net"
	"time"
)

// Pauses after a failed accept, as when the process has no file descriptors left.
const (
	minPause = 5 * time.Millisecond
	maxPause = time.Second
)

// accept accepts the connections of a listener until Close. No error of a listener ends it:
// the listener recovers once the machine has resources again.
func (p *Port) accept(l net.Listener) {
	pause := time.Duration(0)
	for {
		conn, err := l.Accept()
		switch {
		case p.ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return
		case err != nil:
			if pause == 0 || errors.Is(err, net.ErrClosed) {
				p.log.Error("cannot accept connections", "address", l.Addr(), "error", err)
			}
			pause = min(max(2*pause, minPause), maxPause)
			if !pauseFor(p.ctx, pause) {
				return
			}
			continue
		case pause > 0:
			p.log.Info("connections are accepted again", "address", l.Addr())
			pause = 0
		}
		if p.tls == nil {
			p.http.put(conn)
			continue
		}
		t, ok := conn.(*net.TCPConn)
		if !ok || !p.unfinished.add(t) {
			conn.Close()
			continue
		}
		p.work.Go(func() { p.receive(t) })
	}
}

// pauseFor waits for a duration. It reports false if the context ended first.
func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
