// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package nodelink connects the agents of nodes to servers. An agent keeps one connection to
// one server, which need not lead: heartbeats and reports travel to the server, allocations and
// acknowledgements to the node.
//
// The naive design sends each heartbeat to the leader as an HTTP request. It costs the leader
// 115 us per heartbeat and tens of kilobytes per connection, and every change of leader is an
// event for every node. Here,
//
//   - a Server keeps the connections of its nodes, and passes their heartbeats on to the leader
//     in one message per second. A node receives the acknowledgement of a heartbeat only after
//     the leader has it, so that the node knows for how long the cluster has not heard of it.
//   - allocations come from the server's own state. Before the first message, the server waits
//     until its state is as new as the leader's: so a node that changes servers never sees an
//     older state than before.
//   - a server that cannot reach a leader closes its connections, and accepts no new ones,
//     before its nodes count as silent. They move to another server.
//   - an idle connection has one goroutine, which waits for bytes, and no buffer. Goroutines
//     that write exist only while something is pending.
//
// A peer speaks only for the node that its certificate names. Everything that it sends is
// hostile: sizes are bounded, memory grows only with received bytes, and a violation of the
// protocol ends the connection.
//
// The package knows connections and messages. It does not know the state: package server
// decides what nodes receive, and when they are lost.
package nodelink
