// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package client talks to a Reeve server or agent over its HTTP API, in the
// words of package api.
//
// A Client hands out one value per noun: Jobs, Allocations, Evaluations,
// Deployments, Plans, Restarts, Instances, Nodes, Events, Status, FS. Every call takes a context first and
// fails with an *api.Error whose code says what kind of failure it was: a
// refused connection is api.CodeUnavailable, an unknown id api.CodeNotFound.
// Streams are iterators: leaving the loop ends the stream.
//
// The package holds no state beyond its connections and prints nothing. It
// repeats reads only for a client WithPatience.
package client

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
)

// DefaultAddress is where an agent listens unless it is told otherwise.
const DefaultAddress = "http://127.0.0.1:4646"

// Config says whom to talk to, and as whom. The zero value is complete.
type Config struct {
	Address    string       // URL, host:port, or unix:///path; default: $REEVE_ADDR, $NOMAD_ADDR, DefaultAddress
	Token      string       // default: $REEVE_TOKEN, $NOMAD_TOKEN
	Namespace  string       // of requests that name none; default: $REEVE_NAMESPACE, $NOMAD_NAMESPACE, the server's
	Region     string       // refused by a server of another region; default: none asked for
	HTTPClient *http.Client // default: one made for many concurrent requests to one host

	// Multiplex has many requests share few connections: HTTP/2, without TLS
	// too. The other side must be a Reeve agent; HTTPClient is not looked at.
	Multiplex bool
}

// A Client talks to one address. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	token     string
	namespace string
	region    string
	http      *http.Client
	agents    *atomic.Bool // the server reads what agents write: see Nodes.Stream
	outage    *outage      // nil: reads do not wait for the server
}

// New returns a client. It does not connect yet; it fails when the address
// cannot be one.
func New(c Config) (*Client, error) {
	address := firstOf(c.Address, os.Getenv("REEVE_ADDR"), os.Getenv("NOMAD_ADDR"), DefaultAddress)
	base, socket, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	cl := &Client{
		base:      base,
		token:     firstOf(c.Token, os.Getenv("REEVE_TOKEN"), os.Getenv("NOMAD_TOKEN")),
		namespace: firstOf(c.Namespace, os.Getenv("REEVE_NAMESPACE"), os.Getenv("NOMAD_NAMESPACE")),
		region:    c.Region,
		http:      c.HTTPClient,
		agents:    new(atomic.Bool),
	}
	if cl.http == nil || c.Multiplex {
		t := newTransport(base, socket)
		if c.Multiplex {
			multiplex(t)
		}
		cl.http = &http.Client{Transport: t}
	}
	return cl, nil
}

// Address is the URL that the client talks to.
func (c *Client) Address() string { return c.base.String() }

// WithNamespace returns a client of the same connections whose requests go to
// another namespace.
func (c *Client) WithNamespace(namespace string) *Client {
	other := *c
	other.namespace = namespace
	return &other
}

// Close closes connections that are idle.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// parseAddress reads the forms that people write. Of a unix socket it returns
// the path, and a URL that only fills the Host header.
func parseAddress(address string) (base *url.URL, socket string, err error) {
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		return &url.URL{Scheme: "http", Host: "localhost"}, path, nil
	}
	full := address
	if !strings.Contains(full, "://") {
		full = "http://" + full
	}
	base, err = url.Parse(full)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, "", api.Errorf(api.CodeInvalid,
			"address %q is not one: write it as http://HOST:PORT, HOST:PORT or unix:///PATH", address)
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	base.RawQuery, base.Fragment = "", ""
	return base, "", nil
}

// newTransport keeps enough connections for a busy agent: the default of two
// idle ones per host closes and dials all the time.
func newTransport(base *url.URL, socket string) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
		WriteBufferSize:       16 << 10,
		ReadBufferSize:        16 << 10,
	}
	if socket != "" {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		}
	}
	if ip := net.ParseIP(base.Hostname()); socket != "" || base.Hostname() == "localhost" || ip.IsLoopback() {
		t.Proxy = nil
		t.DisableCompression = true // copying is cheaper than compressing on one machine
	}
	return t
}

// multiplex has a transport speak HTTP/2 from the first byte.
func multiplex(t *http.Transport) {
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP2(true)
	t.Protocols.SetUnencryptedHTTP2(true)
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second}
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
