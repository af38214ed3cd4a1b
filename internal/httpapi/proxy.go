// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/state"
)

// NewTransport returns a transport for requests to other agents, with TLS if a configuration
// is given. It keeps many connections per agent: the default of two makes a proxy four times
// slower. With HTTP/2, it notices within ten seconds that an agent is silent.
func NewTransport(c *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		DialContext:         dialer.DialContext,
		TLSClientConfig:     c,
		TLSHandshakeTimeout: 5 * time.Second,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 5 * time.Second, PingTimeout: 5 * time.Second},
		MaxIdleConns:        512,
		MaxIdleConnsPerHost: 128,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // what passes through stays as it is
	}
}

// proxyBuffers are the copy buffers of all proxies.
type proxyBuffers struct{ pool sync.Pool }

func (b *proxyBuffers) Get() []byte  { return *b.pool.Get().(*[]byte) }
func (b *proxyBuffers) Put(p []byte) { b.pool.Put(&p) }

var copyBuffers = &proxyBuffers{sync.Pool{New: func() any { p := make([]byte, 32<<10); return &p }}}

// newNodeProxy returns the proxy of requests about tasks to the agent that runs them.
func newNodeProxy(h *Handler) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:     h.toNodes,
		FlushInterval: -1,
		BufferPool:    copyBuffers,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.Host = targetOf(p.In.Context()).addr
			h.prepare(p.Out, toNode)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				panic(http.ErrAbortHandler)
			}
			h.Metrics.Failure()
			writeError(w, r, api.Errorf(api.CodeUnavailable, "the node at %s does not answer: %v", targetOf(r.Context()).addr, err))
		},
	}
}

// serveNode answers a route of /v1/client if this agent owns the node, and otherwise
// forwards it to the node's agent.
func serveNode(c *call) error {
	if c.Server == nil {
		return c.serveNodeWithoutServer()
	}
	node, forwarded, err := c.findNode()
	switch {
	case err != nil:
		return err
	case forwarded:
		return nil
	}
	defer c.guardCommand()()
	switch {
	case c.Node != nil && node.ID == c.NodeID():
		c.Node.ServeHTTP(c.w, c.r)
	default:
		if err := awayFrom(node); err != nil {
			return err
		}
		if err := c.checkHops(c.r); err != nil {
			return err
		}
		c.nodes.ServeHTTP(c.w, c.r.WithContext(context.WithValue(c.r.Context(), targetKey{}, nodeTarget{node.ID, node.HTTPAddr})))
	}
	return nil
}

// awayFrom says why a node's agent cannot be asked, nil if it can.
func awayFrom(n *api.Node) error {
	id := api.ShortID(n.ID)
	switch {
	case n.Status == api.NodeStatusDown:
		return api.Errorf(api.CodeUnavailable, "node %s (%s) is down: what it has can be read when its agent is back; see: reeve node status %s", id, n.Name, id)
	case n.HTTPAddr == "":
		return api.Errorf(api.CodeUnavailable, "node %s (%s) has no address, so nothing can be read from it: simulated nodes have none", id, n.Name)
	}
	return nil
}

// findNode returns the node that the request concerns, if the caller may use it. The node of an
// allocation never changes, so this server asks the leader only if it does not know the
// allocation: files and commands of tasks need no leader. It reports true if it forwarded the
// request instead.
func (c *call) findNode() (node *api.Node, forwarded bool, err error) {
	node, err = c.knownNode()
	if code := api.CodeOf(err); c.Leader == nil || code != api.CodeNotFound && code != api.CodeForbidden {
		return node, false, err
	}
	if forwarded, lost := c.awaitCurrent(c.patience); lost != nil || forwarded {
		return nil, forwarded, lost
	}
	node, err = c.knownNode()
	return node, false, err
}

// knownNode is findNode by the state of this server.
func (c *call) knownNode() (*api.Node, error) {
	if err := c.authorizeAllocation(); err != nil {
		return nil, err
	}
	node, err := c.nodeOf(c.Server.Store().Snapshot())
	if err != nil {
		return nil, err
	}
	return node, c.permitCommand()
}

// serveNodeWithoutServer answers on an agent without a server: requests that a server
// forwarded concern this node, and a server must route all others.
func (c *call) serveNodeWithoutServer() error {
	about := c.query.Get("node_id")
	local := isForNode(c.r.Header) || c.r.PathValue("alloc") == "" && (about == "" || about == c.NodeID())
	if local && c.Node != nil && callerOf(c.r).Kind != door.Bearer {
		c.Node.ServeHTTP(c.w, c.r)
		return nil
	}
	c.forward()
	return nil
}

// nodeOf returns the node that the request concerns, and completes a shortened allocation
// id in its path.
func (c *call) nodeOf(v *state.Snapshot) (*api.Node, error) {
	id := c.r.PathValue("alloc")
	if id == "" {
		about := c.query.Get("node_id")
		if about == "" {
			about = c.NodeID()
		}
		if about == "" {
			return nil, api.Errorf(api.CodeInvalid, "node_id: say which node: this agent is none")
		}
		return findNode(v, about)
	}
	a, err := findAllocation(v, id)
	if err != nil {
		return nil, err
	}
	if a.ID != id {
		c.completeID("alloc", a.ID)
	}
	node := v.Node(a.NodeID)
	if node == nil {
		return nil, api.Errorf(api.CodeNotFound, "node %s of allocation %s is no longer known", api.ShortID(a.NodeID), api.ShortID(a.ID))
	}
	return node, nil
}
