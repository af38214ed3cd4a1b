// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/server"
)

// nodeSecretHeader carries the proof that the caller is the node.
const nodeSecretHeader = "X-Reeve-Node-Secret"

// nodeAgentHeader says which agent it is that speaks for the node.
const nodeAgentHeader = "X-Reeve-Node-Agent"

// signOfLife is how often a quiet stream says that it lives.
const signOfLife = 10 * time.Second

func registerNode(c *call, req *api.RegisterNodeRequest) (*api.NodeHeartbeatResponse, uint64, error) {
	switch {
	case req.Node == nil:
		return nil, 0, api.Errorf(api.CodeInvalid, "Node: the request has none")
	case req.Node.ID != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Node.ID: the node is %q, but the path says %q", req.Node.ID, c.id())
	}
	if secret := c.r.Header.Get(nodeSecretHeader); secret != "" {
		req.Node.SecretID = secret
	}
	if err := c.Server.SpeakFor(req.Node.ID, req.Node.SecretID, c.r.Header.Get(nodeAgentHeader)); err != nil {
		return nil, 0, err
	}
	return heartbeatAnswer(c.Server.RegisterNode(c.r.Context(), req.Node))
}

func heartbeatNode(c *call, _ *none) (*api.NodeHeartbeatResponse, uint64, error) {
	secret := c.r.Header.Get(nodeSecretHeader)
	if err := c.Server.SpeakFor(c.id(), secret, c.r.Header.Get(nodeAgentHeader)); err != nil {
		return nil, 0, err
	}
	return heartbeatAnswer(c.Server.Heartbeat(c.r.Context(), c.id(), secret))
}

func heartbeatAnswer(resp *api.NodeHeartbeatResponse, err error) (*api.NodeHeartbeatResponse, uint64, error) {
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

// updateAllocations takes a node's report, as agents write it or as JSON.
func updateAllocations(c *call, req *api.UpdateAllocationsRequest) (*api.IndexResponse, uint64, error) {
	if c.encoded != nil {
		index, err := c.Server.ReportAllocations(c.r.Context(), c.id(), c.r.Header.Get(nodeSecretHeader), c.encoded)
		if err != nil {
			return nil, 0, err
		}
		return &api.IndexResponse{Index: index}, index, nil
	}
	index, err := c.Server.UpdateAllocations(c.r.Context(), c.id(), c.r.Header.Get(nodeSecretHeader), req.Allocations)
	if err != nil {
		return nil, 0, err
	}
	return &api.IndexResponse{Index: index}, index, nil
}

// streamAllocations holds a node's stream open: a frame per message for agents,
// a line of JSON for everybody else.
func streamAllocations(c *call) error {
	if !strings.Contains(c.r.Header.Get("Accept"), nodeproto.Media) {
		s := newStream(c, "application/x-ndjson")
		return s.hold("\n", func(m *server.NodeMessage) error { return s.send(m.API()) })
	}
	s := newStream(c, nodeproto.Media)
	return s.hold(string(nodeproto.SignOfLife), func(m *server.NodeMessage) (err error) {
		frame := frames.Get().(*[]byte)
		if *frame, err = m.AppendFrame((*frame)[:0]); err != nil {
			return err
		}
		err = s.write(*frame)
		if cap(*frame) <= keepBuffer {
			frames.Put(frame)
		}
		return err
	})
}

// frames are buffers of messages to nodes. Streams share them: each is quiet
// nearly all the time.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// hold sends the node's messages until the stream ends. One goroutine does, with
// the signs of life between them: there are thousands of such streams.
func (s *stream) hold(signOfLife string, send func(*server.NodeMessage) error) error {
	quiet := []byte(signOfLife)
	err := s.c.Server.NodeStream(s.c.r.Context(), s.c.id(), s.c.r.Header.Get(nodeSecretHeader), s.c.told(), func(m *server.NodeMessage) error {
		if m == nil {
			return s.write(quiet)
		}
		return send(m)
	})
	return s.end(err)
}

// stream writes an endless answer of JSON lines. Its header goes out with the
// first line, so that what fails before is an ordinary error.
type stream struct {
	c       *call
	control *http.ResponseController
	kind    string

	mu      sync.Mutex
	started bool
	err     error // of writing; the stream is over
}

func newStream(c *call, kind string) *stream {
	return &stream{c: c, control: http.NewResponseController(c.w), kind: kind}
}

// start sends the header.
func (s *stream) start() error { return s.write(nil) }

// send writes one line.
func (s *stream) send(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(append(line, '\n'))
}

// Write implements io.Writer. The first call, even of nothing, sends the header.
func (s *stream) Write(p []byte) (int, error) {
	if err := s.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *stream) write(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if !s.started {
		s.started = true
		h := s.c.w.Header()
		h.Set("Content-Type", s.kind)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
		s.c.w.WriteHeader(http.StatusOK)
	}
	// A reader that takes nothing for a minute is gone.
	s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, s.err = s.c.w.Write(line); s.err == nil {
		s.err = s.control.Flush()
	}
	return s.err
}

// keepAlive writes a line whenever ten seconds have passed, until the returned
// function is called; that waits for the last.
func (s *stream) keepAlive(line string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(signOfLife)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				if s.write([]byte(line)) != nil {
					return
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// end closes the stream. An error after the header can only be told by
// breaking the connection, so that nobody takes the end for a good one.
func (s *stream) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return err
	}
	if err != nil && s.c.r.Context().Err() == nil {
		s.c.Logger.Debug("stream broke", "path", s.c.r.URL.Path, "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
