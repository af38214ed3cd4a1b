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
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/nodeproto"
	"github.com/reeve-run/reeve/internal/server"
)

// nodeAgentHeader carries the id of the agent that represents the node.
const nodeAgentHeader = "X-Reeve-Node-Agent"

// signOfLife is the interval of keepalives on an idle stream.
const signOfLife = 10 * time.Second

func registerNode(c *call, req *api.RegisterNodeRequest) (*api.NodeHeartbeatResponse, uint64, error) {
	switch {
	case req.Node == nil:
		return nil, 0, api.Errorf(api.CodeInvalid, "Node: the request has none")
	case req.Node.ID != c.id():
		return nil, 0, api.Errorf(api.CodeInvalid, "Node.ID: the node is %q, but the path says %q", req.Node.ID, c.id())
	}
	if err := c.Server.SpeakFor(req.Node.ID, c.r.Header.Get(nodeAgentHeader)); err != nil {
		return nil, 0, err
	}
	return heartbeatAnswer(c.Server.RegisterNode(c.r.Context(), req.Node))
}

func heartbeatNode(c *call, _ *none) (*api.NodeHeartbeatResponse, uint64, error) {
	if err := c.Server.SpeakFor(c.id(), c.r.Header.Get(nodeAgentHeader)); err != nil {
		return nil, 0, err
	}
	return heartbeatAnswer(c.Server.Heartbeat(c.r.Context(), c.id()))
}

func heartbeatAnswer(resp *api.NodeHeartbeatResponse, err error) (*api.NodeHeartbeatResponse, uint64, error) {
	if err != nil {
		return nil, 0, err
	}
	return resp, resp.Index, nil
}

// updateAllocations accepts a node's report, in the format of agents or as JSON.
func updateAllocations(c *call, req *api.UpdateAllocationsRequest) (*api.IndexResponse, uint64, error) {
	if c.encoded != nil {
		index, err := c.Server.ReportAllocations(c.r.Context(), c.id(), c.encoded)
		if err != nil {
			return nil, 0, err
		}
		return &api.IndexResponse{Index: index}, index, nil
	}
	index, err := c.Server.UpdateAllocations(c.r.Context(), c.id(), req.Allocations)
	if err != nil {
		return nil, 0, err
	}
	return &api.IndexResponse{Index: index}, index, nil
}

// reportTraffic accepts the counters of a router. A node reports only for itself.
func reportTraffic(c *call, req *api.TrafficReport) (*api.TrafficResponse, uint64, error) {
	if who := callerOf(c.r); who.Kind == door.Node && req.Node != "" && req.Node != who.ID {
		return nil, 0, c.forbidden("a node may report only for itself, not for node %.64q", req.Node)
	}
	res, err := c.Server.TakeTraffic(req)
	return res, 0, err
}

// streamAllocations keeps a node's stream open: a frame per message for agents, a line of
// JSON for other clients.
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

// frames pools the buffers of messages to nodes, because each stream is idle most of the
// time.
var frames = sync.Pool{New: func() any { return new([]byte) }}

// hold sends the node's messages and keepalives until the stream ends. It uses a single
// goroutine, because a server holds thousands of such streams.
func (s *stream) hold(signOfLife string, send func(*server.NodeMessage) error) error {
	quiet := []byte(signOfLife)
	err := s.c.Server.NodeStream(s.c.r.Context(), s.c.id(), s.c.told(), func(m *server.NodeMessage) error {
		if m == nil {
			return s.write(quiet)
		}
		return send(m)
	})
	return s.end(err)
}

// stream writes an endless answer of JSON lines. It sends the header with the first line,
// so that an earlier failure is an ordinary error.
type stream struct {
	c       *call
	control *http.ResponseController
	kind    string
	may     bool // reports whether it may be compressed

	mu      sync.Mutex
	z       *gzipPieces // nil: not compressed
	started bool
	checked time.Time // when the server was last known to follow a leader
	err     error     // of writing; the stream is over
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
		if s.may {
			h.Set("Vary", "Accept-Encoding")
			if acceptsGzip(s.c.r) {
				h.Set("Content-Encoding", "gzip")
				s.z = &gzipPieces{}
			}
		}
		s.c.w.WriteHeader(http.StatusOK)
	}
	now := time.Now()
	if now.Sub(s.checked) > signOfLife/2 {
		s.checked = now
		if s.err = s.c.checkContact(); s.err != nil {
			return s.err
		}
	}
	// A client that receives nothing for a minute is disconnected.
	s.control.SetWriteDeadline(now.Add(writeTimeout))
	if s.z != nil {
		s.err = s.z.write(s.c.w, line)
	} else {
		_, s.err = s.c.w.Write(line)
	}
	if s.err == nil {
		s.err = s.control.Flush()
	}
	return s.err
}

// keepAlive writes a line every ten seconds until the caller calls stop, which waits for
// the last write.
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

// end closes the stream. After the header, it reports an error by breaking the
// connection, so that the client does not mistake it for a regular end.
func (s *stream) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		return err
	}
	if s.z != nil {
		s.z.release()
	}
	if err != nil && s.c.r.Context().Err() == nil {
		s.c.Logger.Debug("the stream ended", "path", s.c.r.URL.Path, "error", err)
		panic(http.ErrAbortHandler)
	}
	if s.z != nil && s.err == nil {
		s.err = s.z.end(s.c.w)
	}
	return nil
}
