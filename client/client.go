// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package client talks to a Reeve server or agent over its HTTP API, with the types of
// package api.
//
// A Client returns one value per noun: Jobs, Allocations, Evaluations, Deployments, Plans,
// Restarts, Instances, Nodes, Events, Status, FS. Every call takes a context first and fails
// with an *api.Error whose code classifies the failure: a refused connection is
// api.CodeUnavailable, an unknown id api.CodeNotFound. Streams are iterators: the end of the
// loop ends the stream.
//
// The package holds no state beyond its connections and prints nothing. It retries reads only
// for a client WithPatience.
package client

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
)

// DefaultAddress is the default address of an agent.
const DefaultAddress = "http://127.0.0.1:4646"

// Config configures a client. The zero value is complete.
type Config struct {
	Address    string       // URL, host:port, or unix:///path; default: $REEVE_ADDR, $NOMAD_ADDR, DefaultAddress
	Token      string       // default: $REEVE_TOKEN, $NOMAD_TOKEN
	Namespace  string       // default namespace of requests; default: $REEVE_NAMESPACE, $NOMAD_NAMESPACE, the server's
	Region     string       // rejected by servers of other regions; default: none
	HTTPClient *http.Client // default: a client for many concurrent requests to one host
	CA         []byte       // PEM of the root certificates that verify https addresses; default: the file $REEVE_CACERT, $NOMAD_CACERT, the system's roots. HTTPClient excludes it
	TLS        *tls.Config  // verifies the servers of https addresses instead of CA. HTTPClient excludes it

	// Dial connects to an address; default: a dialer with a timeout. HTTPClient excludes it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Multiplex sends many requests over few connections: HTTP/2, also without TLS. The other
	// side must be a Reeve agent; HTTPClient is ignored.
	Multiplex bool
}

// A Client talks to one address. It is safe for concurrent use.
type Client struct {
	base      *url.URL
	token     string
	namespace string
	region    string
	http      *http.Client
	agents    *atomic.Bool // the server accepts the agents' encoding: see Nodes.Stream
	outage    *outage      // nil: reads do not wait for the server
}

// New returns a client. It does not connect yet; it fails if the address is invalid.
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
		if t.TLSClientConfig, err = c.tlsConfig(base.Scheme); err != nil {
			return nil, err
		}
		if c.Dial != nil {
			t.DialContext, t.Proxy = c.Dial, nil
		}
		if c.Multiplex {
			multiplex(t)
		}
		cl.http = &http.Client{Transport: t}
	}
	return cl, nil
}

// Address returns the URL of the server or agent.
func (c *Client) Address() string { return c.base.String() }

// Namespace returns the namespace of requests; "": the default one.
func (c *Client) Namespace() string { return c.namespace }

// WithNamespace returns a client with the same connections and another namespace.
func (c *Client) WithNamespace(namespace string) *Client {
	other := *c
	other.namespace = namespace
	return &other
}

// WithToken returns a client with the same connections and another token.
func (c *Client) WithToken(token string) *Client {
	other := *c
	other.token = token
	return &other
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// parseAddress parses an address. For a unix socket it returns the path, and a URL that only
// fills the Host header.
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

// newTransport returns a transport that keeps enough connections for a busy agent: with the
// default of two idle ones per host, it would close and dial continuously.
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

// multiplex makes a transport use HTTP/2 from the first byte.
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
