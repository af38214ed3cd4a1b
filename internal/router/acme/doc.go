// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package acme obtains the certificates of a router from an authority that speaks ACME (RFC 8555),
// and renews them. github.com/mholt/acmez speaks the protocol; this package decides when to order,
// and which of several routers orders.
//
// One variable per domain is all of the state that routers share. It holds the certificate with
// its key, the challenge of the current order, and the last failure with the time of the next
// attempt. Every router follows the variable by blocking queries, so all of them
//
//   - serve a new certificate within a second,
//   - answer a challenge, whichever router ordered and whichever one the authority asks,
//   - keep the same pause after a failure, because authorities limit failures.
//
// The lock of the variable decides who orders. The servers accept a write to a locked variable
// from the holder of its lock only, so a router that was paused and lost its lock cannot
// overwrite the result of its successor: the variable itself is the fenced resource. A router
// that dies during an order loses the lock after its TTL, and another router orders again.
//
// Handshakes and requests never start an order and never read a variable: the domains come from
// the configuration and, within its patterns, from the routes of jobs. Their number is bounded.
package acme
