// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/router/acme"
	"github.com/reeve-run/reeve/internal/router/certs"
	"github.com/reeve-run/reeve/internal/router/variables"
)

// Config configures a router. The zero value of a field means its default.
type Config struct {
	HTTPAddr   string // host:port of HTTP/1.1 and HTTP/2 without TLS
	HTTPSAddr  string // host:port of HTTPS; "" for none
	TCPAddress string // IP address of the listeners of TCP routes
	Source     Source
	Report     Report
	Caller     Caller // nil: callers are known by their addresses alone
	Logger     *slog.Logger

	Engine       string         // EngineFast or EngineStandard
	AccessLog    string         // a file, "-" for standard output; "" writes none
	AccessFormat string         // "json" or "combined"
	AccessSample float64        // fraction of the requests in the log; above 0 to 1
	Zone         string         // of the names of stacks; default "reeve"
	StackClients []netip.Prefix // networks whose clients may use the names of stacks; nil: private networks
	Trusted      []netip.Prefix // proxies in front of this one, whose fields about the origin of a request are trusted

	Certificates  []certs.Source // of HTTPS
	Variables     variables.Open // of the sources that are variables; nil if no source is one
	ACME          *acme.Config   // of certificates from an authority; nil: none
	HTTPSPort     int            // that redirects to HTTPS name; default that of HTTPSAddr
	MaxHandshakes int            // TLS handshakes at a time; default 1024

	MaxHeader       int           // bytes of a head; default 32 KiB
	MaxBody         int64         // bytes of a request's body; default unlimited
	HeaderTimeout   time.Duration // from the first byte of a request's head to its last, and for a TLS handshake; default 10 s
	BodyTimeout     time.Duration // longest pause within a body, in either direction; NoLimit for none, default 60 s
	IdleTimeout     time.Duration // between two requests of a connection; default 75 s
	ResponseTimeout time.Duration // from the end of a request to the head of its response, unless the route sets it; default 60 s
	ConnectTimeout  time.Duration // for a connection to an instance; default 2 s
	DrainTimeout    time.Duration // for requests in flight when the router stops; default 5 s
}

// NoLimit as Config.BodyTimeout lets bodies pause indefinitely.
const NoLimit time.Duration = -1

// A Source passes the catalog's updates to apply in order, until the context
// ends. The first one is Complete. It calls broke when it loses the catalog; the
// next update is Complete again.
type Source func(ctx context.Context, apply func(*api.CatalogUpdate) error, broke func(error)) error

// A Report sends the figures of stacks to the servers, and returns the term of the leader
// that accepted them.
type Report func(context.Context, *api.TrafficReport) (term string, err error)

// A Caller returns the id of the allocation of this machine that holds the remote end of a
// connection; "" if it is not known.
type Caller func(local, remote netip.AddrPort) (allocation string)

// Values of Config.Engine.
const (
	EngineFast     = "fast"     // HTTP/1 by package http1
	EngineStandard = "standard" // HTTP/1 by net/http and httputil.ReverseProxy
)

// Values of Config.AccessFormat.
const (
	AccessJSON     = "json"
	AccessCombined = "combined"
)

func (c Config) withDefaults() Config {
	fallback(&c.HTTPAddr, "127.0.0.1:8080")
	fallback(&c.TCPAddress, "127.0.0.1")
	fallback(&c.Engine, EngineFast)
	fallback(&c.AccessFormat, AccessJSON)
	fallback(&c.AccessSample, 1)
	fallback(&c.Zone, "reeve")
	fallback(&c.MaxHeader, 32<<10)
	fallback(&c.MaxHandshakes, maxHandshakes)
	fallback(&c.HeaderTimeout, 10*time.Second)
	fallback(&c.BodyTimeout, time.Minute)
	fallback(&c.IdleTimeout, 75*time.Second)
	fallback(&c.ResponseTimeout, time.Minute)
	fallback(&c.ConnectTimeout, 2*time.Second)
	fallback(&c.DrainTimeout, 5*time.Second)
	if c.StackClients == nil {
		c.StackClients = privateNetworks
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func fallback[T comparable](dst *T, v T) { *dst = cmp.Or(*dst, v) }

// attempts is the number of instances that the router tries for one request.
const attempts = 3
