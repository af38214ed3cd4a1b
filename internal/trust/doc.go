// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package trust keeps the identity of a member of a cluster: its certificate and key, the
// roots that it trusts, and the addresses of the servers that it knows, in the directory
// identity of the data directory. It makes the TLS configurations with which members talk to
// each other, and renews the certificate before it expires.
//
// Every change replaces several files in one atomic step: after a crash at any moment, the
// directory holds the earlier identity or the later one, and never a key that does not fit
// the certificate.
//
// A peer is trusted for the cluster's roots, its role and its cluster, and never for its host
// name. An expired certificate passes the handshake, because a fleet must not fail by expiry:
// Peer reports it, and package door restricts what its owner may do.
package trust
