// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package nodelink

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/nodeproto"
)

var (
	// ErrUnlinked means that the agent has no connection to a server.
	ErrUnlinked = errors.New("the agent has no connection to a server")
	// ErrUnsupported means that no server was found that knows this protocol: all that answer run
	// an earlier version.
	ErrUnsupported = errors.New("the servers do not support connections of agents")
)

const (
	dialTimeout = 3 * time.Second
	// greetTimeout bounds the wait for a server's first message. An election may last that long.
	greetTimeout = 5 * time.Second
	// maxSilence is the time after which a server that sends nothing counts as lost. It
	// acknowledges heartbeats much more often.
	maxSilence = 30 * time.Second
	// maxFromServer is the size of the largest message of a server, in bytes.
	maxFromServer = 1 << 30
)

// A Client is an agent's side. It keeps one connection at a time.
type Client struct {
	// Dial connects to a server. It returns an error that wraps ErrUnsupported if the server does
	// not know the protocol.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Servers returns the addresses of the servers, best first.
	Servers func() []string
	Agent   string               // mark that tells two agents of one node apart
	Linked  func(address string) // called when a server has accepted the node; may be nil

	session uint64

	mu      sync.Mutex
	current *session             // nil without a connection
	failed  map[string]time.Time // servers whose connection failed
	number  uint64               // of the last report
}

// NewClient returns a client without a connection.
func NewClient(dial func(context.Context, string) (net.Conn, error), servers func() []string, agent string) *Client {
	return &Client{Dial: dial, Servers: servers, Agent: agent, session: rand.Uint64(), failed: map[string]time.Time{}}
}

// Stream connects to a server, and calls receive with every message for the node until ctx ends,
// receive fails or the connection breaks. told is the position of the last message that the node
// received. Heartbeats and reports use the connection meanwhile.
func (c *Client) Stream(ctx context.Context, nodeID string, told api.Position, receive func(*api.NodeAllocations) error) error {
	s, err := c.connect(ctx, nodeID, told)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { s.raw.Close() })()
	c.mu.Lock()
	c.current = s
	c.mu.Unlock()
	if c.Linked != nil {
		c.Linked(s.address)
	}
	watching, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.returnToPreferred(watching, s, nodeID, told)
	}()
	err = s.read(receive)
	cancel()
	<-watched
	c.mu.Lock()
	c.current = nil
	if ctx.Err() == nil && s.failure() != errReturns {
		c.failed[s.address] = time.Now()
	}
	c.mu.Unlock()
	s.close(err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// connect greets the servers, one after the other, until one accepts the node.
func (c *Client) connect(ctx context.Context, nodeID string, told api.Position) (*session, error) {
	var errs []error
	unsupported := false
	for _, address := range c.rank(c.Servers()) {
		s, err := c.greet(ctx, address, nodeID, told)
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if code := api.CodeOf(err); code == api.CodeNotFound || code == api.CodeConflict || code == api.CodeForbidden {
			return nil, err // of the leader: other servers would say the same
		}
		unsupported = unsupported || errors.Is(err, ErrUnsupported)
		c.mu.Lock()
		c.failed[address] = time.Now()
		c.mu.Unlock()
		errs = append(errs, fmt.Errorf("%s: %w", address, err))
	}
	if unsupported {
		return nil, ErrUnsupported
	}
	if len(errs) == 0 {
		return nil, api.Errorf(api.CodeUnavailable, "no server is known")
	}
	return nil, api.Errorf(api.CodeUnavailable, "no server accepts the node: %v", errors.Join(errs...))
}

// rank moves servers that failed to the end, the one that failed first before the others.
func (c *Client) rank(servers []string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return rank(servers, c.failed)
}

// greet connects to a server, and returns when it accepts the node.
func (c *Client) greet(ctx context.Context, address, nodeID string, told api.Position) (_ *session, err error) {
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	raw, err := c.Dial(dialing, address)
	cancel()
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { raw.Close() })()
	defer func() {
		if err != nil {
			raw.Close()
		}
	}()
	s := newSession(raw, address)
	raw.SetDeadline(time.Now().Add(greetTimeout))
	err = s.send(&nodeproto.FromNode{Hello: &nodeproto.Hello{Node: nodeproto.PackID(nodeID), Agent: c.Agent, Timeline: told.Timeline, Index: told.Index}})
	if err != nil {
		return nil, err
	}
	var m nodeproto.ToNode
	if err := s.reader.Next(&m); err != nil {
		return nil, fmt.Errorf("the server does not accept the node: %w", err)
	}
	if m.Failure != nil {
		return nil, m.Failure.AsError()
	}
	if m.Welcome == nil {
		return nil, errors.New("its first message is no welcome")
	}
	s.ttl = time.Duration(m.Welcome.TtlMs) * time.Millisecond
	raw.SetDeadline(time.Time{})
	return s, nil
}

// link returns the connection; nil without one.
func (c *Client) link() *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// Heartbeat returns when the leader knows that the node is alive. If that lasts until ctx ends, the
// client closes the connection, and another server gets its turn.
func (c *Client) Heartbeat(ctx context.Context) (*api.NodeHeartbeatResponse, error) {
	s := c.link()
	if s == nil {
		return nil, ErrUnlinked
	}
	if err := s.beat(ctx); err != nil {
		if ctx.Err() != nil {
			s.close(err)
		}
		return nil, err
	}
	return &api.NodeHeartbeatResponse{HeartbeatTTL: s.ttl}, nil
}

// Report sends a report (see nodeproto.EncodeReport), and returns the index at which it is
// durable.
func (c *Client) Report(ctx context.Context, content []byte) (uint64, error) {
	s := c.link()
	if s == nil {
		return 0, ErrUnlinked
	}
	c.mu.Lock()
	c.number++
	number := c.number
	c.mu.Unlock()
	return s.report(ctx, &nodeproto.Report{Number: number, Session: c.session, Content: content})
}

// Server returns the address of the server that the agent is connected to; "" for none.
func (c *Client) Server() string {
	if s := c.link(); s != nil {
		return s.address
	}
	return ""
}
