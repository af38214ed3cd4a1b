// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package router sends traffic to the routable instances of groups: HTTP/1.1,
// WebSocket, HTTP/2 without TLS and gRPC by host and path, TCP by port. It runs
// on any agent. Its only input is the stream of the catalog, and it stores
// nothing durable.
//
// Its design has four parts.
//
// The table is immutable. One goroutine applies the catalog's updates and
// publishes a new table for each; a request uses one table from its beginning to
// its end. A table shares all unchanged parts with its predecessor, so replacing
// one instance among ten thousand costs some microseconds. State that outlives a
// table (idle connections, requests in flight, failures, counters) belongs to the
// instances, which tables point to.
//
// The engine EngineFast forwards HTTP/1. One goroutine per connection of a client
// reads a head, writes it to an idle connection of an instance, and reads the
// response: four system calls and almost no garbage, while net/http passes each
// request through three goroutines. The price is a parser that must agree with
// all others; package http1 therefore accepts only unambiguous requests, and
// tests compare it with net/http.
//
// The server of net/http and httputil.ReverseProxy forward HTTP/2, whose framing
// is unambiguous and whose streams share connections, and with EngineStandard all
// of HTTP. An exchange is one such request. Both engines share the tables, the
// choice of an instance, the limits and the records.
//
// The router repeats a request only if that does no harm. It sends a request of
// which an instance received no byte to another instance, regardless of the
// method. If an instance received the request and did not respond, it sends an
// idempotent request to another instance if it still has the body. An instance
// that leaves the catalog receives no new requests, and those in flight continue.
package router
