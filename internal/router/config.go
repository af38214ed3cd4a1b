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
)

// Config is all that a router can be told. The zero value of a field means its
// default.
type Config struct {
	HTTPAddr   string // host:port of HTTP/1.1 and HTTP/2 without TLS
	TCPAddress string // IP address of the listeners of TCP routes
	Source     Source
	Logger     *slog.Logger

	Engine       string         // EngineFast or EngineStandard
	AccessLog    string         // a file, "-" for standard output; "" writes none
	AccessFormat string         // "json" or "combined"
	AccessSample float64        // share of the requests that are logged; above 0 to 1
	Trusted      []netip.Prefix // proxies in front of this one, whose X-Forwarded-For is believed

	MaxHeader       int           // bytes of a head; 32 KiB
	MaxBody         int64         // bytes of a request's body; 0: no bound
	HeaderTimeout   time.Duration // from a head's first byte to its last; 10 s
	BodyTimeout     time.Duration // without any byte of a body, or room for one, either way; NoLimit, or 60 s
	IdleTimeout     time.Duration // between two requests of a connection; 75 s
	ResponseTimeout time.Duration // from a request's end to its answer's head, unless its route says otherwise; 60 s
	ConnectTimeout  time.Duration // to an instance; 2 s
	DrainTimeout    time.Duration // for requests under way when the router stops; 5 s
}

// NoLimit as Config.BodyTimeout lets bodies take for ever.
const NoLimit time.Duration = -1

// A Source hands over the catalog's updates, one after another and the first
// one Complete, until the context ends. It says when they stop coming; the next
// one is Complete again.
type Source func(ctx context.Context, apply func(*api.CatalogUpdate) error, broke func(error)) error

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
	fallback(&c.MaxHeader, 32<<10)
	fallback(&c.HeaderTimeout, 10*time.Second)
	fallback(&c.BodyTimeout, time.Minute)
	fallback(&c.IdleTimeout, 75*time.Second)
	fallback(&c.ResponseTimeout, time.Minute)
	fallback(&c.ConnectTimeout, 2*time.Second)
	fallback(&c.DrainTimeout, 5*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func fallback[T comparable](dst *T, v T) { *dst = cmp.Or(*dst, v) }

// attempts is how many instances a request is offered to.
const attempts = 3
