// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/auditlog"
	"github.com/reeve-run/reeve/internal/coalesce"
	"github.com/reeve-run/reeve/internal/door"
	"github.com/reeve-run/reeve/internal/eventstream"
	"github.com/reeve-run/reeve/internal/limit"
	"github.com/reeve-run/reeve/internal/metrics"
	"github.com/reeve-run/reeve/internal/relay"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/state"
)

// Config holds the parts of a process that the API serves.
type Config struct {
	Server  *server.Server  // this process's server; nil to forward requests to Servers
	Servers func() []string // addresses (host:port) of servers, best first
	// SetServers replaces Servers if each address proves to be a server; nil if the agent is a
	// server, or in no cluster.
	SetServers func(ctx context.Context, addresses []string) error

	Node   http.Handler             // this process's node agent, which serves /v1/client/..., or nil
	NodeID func() string            // id of Node
	Router func() *api.RouterStatus // response of /v1/agent/router; nil without a router
	Logger *slog.Logger             // nil discards the log

	Region     string // "global" when empty
	Datacenter string // "dc1" when empty
	Name       string // of this agent
	Version    string

	Warning func() string // trouble of this agent that does not make it unhealthy yet; nil: none

	Door        *door.Door // identifies callers; nil: every caller is a local user
	ServerToken string     // for requests that are passed on to a server without TLS; "": none

	// Transport returns the transport for requests to servers, by TLS with this member's
	// certificate (see NewTransport); nil, or a nil transport: requests to other agents are plain
	// HTTP. Requests to nodes use its client certificate too, and Door.Peer to verify the node.
	Transport func() *http.Transport
	// Relay sends writes to the leader; nil: each is an HTTP request of Transport.
	Relay *relay.Client
	// Leader returns the address (host:port) of another server that leads; not known while
	// the cluster has no leader, or while this server is about to lead. Nil: this server answers every
	// request itself.
	Leader func() (addr string, known bool)
	// Self returns this agent's id, for messages about forwarded requests; nil: Name.
	Self func() (id string)
	// Advertise is the address at which other members reach this agent; "": it has no others.
	Advertise string

	Metrics *metrics.Registry // nil: of Server alone
	Audit   *auditlog.Log     // stores records of requests; nil: this agent keeps none

	// AuditSinks describes the places to which Audit is copied; nil: none.
	AuditSinks func() []*api.AuditSink
	Log        func() []byte // the end of this agent's log; nil: none

	UI         http.Handler // serves the files of the web UI; nil: it is off
	UIReadOnly bool         // reports whether the web UI hides what changes anything

	Limits map[limit.Class]limit.Rate // of requests, instead of the defaults; see limits.go

	Dialects []Dialect // asked in this order, before the API's own routes
}

// A Dialect is another API for the same objects, on its own paths.
type Dialect struct {
	Claims  func(*url.URL) bool // whether a path is the dialect's
	Handler http.Handler        // nil on an agent without a server, which forwards its requests
	// Needs returns the capability that a request needs in the namespace of its query; "": management. nil:
	// all requests need management.
	Needs func(*http.Request) string
	// Open reports whether everyone may send a request, which must neither change nor show
	// anything: a login; nil: none.
	Open func(*http.Request) bool
}

// Handler serves the API. Make one with New.
type Handler struct {
	Config
	mux         *http.ServeMux
	open        map[string]bool // methods and paths that are answered whoever asks
	pools       *http.ServeMux  // of the routes that ofPools tells
	jobVerbs    [][]string      // what follows /v1/job/{id}/, by segment, the longest first
	nodes       *httputil.ReverseProxy
	toNodes     *toNodes
	forwarder   *httputil.ReverseProxy
	lastGood    lastGood                              // of the servers
	questions   sync.Map                              // address of a server -> *coalesce.Group[bool]: see vigil
	transport   *http.Transport                       // of both proxies, without TLS
	leads       func() bool                           // reports whether this server leads
	readIndex   func(context.Context) (uint64, error) // returns an error unless a majority confirms that this server leads
	catchUp     func(context.Context, uint64) error   // waits until this server has applied the log up to an index
	lastContact func() time.Duration                  // time since this server heard of a leader; 0 if it leads
	refreshes   *coalesce.Group[struct{}]
	refreshed   atomic.Int64  // number of reads for which this server looked for newer writes
	patience    time.Duration // time without a leader that a request waits for
	events      *eventstream.Hub
	openapi     func() []byte // written when first asked for
	writes      writes
	limits      limits
	handshakes  handshakes
	started     time.Time
}

// New returns a handler of every route.
func New(c Config) *Handler {
	if c.Region == "" {
		c.Region = "global"
	}
	if c.Datacenter == "" {
		c.Datacenter = "dc1"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.NodeID == nil {
		c.NodeID = func() string { return "" }
	}
	if c.Servers == nil {
		c.Servers = func() []string { return nil }
	}
	if c.Metrics == nil {
		c.Metrics = metrics.New(metrics.OfServer(c.Server, c.Name, c.Version), metrics.DefaultLimits)
	}
	h := &Handler{Config: c, open: map[string]bool{}, started: time.Now(), patience: leaderPatience}
	h.limits = newLimits(c.Limits)
	h.transport = NewTransport(nil)
	h.leads = func() bool { return h.Server.IsLeader() }
	h.readIndex = func(ctx context.Context) (uint64, error) {
		if plantedUnconfirmedReads {
			return h.Server.Store().LogIndex(), nil
		}
		return h.Server.ReadIndex(ctx)
	}
	h.catchUp = func(ctx context.Context, index uint64) error { return h.Server.CatchUp(ctx, index) }
	h.lastContact = func() time.Duration { return h.Server.LastContact() }
	h.refreshes = coalesce.New(h.refreshAll)
	h.events = eventstream.NewHub(func() *state.Store { return h.Server.Store() }, func(v *state.Snapshot, job api.NamespacedID) []*api.StepState {
		return h.Server.Steps(v, job)
	})
	h.toNodes = newToNodes(h)
	h.nodes = newNodeProxy(h)
	h.forwarder = newForwarder(h)
	table := routes()
	h.openapi = sync.OnceValue(func() []byte { return openAPI(table) })
	h.mux = newMux(h, slices.DeleteFunc(slices.Clone(table), func(r route) bool { return ofPools(r.Pattern) }))
	h.pools = newMux(h, slices.DeleteFunc(slices.Clone(table), func(r route) bool { return !ofPools(r.Pattern) }))
	for _, r := range table {
		if r.Open {
			for _, method := range r.methods() {
				h.open[method+" "+r.Pattern] = true
			}
		}
		if verb, ok := strings.CutPrefix(r.Pattern, "/v1/job/{id}/"); ok {
			h.jobVerbs = append(h.jobVerbs, strings.Split(verb, "/"))
		}
	}
	slices.SortStableFunc(h.jobVerbs, func(a, b []string) int { return len(b) - len(a) })
	return h
}

// Close closes the idle connections to other agents.
func (h *Handler) Close() {
	h.transport.CloseIdleConnections()
	h.toNodes.closeIdle()
	if h.Transport != nil {
		if t := h.Transport(); t != nil {
			t.CloseIdleConnections()
		}
	}
}

// streamsPerConnection is the maximum number of concurrent requests on an HTTP/2
// connection. One goroutine serves each connection on both sides, so a client with
// thousands of streams should open several.
const streamsPerConnection = 512

// NewServer returns an HTTP server for the handler whose timeouts suit an API
// with long streams: headers must arrive soon, and bodies and answers have a timeout per
// request. It supports HTTP/1.1 and, also without TLS, HTTP/2: agents use one connection
// for a stream and reports.
func NewServer(h *Handler, logger *slog.Logger) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{
		Handler:           h,
		Protocols:         &protocols,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: streamsPerConnection},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	if h.Door != nil {
		s.ConnContext = h.Door.Mark
	}
	return s
}

// NewTaskServer returns an HTTP server for the sockets of tasks. A connection carries one request at
// a time, so that the number of connections bounds the requests of a task.
func NewTaskServer(h *Handler, logger *slog.Logger) *http.Server {
	s := NewServer(h, logger)
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	s.Protocols, s.HTTP2 = &protocols, nil
	return s
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.shakesHands(r) {
		h.serveHandshake(w, r)
		return
	}
	if h.Audit == nil {
		h.serve(w, r)
		return
	}
	a := &witness{ResponseWriter: w, h: h, r: r, began: time.Now()}
	defer a.end()
	h.serve(a, r)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) {
	if isWrite(r) {
		if !h.writes.begin() {
			w.Header().Set(notLeaderHeader, h.self())
			writeError(w, r, errEnding())
			return
		}
		defer h.writes.end()
	}
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			id := api.ShortID(api.NewID())
			h.Logger.Error("request panicked", "request", id, "method", r.Method, "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
			h.Metrics.Failure()
			writeError(w, r, internalError(id))
		}
	}()
	h.Metrics.Request(r.Method == http.MethodGet || r.Method == http.MethodHead)
	if h.serveUI(w, r) {
		return
	}
	admitted, err := h.admit(r)
	if err != nil {
		writeError(w, r, err)
		return
	}
	r = admitted
	witnessOf(w).admitted(r)
	for _, d := range h.Dialects {
		if d.Claims(r.URL) {
			h.serveDialect(w, r, d)
			return
		}
	}
	if escaped := h.escapeJobID(r.URL); escaped != nil {
		other := *r
		other.URL = escaped
		r = &other
	}
	if ofPools(r.URL.Path) {
		h.pools.ServeHTTP(w, r)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// ofPools reports whether the path belongs to node pools. Some could also belong to nodes,
// so they are routed separately.
func ofPools(path string) bool {
	return path == "/v1/node/pools" || strings.HasPrefix(path, "/v1/node/pool/")
}

// serveDialect answers a request of a dialect, which nodes have no use for.
func (h *Handler) serveDialect(w http.ResponseWriter, r *http.Request, d Dialect) {
	open := d.isOpen(r)
	c := &call{Handler: h, w: w, r: r, route: &route{Method: r.Method, Pattern: r.URL.Path, Capability: SubmitJob, Open: open, Leads: true}}
	c.route.Audited = isWrite(r)
	c.settleDialect(d)
	witnessOf(w).found(c.route, r)
	if err := c.authorize(); err != nil {
		c.fail(err)
		return
	}
	if !(open && d.Handler != nil) {
		if done, err := c.passOn(); err != nil {
			c.fail(err)
			return
		} else if done {
			return
		}
	}
	d.Handler.ServeHTTP(w, c.r)
}

// cutJobVerb splits the path after /v1/job/: the verb is the longest suffix that a route
// has and that leaves an id. An unknown verb of plans or instances is a verb only if no
// other split matches.
func (h *Handler) cutJobVerb(rest string) (id, verb string) {
	segments := strings.Split(rest, "/")
	for _, strict := range []bool{true, false} {
		for _, pattern := range h.jobVerbs {
			n := len(segments) - len(pattern)
			if n > 0 && isJobVerb(segments[n:], pattern, strict) {
				id = strings.Join(segments[:n], "/")
				return id, rest[len(id):]
			}
		}
	}
	return rest, ""
}

// isJobVerb reports whether the suffix of a path matches that of a route's pattern.
func isJobVerb(segments, pattern []string, strict bool) bool {
	for i, p := range pattern {
		switch {
		case p == "{verb}" && strict:
			known := func(v api.Verb) bool { return string(v) == segments[i] }
			if !slices.ContainsFunc(planVerbs, known) && !slices.ContainsFunc(instanceVerbs, known) {
				return false
			}
		case strings.HasPrefix(p, "{"):
			if segments[i] == "" {
				return false
			}
		case p != segments[i]:
			return false
		}
	}
	return true
}

// escapeJobID escapes the slashes in a job's id, as in
// /v1/job/backup/periodic-17/summary. It returns nil if the path needs no change.
func (h *Handler) escapeJobID(u *url.URL) *url.URL {
	const prefix = "/v1/job/"
	rest, ok := strings.CutPrefix(u.EscapedPath(), prefix)
	if !ok || !strings.Contains(rest, "/") {
		return nil
	}
	id, verb := h.cutJobVerb(rest)
	if !strings.Contains(id, "/") {
		return nil
	}
	raw := prefix + strings.ReplaceAll(id, "/", "%2F") + verb
	path, err := url.PathUnescape(raw)
	if err != nil {
		return nil
	}
	other := *u
	other.Path, other.RawPath = path, raw
	return &other
}
