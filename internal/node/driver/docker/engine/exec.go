// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
)

// A Command is run in a container.
type Command struct {
	Cmd          []string
	Env          []string
	Tty          bool
	AttachStdin  bool
	AttachStdout bool
	AttachStderr bool
}

// A Session is a command that runs. Its connection carries the input and the output.
type Session struct {
	ID   string
	conn net.Conn
	out  *bufio.Reader
	tty  bool
	c    *Client
}

// Exec starts a command in a container.
func (c *Client) Exec(ctx context.Context, container string, command Command) (*Session, error) {
	var made struct {
		ID string `json:"Id"`
	}
	if err := c.call(ctx, http.MethodPost, "/containers/"+container+"/exec", nil, command, &made); err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	body, err := json.Marshal(map[string]bool{"Tty": command.Tty})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://docker/exec/"+made.ID+"/start", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Connection": {"Upgrade"}, "Upgrade": {"tcp"}}
	s := &Session{ID: made.ID, conn: conn, out: bufio.NewReader(conn), tty: command.Tty, c: c}
	if err := r.Write(conn); err != nil {
		conn.Close()
		return nil, c.broken(ctx, err)
	}
	answer, err := http.ReadResponse(s.out, r)
	if err != nil {
		conn.Close()
		return nil, c.broken(ctx, err)
	}
	if answer.StatusCode >= 400 {
		defer conn.Close()
		return nil, readError(answer)
	}
	return s, nil
}

// Write sends input.
func (s *Session) Write(b []byte) (int, error) { return s.conn.Write(b) }

// CloseWrite ends the input.
func (s *Session) CloseWrite() error {
	if half, ok := s.conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.New("the connection has no ends of its own")
}

// Close ends the connection. The command may continue.
func (s *Session) Close() error { return s.conn.Close() }

// Copy copies the output until the command has ended.
func (s *Session) Copy(stdout, stderr io.Writer) error {
	if s.tty {
		_, err := io.Copy(stdout, s.out)
		return err
	}
	for {
		stream, text, err := readFrame(s.out)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		w := stdout
		if stream == 2 {
			w = stderr
		}
		if w == nil {
			continue
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
}

// Resize sets the size of the command's terminal.
func (s *Session) Resize(ctx context.Context, rows, cols int) error {
	return s.c.call(ctx, http.MethodPost, "/exec/"+s.ID+"/resize", url.Values{"h": {strconv.Itoa(rows)}, "w": {strconv.Itoa(cols)}}, nil, nil)
}

// ExitCode returns the exit code of the command, which has ended.
func (s *Session) ExitCode(ctx context.Context) (int, error) {
	var state struct {
		Running  bool
		ExitCode *int
	}
	if err := s.c.call(ctx, http.MethodGet, "/exec/"+s.ID+"/json", nil, nil, &state); err != nil {
		return 0, err
	}
	if state.Running || state.ExitCode == nil {
		return 0, errors.New("the command's connection ended before the command")
	}
	return *state.ExitCode, nil
}
