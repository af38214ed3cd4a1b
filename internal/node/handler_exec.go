// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/runner"
)

// serveExec runs a command beside a task. Its streams travel as JSON frames over a websocket.
// The websocket and the command end together.
func (n *Node) serveExec(w http.ResponseWriter, r *http.Request) error {
	run, err := n.runner(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	if r.FormValue(api.ParamIsolated) == "true" {
		if err := run.CheckIsolated(r.FormValue("task")); err != nil {
			return err
		}
	}
	argv, err := commandOf(r, run)
	if err != nil {
		return err
	}
	tty, err := flag(r, "tty")
	if err != nil {
		return err
	}
	leave, err := n.sessions.enter(r.PathValue("alloc"))
	if err != nil {
		return err
	}
	defer leave()
	// Requests from pages of other sites are rejected before they arrive here.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // Accept has written the response
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxExecMessage)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	stop := context.AfterFunc(n.host.Context, cancel)
	defer stop()

	s := newExecStream(ctx, conn)
	var helpers sync.WaitGroup
	helpers.Go(func() { s.probe(cmp.Or(n.sessions.probe, probeInterval)) })
	helpers.Go(func() {
		defer cancel() // a client that cannot be reached waits for no answer
		s.receive()
	})
	code, err := run.Exec(ctx, r.FormValue("task"), driver.Exec{
		Argv: argv, TTY: tty, Stdin: s.stdin, Resize: s.sizes,
		Stdout: frameWriter{s, func(d []byte) *api.ExecOutput { return &api.ExecOutput{Stdout: &api.ExecIO{Data: d}} }},
		Stderr: frameWriter{s, func(d []byte) *api.ExecOutput { return &api.ExecOutput{Stderr: &api.ExecIO{Data: d}} }},
	})
	s.stdin.CloseWithError(io.ErrClosedPipe)
	if err != nil {
		conn.Close(websocket.StatusInternalError, reason(err))
	} else {
		s.exit(code)
	}
	cancel()
	helpers.Wait()
	return nil
}

// commandOf returns the command of a request: its own, or that of the task's action which it names.
func commandOf(r *http.Request, run *runner.Runner) (argv []string, err error) {
	if action := r.FormValue("action"); action != "" {
		return run.Action(r.FormValue("task"), action)
	}
	if err := json.Unmarshal([]byte(r.FormValue("command")), &argv); err != nil || len(argv) == 0 {
		return nil, api.Errorf(api.CodeInvalid, "command must be a JSON list of at least one string")
	}
	return argv, nil
}

// reason returns an error's text, cut to fit into a websocket's close frame.
func reason(err error) string {
	s := err.Error()
	if len(s) > 120 {
		s = s[:117] + "..."
	}
	return s
}
