// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/door"
)

// leaderPatience bounds the time without a leader that a request waits for.
const leaderPatience = 10 * time.Second

// notLeaderHeader marks an error of a server that does not lead and did nothing with the
// request, so that its sender may send it to another server. No other answer has it.
const notLeaderHeader = "X-Reeve-Not-Leader"

// errLeading is returned if this server became the leader while it forwarded a request.
var errLeading = errors.New("this server leads")

// errNotLeading wraps the error of a request with which no server did anything.
var errNotLeading = errors.New("no server did anything with the request")

// forwards reports whether this agent forwards a request to a server instead of answering it.
func (c *call) forwards() bool {
	switch {
	case c.route.Local:
		return false
	case c.Server == nil:
		return true
	case c.Leader == nil || c.leads():
		return false
	}
	return !c.route.AnyServer && !c.isStaleRead() && (c.route.Leads || !c.isRead())
}

// passOn forwards a request that another server must answer, and reports whether it did. Otherwise
// it returns once this server may answer the request.
func (c *call) passOn() (done bool, err error) {
	switch {
	case c.Server != nil && c.Server.WasRemoved() && (c.forwards() || c.isCurrentRead()):
		return false, c.errNoLeader()
	case c.forwards() && c.forward():
		return true, nil
	case !c.isCurrentRead():
		return false, nil
	}
	return c.awaitCurrent(c.patience)
}

// errNoLeader returns the error of a request that needs a leader while this server knows none.
func (h *Handler) errNoLeader() error {
	if h.Server != nil {
		if why, writable := h.Server.Degraded(); !writable {
			return api.Errorf(api.CodeUnavailable, "%s", why)
		}
	}
	return api.Errorf(api.CodeUnavailable, "the cluster has no leader: a majority of its servers must run and reach each other; see `reeve server list` on a server")
}

// forward forwards a request to a server. It reports false if this server must answer the
// request itself, because it leads now.
func (c *call) forward() (done bool) {
	if err := c.checkHops(c.r); err != nil {
		c.w.Header().Set(notLeaderHeader, c.self())
		writeError(c.w, c.r, err)
		return true
	}
	d := &delivery{Handler: c.Handler, body: newRecorder(c.r.Body, c.bodyLimit()), hasBody: c.r.Body != nil && c.r.ContentLength != 0, caller: callerOf(c.r)}
	if c.canRelay() {
		return c.relay(d)
	}
	if c.r.ProtoMajor == 2 { // closing a body of HTTP/1 waits for its reader
		d.unsent = c.r.Body
	}
	r := c.r.WithContext(context.WithValue(c.r.Context(), deliveryKey{}, d))
	r.Body = d.body.reader()
	c.forwarder.ServeHTTP(c.w, r)
	if d.kept {
		c.r.Body = d.body.reader()
	}
	return !d.kept
}

// bodyLimit returns the number of bytes of a body that are kept, for another attempt.
func (c *call) bodyLimit() int64 {
	if c.route.BodyLimit > 0 {
		return c.route.BodyLimit
	}
	return defaultBodyLimit
}

// deliveryKey is the context key of a forwarded request's delivery.
type deliveryKey struct{}

// A delivery is one forwarded request on its way to a server. It implements http.RoundTripper.
type delivery struct {
	*Handler
	body    *recorder
	hasBody bool
	caller  door.Caller
	kept    bool      // reports whether this server must answer itself
	relayed bool      // may use the connection for writes
	whole   []byte    // body of a relayed request
	unsent  io.Closer // body of a caller that may stop sending when it sees a refusal; nil: it does not
}

// newForwarder returns the proxy of requests to servers.
func newForwarder(h *Handler) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:     deliverer{},
		FlushInterval: -1,
		BufferPool:    copyBuffers,
		Rewrite: func(p *httputil.ProxyRequest) {
			d := p.In.Context().Value(deliveryKey{}).(*delivery)
			d.sign(p.Out)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			r.Context().Value(deliveryKey{}).(*delivery).fail(w, r, err)
		},
	}
}

// sign changes the headers of a request for a server.
func (d *delivery) sign(r *http.Request) {
	d.prepare(r, toServer)
	if _, scheme := d.outbound(); d.Server != nil && scheme == "https" { // the leader relies on the check of this server
		r.Header.Del("X-Nomad-Token")
		r.Header.Del("Authorization")
		r.Header.Set(door.CallerHeader, d.caller.Header())
	}
	if d.Server == nil && d.caller.Kind != door.Local { // the server must not take it for the node's own
		r.Header.Set(door.CallerHeader, d.caller.Header())
	}
}

// fail answers a request that could not be forwarded, unless this server must answer it.
func (d *delivery) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler)
	case errors.Is(err, errLeading):
		d.kept = true
		return
	case errors.Is(err, errNotLeading):
		w.Header().Set(notLeaderHeader, d.self())
	}
	var shown *api.Error
	if !errors.As(err, &shown) {
		d.Metrics.Failure()
		shown = api.Errorf(api.CodeUnavailable, "cannot forward the request to a server: %v", err)
	}
	writeError(w, r, shown)
}

// A deliverer sends a request by its delivery.
type deliverer struct{}

// RoundTrip implements http.RoundTripper.
func (deliverer) RoundTrip(r *http.Request) (*http.Response, error) {
	d := r.Context().Value(deliveryKey{}).(*delivery)
	send := d.toServers
	if d.Server != nil {
		send = d.toLeader
	}
	resp, err := send(r)
	if err == nil && resp.StatusCode >= 300 && d.unsent != nil {
		resp.Body = unreadBody{resp.Body, d.unsent}
	}
	return resp, err
}

// An unreadBody is the body of a response to a request whose own body the caller may not send: a
// client of HTTP/2 stops sending when it sees a refusal, and waits for the end of the response.
// Closing the response waits for the request's body. So the request's body ends first.
type unreadBody struct {
	io.ReadCloser
	request io.Closer
}

func (b unreadBody) Close() error {
	b.request.Close()
	return b.ReadCloser.Close()
}

// toLeader sends a request to the leader. It waits for a leader, and for another one if the
// first one fails and did not receive the request, or if a repetition is harmless.
func (d *delivery) toLeader(r *http.Request) (*http.Response, error) {
	since, pause := time.Now(), minLeaderPause
	last := d.errNoLeader()
	for {
		seen := d.leadership()
		if seen.here {
			return nil, errLeading
		}
		if addr := seen.addr; seen.known {
			began := time.Now()
			resp, sent, err := d.attemptLeader(r, addr)
			switch {
			case err == nil && resp.Header.Get(notLeaderHeader) == "":
				return resp, nil
			case err == nil:
				last = d.refusal(resp, addr)
			case sent && !isRepeatable(r):
				return nil, lostOnTheWay(addr, err)
			default:
				last = unreachable(addr, err)
				if sent && time.Since(began) > d.patience { // the leader was there, as for a blocking query
					since = time.Now()
				}
			}
		}
		if !d.canRepeat() || time.Since(since) > d.patience {
			return nil, errors.Join(errNotLeading, last)
		}
		if err := d.awaitOther(r.Context(), seen, pause); err != nil {
			return nil, err
		}
		pause = min(2*pause, maxLeaderPause)
	}
}

// toServers sends a request of an agent without a server to one of the servers: the next one
// if a server did not receive the request or does nothing with it, or if a repetition is
// harmless.
func (d *delivery) toServers(r *http.Request) (*http.Response, error) {
	servers := d.rank(d.Servers())
	if len(servers) == 0 {
		return nil, api.Errorf(api.CodeUnavailable, "this agent is no server and knows of none: name one with -servers, or with servers = [\"HOST:PORT\"] in client { }")
	}
	var last error
	for _, addr := range servers {
		resp, sent, err := d.attempt(r, addr)
		switch {
		case err == nil && resp.Header.Get(notLeaderHeader) == "":
			d.lastGood.Store(&addr)
			return resp, nil
		case err == nil:
			last = d.refusal(resp, addr)
		case sent && !isRepeatable(r):
			return nil, lostOnTheWay(addr, err)
		default:
			last = unreachable(addr, err)
		}
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
		if !d.canRepeat() {
			break
		}
	}
	return nil, errors.Join(errNotLeading, last)
}

// canRepeat reports whether the request can be sent once more.
func (d *delivery) canRepeat() bool { return !d.hasBody || d.body.canRepeat() }

// lastGood is the address of the server that answered last; nil before the first answer.
type lastGood = atomic.Pointer[string]
