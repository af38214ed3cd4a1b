// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/reeve-run/reeve/api"
)

// Exec describes a command to run beside a task.
type Exec struct {
	Task    string
	Command []string
	TTY     bool
	Stdin   io.Reader // nil: empty. A read may be pending when Exec returns
	Stdout  io.Writer
	Stderr  io.Writer               // unused with TTY
	Resize  <-chan api.TerminalSize // of the TTY; may be nil
}

// execHeartbeat is the interval of heartbeats, which keep proxies from closing idle sessions.
const execHeartbeat = 10 * time.Second

// Exec runs a command in a task's environment and returns its exit code.
func (a Allocations) Exec(ctx context.Context, id string, e Exec) (int, error) {
	command, err := json.Marshal(e.Command)
	if err != nil {
		return 0, api.Errorf(api.CodeInvalid, "the command cannot be written as JSON: %v", err)
	}
	v := url.Values{"task": {e.Task}, "tty": {strconv.FormatBool(e.TTY)}, "command": {string(command)}}
	return a.c.session(ctx, pathf("/v1/client/allocation/%s/exec", id), v, e)
}

// session runs a command over a websocket and returns its exit code.
func (c *Client) session(ctx context.Context, path string, v url.Values, e Exec) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := c.dialSession(ctx, path, v)
	if err != nil {
		return 0, err
	}
	defer conn.CloseNow()
	input := make(chan api.ExecInput)
	if e.Stdin != nil {
		go readStdin(ctx, e.Stdin, input)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		sendInput(ctx, conn, e, input)
	}()
	code, err := receiveOutput(ctx, conn, e)
	cancel()
	<-sent
	return code, err
}

func (c *Client) dialSession(ctx context.Context, path string, v url.Values) (*websocket.Conn, error) {
	c.addDefaults(v)
	header := http.Header{}
	c.authorize(header)
	target := c.base.String() + path + "?" + v.Encode()
	for attempt := 1; ; attempt++ {
		conn, resp, err := websocket.Dial(ctx, target, &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
		switch {
		case err == nil:
			conn.SetReadLimit(1 << 20)
			return conn, nil
		case resp == nil || resp.StatusCode < 300:
			return nil, c.transportError(ctx, err)
		}
		err = c.responseError(resp)
		if !awaitTurn(ctx, resp, attempt) {
			return nil, err
		}
	}
}

// readStdin passes input on. A read cannot be interrupted, so it may outlive the session by
// one read.
func readStdin(ctx context.Context, r io.Reader, input chan<- api.ExecInput) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		in := api.ExecInput{Stdin: &api.ExecIO{Data: append([]byte(nil), buf[:n]...), Close: err != nil}}
		if n > 0 || err != nil {
			select {
			case input <- in:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// sendInput is the only writer of the connection.
func sendInput(ctx context.Context, conn *websocket.Conn, e Exec, input <-chan api.ExecInput) {
	heartbeat := time.NewTicker(execHeartbeat)
	defer heartbeat.Stop()
	if e.Stdin == nil && wsjson.Write(ctx, conn, api.ExecInput{Stdin: &api.ExecIO{Close: true}}) != nil {
		return
	}
	for {
		var in api.ExecInput
		select {
		case <-ctx.Done():
			return
		case in = <-input:
		case size, ok := <-e.Resize:
			if !ok {
				e.Resize = nil
				continue
			}
			in.TTYSize = &size
		case <-heartbeat.C:
		}
		if wsjson.Write(ctx, conn, in) != nil {
			return // the reader receives the reason
		}
	}
}

func receiveOutput(ctx context.Context, conn *websocket.Conn, e Exec) (int, error) {
	for {
		var out api.ExecOutput
		if err := wsjson.Read(ctx, conn, &out); err != nil {
			var closed websocket.CloseError
			switch {
			case ctx.Err() != nil:
				return 0, ctx.Err()
			case errors.As(err, &closed) && closed.Reason != "":
				return 0, api.Errorf(api.CodeInvalid, "%s", closed.Reason)
			}
			return 0, api.Errorf(api.CodeUnavailable, "the session broke before the command ended: %v", err)
		}
		if err := writeOutput(out.Stdout, e.Stdout); err != nil {
			return 0, err
		}
		if err := writeOutput(out.Stderr, e.Stderr); err != nil {
			return 0, err
		}
		if out.Exited && out.Result != nil {
			conn.Close(websocket.StatusNormalClosure, "")
			return out.Result.ExitCode, nil
		}
	}
}

func writeOutput(piece *api.ExecIO, w io.Writer) error {
	if piece == nil || len(piece.Data) == 0 || w == nil {
		return nil
	}
	_, err := w.Write(piece.Data)
	return err
}
