// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// serveExec runs a command beside a task. Its streams travel as JSON frames over a websocket.
// The websocket and the command end together.
func (n *Node) serveExec(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	var argv []string
	if err := json.Unmarshal([]byte(r.FormValue("command")), &argv); err != nil || len(argv) == 0 {
		return api.Errorf(api.CodeInvalid, "command must be a JSON list of at least one string")
	}
	tty, err := flag(r, "tty")
	if err != nil {
		return err
	}
	// Requests from pages of other sites are rejected before they arrive here.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // Accept has written the response
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(n.host.Context, cancel)
	defer stop()

	stdin, input := io.Pipe()
	sizes := make(chan driver.Size, 1)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer cancel() // a client that cannot be reached waits for no answer
		receiveInput(ctx, conn, input, sizes)
	})
	out := &frames{ctx: ctx, conn: conn}
	code, err := run.Exec(ctx, r.FormValue("task"), driver.Exec{
		Argv: argv, TTY: tty, Stdin: stdin, Resize: sizes,
		Stdout: frameWriter{out, func(d []byte) *api.ExecOutput { return &api.ExecOutput{Stdout: &api.ExecIO{Data: d}} }},
		Stderr: frameWriter{out, func(d []byte) *api.ExecOutput { return &api.ExecOutput{Stderr: &api.ExecIO{Data: d}} }},
	})
	stdin.CloseWithError(io.ErrClosedPipe)
	if err != nil {
		conn.Close(websocket.StatusInternalError, reason(err))
	} else {
		out.send(&api.ExecOutput{Stdout: &api.ExecIO{Close: true}})
		out.send(&api.ExecOutput{Stderr: &api.ExecIO{Close: true}})
		out.send(&api.ExecOutput{Exited: true, Result: &api.ExecResult{ExitCode: code}})
		conn.Close(websocket.StatusNormalClosure, "")
	}
	cancel()
	reading.Wait()
	return nil
}

// reason returns an error's text, cut to fit into a websocket's close frame.
func reason(err error) string {
	s := err.Error()
	if len(s) > 120 {
		s = s[:117] + "..."
	}
	return s
}

// receiveInput reads the client's frames until the stream ends.
func receiveInput(ctx context.Context, conn *websocket.Conn, stdin *io.PipeWriter, sizes chan driver.Size) {
	defer stdin.Close()
	for {
		var in api.ExecInput
		if err := wsjson.Read(ctx, conn, &in); err != nil {
			return
		}
		if s := in.TTYSize; s != nil {
			select {
			case <-sizes: // replace the size that was not read yet
			default:
			}
			sizes <- driver.Size{Rows: s.Height, Cols: s.Width}
		}
		if s := in.Stdin; s != nil {
			if len(s.Data) > 0 {
				if _, err := stdin.Write(s.Data); err != nil && !errors.Is(err, io.ErrClosedPipe) {
					return
				}
			}
			if s.Close {
				stdin.Close()
			}
		}
	}
}

// frames sends one frame at a time.
type frames struct {
	ctx  context.Context
	conn *websocket.Conn
	mu   sync.Mutex
}

func (f *frames) send(o *api.ExecOutput) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return wsjson.Write(f.ctx, f.conn, o)
}

type frameWriter struct {
	to   *frames
	wrap func([]byte) *api.ExecOutput
}

func (w frameWriter) Write(p []byte) (int, error) {
	if err := w.to.send(w.wrap(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
