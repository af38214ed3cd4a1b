// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// Bounds of a session.
const (
	maxExecMessage = 1 << 20          // bytes of a message from the client
	probeInterval  = 10 * time.Second // of a client whose input the command does not read
	exitPatience   = time.Minute      // in which a slow client must receive the last output
)

// An execStream carries the input and output of one command over a websocket.
type execStream struct {
	ctx   context.Context
	conn  *websocket.Conn
	stdin *io.PipeReader
	input *io.PipeWriter
	sizes chan driver.Size // holds the newest size
	fed   atomic.Uint64    // odd while the command has yet to read input

	mu sync.Mutex // held while a message is sent
}

func newExecStream(ctx context.Context, conn *websocket.Conn) *execStream {
	s := &execStream{ctx: ctx, conn: conn, sizes: make(chan driver.Size, 1)}
	s.stdin, s.input = io.Pipe()
	return s
}

// receive reads the client's messages until the connection ends or contains anything else.
func (s *execStream) receive() {
	defer s.input.Close()
	for {
		var in api.ExecInput
		if err := wsjson.Read(s.ctx, s.conn, &in); err != nil {
			return
		}
		if size := in.TTYSize; size != nil {
			s.resize(size)
		}
		if in.Stdin == nil {
			continue
		}
		if len(in.Stdin.Data) > 0 && !s.feed(in.Stdin.Data) {
			return
		}
		if in.Stdin.Close {
			s.input.Close()
		}
	}
}

// resize replaces the size that was not read yet. A size that no terminal has is ignored.
func (s *execStream) resize(size *api.TerminalSize) {
	if size.Height < 1 || size.Height > math.MaxUint16 || size.Width < 1 || size.Width > math.MaxUint16 {
		return
	}
	select {
	case <-s.sizes:
	default:
	}
	s.sizes <- driver.Size{Rows: size.Height, Cols: size.Width}
}

// feed passes input to the command, and waits until the command reads it: so the client waits as
// well. Input after the end of the command, or after its own end, is lost. feed reports whether the
// session continues.
func (s *execStream) feed(data []byte) bool {
	s.fed.Add(1)
	_, err := s.input.Write(data)
	s.fed.Add(1)
	return err == nil || errors.Is(err, io.ErrClosedPipe)
}

// probe sends empty messages while the command does not read its input. Nothing reads the connection then,
// and only a message that cannot be sent reveals that the client has left. It returns with the session.
func (s *execStream) probe(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for last := uint64(0); ; {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		now := s.fed.Load()
		waits := now%2 == 1 && now == last
		last = now
		if waits && s.send(&api.ExecOutput{}) != nil {
			s.stdin.CloseWithError(io.ErrUnexpectedEOF) // ends feed
			return
		}
	}
}

// exit sends the exit code, and closes the connection after the client has received everything. A
// connection that closes earlier discards output that is still on its way, if the client sends
// anything meanwhile.
func (s *execStream) exit(code int) {
	s.send(&api.ExecOutput{Stdout: &api.ExecIO{Close: true}})
	s.send(&api.ExecOutput{Stderr: &api.ExecIO{Close: true}})
	s.send(&api.ExecOutput{Exited: true, Result: &api.ExecResult{ExitCode: code}})
	ctx, cancel := context.WithTimeout(s.ctx, exitPatience)
	defer cancel()
	s.conn.Ping(ctx)
	s.conn.Close(websocket.StatusNormalClosure, "")
}

// send sends one message at a time.
func (s *execStream) send(o *api.ExecOutput) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return wsjson.Write(s.ctx, s.conn, o)
}

type frameWriter struct {
	to   *execStream
	wrap func([]byte) *api.ExecOutput
}

func (w frameWriter) Write(p []byte) (int, error) {
	if err := w.to.send(w.wrap(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
