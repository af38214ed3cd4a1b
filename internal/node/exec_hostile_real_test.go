// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed/wait"
)

// session opens a session without the client, which sends only what is right.
func (r *real) session(t *testing.T, tty string, argv ...string) *websocket.Conn {
	t.Helper()
	command, err := json.Marshal(argv)
	if err != nil {
		t.Fatal(err)
	}
	query := url.Values{"task": {"t"}, "tty": {tty}, "command": {string(command)}}
	conn, _, err := websocket.Dial(t.Context(), r.address+"/v1/client/allocation/one/exec?"+query.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { conn.CloseNow() })
	return conn
}

// sleeping runs the task t of the allocation one.
func (r *real) sleeping(t *testing.T) {
	t.Helper()
	r.place(t, jobOf("service", shell("t", `echo up; exec sleep 600`)), "one")
	r.awaitTask(t)
}

// awaitTask waits until the agent knows that the task t of the allocation one runs.
func (r *real) awaitTask(t *testing.T) {
	t.Helper()
	run, err := r.runner("one")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the task runs", func() bool { return len(run.Stats(t.Context())) > 0 && strings.Contains(r.logs(t, "one", "t"), "up") })
}

// result reads a session to its end.
func result(t *testing.T, conn *websocket.Conn) (stdout string, code int) {
	t.Helper()
	var text bytes.Buffer
	for {
		var out api.ExecOutput
		if err := wsjson.Read(t.Context(), conn, &out); err != nil {
			t.Fatalf("the session broke after %.200q: %v", text.String(), err)
		}
		if out.Stdout != nil {
			text.Write(out.Stdout.Data)
		}
		if out.Exited {
			return text.String(), out.Result.ExitCode
		}
	}
}

func send(t *testing.T, conn *websocket.Conn, message string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

func TestRealSessionsSurviveHarmlessNonsense(t *testing.T) {
	r := runReal(t)
	r.sleeping(t)
	conn := r.session(t, "false", "cat")
	for _, message := range []string{
		`{}`, `null`, `{"tty_size":{"height":0,"width":0}}`, `{"tty_size":{"height":-1,"width":-1}}`, `{"tty_size":{"height":1000000000,"width":1000000000}}`,
		`{"stdin":{}}`, `{"stdin":null,"tty_size":null,"other":[[[]]]}`, `{"stdin":{"data":""}}`, `{"stdin":{"data":"aGk="}}`, `{"stdin":{"close":true}}`,
		`{"stdin":{"data":"bGF0ZQ=="}}`, `{"stdin":{"data":"bGF0ZQ==","close":true}}`, `{"stdin":{"close":true}}`,
	} {
		send(t, conn, message)
	}
	text, code := result(t, conn)
	want(t, "output and exit code", []any{"hi", 0}, []any{text, code})

	conn = r.session(t, "true", "/bin/sh", "-c", `read line; stty size; read line; stty size; exit 9`)
	for _, size := range []string{`{"height":0,"width":9}`, `{"height":30,"width":90}`, `{"height":-4,"width":5}`, `{"height":70000,"width":5}`} {
		send(t, conn, `{"tty_size":`+size+`}`)
	}
	send(t, conn, `{"stdin":{"data":"Cg=="}}`)
	var out api.ExecOutput
	var shown strings.Builder
	for !strings.Contains(shown.String(), "30 90") {
		if err := wsjson.Read(t.Context(), conn, &out); err != nil || out.Exited {
			t.Fatalf("the terminal has another size than the last valid one: %q, %v", shown.String(), err)
		}
		if out.Stdout != nil {
			shown.Write(out.Stdout.Data)
		}
	}
	send(t, conn, `{"tty_size":{"height":24,"width":80}}`)
	send(t, conn, `{"stdin":{"data":"Cg=="}}`)
	text, code = result(t, conn)
	if !strings.Contains(text, "24 80") || code != 9 {
		t.Errorf("after a change of the size: %q and exit %d, want 24 80 and exit 9", text, code)
	}
}

func TestRealSessionsEndWithJunk(t *testing.T) {
	r := runReal(t)
	r.sleeping(t)
	for what, message := range map[string]string{
		"no JSON": "cat", "a list": "[]", "a number that is too large": `{"tty_size":{"height":1e400}}`, "no base64": `{"stdin":{"data":"%"}}`,
		"deep": strings.Repeat(`{"stdin":`, 20_000), "a message that is too large": `{"stdin":{"data":"` + strings.Repeat("A", 2<<20) + `"}}`,
	} {
		conn := r.session(t, "false", "/bin/sh", "-c", `echo up; cat; sleep 600`)
		if _, _, err := conn.Read(t.Context()); err != nil {
			t.Fatalf("%s: the command does not run: %v", what, err)
		}
		conn.Write(t.Context(), websocket.MessageText, []byte(message)) // the connection may end before all of it is sent
		for {
			if _, _, err := conn.Read(t.Context()); err != nil {
				break
			}
		}
		eventually(t, what+": the session's place is free", func() bool { return r.open() == 0 })
	}
}

// cat returns a file of the allocation; "" if it does not exist.
func (r *real) cat(t *testing.T, path string) string {
	t.Helper()
	body, err := r.client.FS().Cat(t.Context(), "one", path)
	if err != nil {
		return ""
	}
	defer body.Close()
	data, _ := io.ReadAll(body)
	return string(data)
}

// open returns the number of sessions.
func (r *real) open() int {
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	return r.sessions.all
}

// TestRealAClientThatLeavesEndsItsCommand leaves while the command does not read its input, so that
// nothing reads the connection.
func TestRealAClientThatLeavesEndsItsCommand(t *testing.T) {
	r := runReal(t)
	r.sessions.probe = 20 * time.Millisecond
	r.sleeping(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		_, err := r.client.Allocations().Exec(ctx, "one", client.Exec{
			Task: "t", Command: []string{"/bin/sh", "-c", "echo started; exec sleep 600"}, Stdin: zeros{}, Stdout: closer{started},
		})
		ended <- err
	}()
	<-started
	cancel()
	<-ended
	wait.Until(t, "the session ends", func() bool { return r.open() == 0 })
}

// zeros is input without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// closer closes a channel when it receives the first output.
type closer struct{ done chan struct{} }

func (c closer) Write(p []byte) (int, error) {
	select {
	case <-c.done:
	default:
		close(c.done)
	}
	return len(p), nil
}

// TestRealASlowReaderLosesNothing reads a large output slowly, and sends input meanwhile: neither
// output nor exit code is lost, and the node's agent does not keep the output in memory.
func TestRealASlowReaderLosesNothing(t *testing.T) {
	r := runReal(t)
	r.sleeping(t)
	const size = 24 << 20
	conn := r.session(t, "false", "/bin/sh", "-c", `head -c 25165824 /dev/zero; echo done > $NOMAD_ALLOC_DIR/done; exit 5`)
	total := 0
	for {
		var out api.ExecOutput
		if err := wsjson.Read(t.Context(), conn, &out); err != nil {
			t.Fatalf("after %d bytes: %v", total, err)
		}
		if out.Stdout != nil {
			if total < 1<<20 && r.cat(t, "alloc/done") != "" {
				t.Fatal("the command wrote everything although nothing was read")
			}
			total += len(out.Stdout.Data)
		}
		send(t, conn, `{}`)
		if out.Exited {
			want(t, "exit code and bytes", []int{5, size}, []int{out.Result.ExitCode, total})
			break
		}
	}
}

func TestSessionsAreBounded(t *testing.T) {
	var s execSessions
	var leave []func()
	for i := range maxAllocSessions {
		l, err := s.enter("one")
		if err != nil {
			t.Fatalf("session %d: %v", i, err)
		}
		leave = append(leave, l)
	}
	if _, err := s.enter("one"); api.CodeOf(err) != api.CodeUnavailable || !strings.Contains(err.Error(), "end some") {
		t.Errorf("more sessions than an allocation may have: %v", err)
	}
	for i := maxAllocSessions; i < maxSessions; i++ {
		l, err := s.enter("other" + string(rune('a'+i/maxAllocSessions)))
		if err != nil {
			t.Fatalf("session %d: %v", i, err)
		}
		leave = append(leave, l)
	}
	if _, err := s.enter("new"); api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("more sessions than a node may have: %v", err)
	}
	for _, l := range leave {
		l()
	}
	if s.all != 0 || len(s.alloc) != 0 {
		t.Errorf("after the end of all: %d sessions of %d allocations", s.all, len(s.alloc))
	}
}
