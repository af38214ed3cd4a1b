// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package relay carries writes from a server that does not lead to the leader, over one
// connection between the two.
//
// Forwarding a write as an HTTP request of its own costs both servers more than the write
// itself: several frames, TLS records, system calls and goroutines each. Here a write is one
// frame, and so is its answer. All frames that are ready when the connection can take more go
// into one TLS record: the busier the servers are, the more writes share the cost.
//
// A frame is a length of four bytes, a kind, the number of the request, and content:
//
//	request   method, target, host, headers, body
//	answer    status, headers, body
//	cancel    the sender waits no longer
//	aborted   the handler broke off without an answer
//	ping      the receiver answers with a pong immediately
//	goodbye   the receiver sends no further requests on this connection, and closes it after the
//	          last answer
//
// A Client knows for each request whether any of its bytes may have reached the other server. A
// write that may have been received must not be repeated. Without a connection, the client returns
// an error immediately and connects in the background: the caller uses HTTP meanwhile, as with
// servers that do not know this protocol.
//
// The package decides neither which requests may travel this way nor who may send them: a
// server's handler checks each of them like any other request.
package relay
