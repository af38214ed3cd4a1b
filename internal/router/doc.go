// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package router sends traffic to the routable instances of groups: HTTP/1.1,
// WebSocket, HTTP/2 without TLS and gRPC by host and path, TCP by port. It runs
// on any agent. All that it knows comes from the catalog's stream; it holds
// nothing that must survive.
//
// Three ideas carry it.
//
// The table is immutable. One goroutine applies the catalog's updates and puts
// a new table in place of the old one; whoever routes a request takes one look
// at one table. A table shares with the one before it whatever did not change,
// so that one instance that comes or goes among ten thousand costs some
// microseconds. What must outlive a table (connections kept open, requests under
// way, failures, counters) belongs to the instance, which tables point to.
//
// HTTP/1.1 is forwarded by a loop of its own, not by net/http. Each connection
// of a client has one goroutine, which reads a head, writes it to a kept
// connection of an instance, and reads the answer: four system calls and next to
// no garbage, where net/http's server and transport hand every request through
// three goroutines. The price is that the parser here is one more that must
// agree with everybody else's; so it takes only what cannot be read in two ways,
// and a fuzz test holds it to what net/http makes of the same bytes. HTTP/2, where
// framing leaves no doubt and streams share connections, is net/http's.
//
// A request is lost only if it may have been carried out. One that no byte of
// was sent goes to another instance, whatever its method; one that an instance
// did not answer goes to another instance if its method is idempotent and its
// body is still at hand. An instance that leaves the catalog gets no new
// requests, and those under way end in their own time.
package router
