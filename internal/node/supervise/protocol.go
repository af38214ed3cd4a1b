// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/reeve-run/reeve/internal/node/driver"
)

// protocolVersion increases when an older peer would misunderstand a newer one. The verbs
// hello and upgrade, and the frame itself, never change: with them, any agent can replace
// any supervisor with its own version.
const protocolVersion = 1

// maxFrame bounds a message, in bytes; the largest is a start with its environment.
const maxFrame = 8 << 20

// Verbs of the protocol.
const (
	verbHello    = "hello"    // the first request
	verbUpgrade  = "upgrade"  // replace the supervisor with this executable
	verbWatch    = "watch"    // all tasks, then every exit
	verbStart    = "start"    // Spec -> Status
	verbStatus   = "status"   // id -> Status
	verbSignal   = "signal"   // to the main process
	verbStop     = "stop"     // returns when nothing of the task runs
	verbDestroy  = "destroy"  // forget an ended task
	verbExec     = "exec"     // uses the whole connection; see session.go
	verbShutdown = "shutdown" // stop all tasks and end
)

// A frame is a message in either direction: four bytes of length, big endian, then this
// struct as JSON. ID matches an answer to its request; events have no ID.
type frame struct {
	ID    uint64          `json:",omitempty"`
	Verb  string          `json:",omitempty"`
	Body  json.RawMessage `json:",omitempty"`
	Error *wireError      `json:",omitempty"`
}

// A wireError carries the errors that callers distinguish.
type wireError struct {
	Kind    string `json:",omitempty"` // one of the kinds, or empty
	Message string
}

const (
	kindUnknown = "unknown" // driver.ErrTaskUnknown
	kindLost    = "lost"    // driver.ErrTaskLost
	kindEnded   = "ended"   // ErrTaskEnded
)

// ErrTaskEnded is returned for requests that need a running task.
var ErrTaskEnded = errors.New("the task has ended")

var errorKinds = []struct {
	kind string
	err  error
}{
	{kindUnknown, driver.ErrTaskUnknown},
	{kindLost, driver.ErrTaskLost},
	{kindEnded, ErrTaskEnded},
}

func toWire(err error) *wireError {
	for _, k := range errorKinds {
		if errors.Is(err, k.err) {
			return &wireError{Kind: k.kind, Message: err.Error()}
		}
	}
	return &wireError{Message: err.Error()}
}

func (e *wireError) err() error {
	for _, k := range errorKinds {
		if e.Kind == k.kind {
			return k.err
		}
	}
	return errors.New(e.Message)
}

type helloRequest struct {
	Protocol int
	Version  string
}

type helloResponse struct {
	Protocol int
	Version  string
	PID      int
	Instance string // changes with the supervisor's process, not with an upgrade
	Machine  Machine
}

type upgradeRequest struct{ Exe string }

type watchResponse struct{ Tasks []Status }

type startRequest struct {
	Spec  Spec
	Again bool // repeats a request whose answer was lost: the task may exist
}

type taskRequest struct {
	ID      string
	Signal  int           `json:",omitempty"`
	Timeout time.Duration `json:",omitempty"`
}

type shutdownRequest struct{ Timeout time.Duration }

// errTooLarge is wrapped in the error of a message of which nothing was sent.
var errTooLarge = errors.New("put large values into a file of the task, such as a template, instead of its environment and arguments")

func writeFrame(w io.Writer, f *frame) error {
	body, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if len(body) > maxFrame {
		return fmt.Errorf("a request of %d bytes to the supervisor is over the limit of %d: %w", len(body), maxFrame, errTooLarge)
	}
	buf := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(buf, uint32(len(body)))
	_, err = w.Write(append(buf, body...))
	return err
}

func readFrame(r io.Reader) (*frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("a message of %d bytes is over the limit of %d", n, maxFrame)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	f := new(frame)
	if err := json.Unmarshal(body, f); err != nil {
		return nil, fmt.Errorf("read a message: %w", err)
	}
	return f, nil
}

func encodeBody(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // all bodies are plain structs of this package
	}
	return b
}
