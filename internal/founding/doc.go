// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package founding lets servers that start together agree on who founds their cluster, so that
// they form exactly one.
//
// The naive rule, "the server with the smallest id begins as soon as it sees N servers", forms
// two clusters when two servers see different sets. Therefore the candidate needs a promise from
// every server of its set:
//
//   - A server has promised to one candidate at a time, and writes the promise to its disk before
//     it answers. It promises only while it belongs to no cluster.
//   - A candidate that has not founded withdraws for one with a smaller id, forever: it promises
//     to that one. Servers that promised to a withdrawn candidate are free again.
//   - A candidate is the smallest id of a set of at least N servers, includes its own promise, and
//     founds the cluster only with the promises of the whole set.
//
// Two sets that share a server cannot both have all promises. Two sets without a common server
// need 2N servers: a server that knows so many refuses to begin. A candidate that crashes asks
// again, and receives the same promises.
//
// The package knows neither certificates nor raft. The caller authenticates servers, and starts
// the replicated log with the servers of the set.
package founding
